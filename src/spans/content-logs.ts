import { isMovedContent } from './content/moved-content.ts'
import { allDialects } from './dialects/all.ts'
import type { SourceLog } from './source-span.ts'

const scopes: ReadonlySet<string | undefined> = new Set(allDialects.map((dialect) => dialect.quirks?.logScope))

/** Whether a log record of a span may have content that a dialect reads. All others are ignored. */
export function isContentLog(log: SourceLog): boolean {
  return log.eventName?.startsWith('gen_ai.') === true || scopes.has(log.scope.name) || isMovedContent(log)
}
