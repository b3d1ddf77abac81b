import { isMovedContent } from './content/moved-content.ts'
import { allDialects } from './dialects/all.ts'
import type { SourceLog } from './source-span.ts'

const scopes: ReadonlySet<string | undefined> = new Set(allDialects.map((dialect) => dialect.quirks?.logScope))

/** Whether a log record of a span may have content that a dialect reads. Evaluations have none. */
export function isContentLog(log: SourceLog): boolean {
  const { eventName = '', scope } = log
  if (eventName.startsWith('gen_ai.')) return !eventName.startsWith('gen_ai.evaluation.')
  return scopes.has(scope.name) || isMovedContent(log)
}
