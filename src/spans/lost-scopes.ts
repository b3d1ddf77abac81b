import type { Dialect } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import type { SourceSpan } from './source-span.ts'

/** The dialects that can be recognised in files that lost the names of scopes. */
const recognisable = allDialects.filter((dialect) => dialect.withoutScope !== undefined)

/**
 * The dialects of libraries that are recognised by the name of their scope, for spans of one trace that lost it: by the dialect which reads
 * their spans otherwise. A trace that shows several libraries instead of one of these dialects decides nothing.
 */
export function dialectsWithoutScopes(spans: readonly SourceSpan[]): ReadonlyMap<Dialect, Dialect> {
  const found = new Map<Dialect, Dialect | undefined>()
  if (!spans.some(lacksScope)) return NONE
  for (const dialect of recognisable) {
    const { withoutScope } = dialect
    if (withoutScope === undefined || !spans.some((span) => lacksScope(span) && withoutScope.isShownBy(span))) continue
    const { readAs } = withoutScope
    found.set(readAs, found.has(readAs) ? undefined : dialect)
  }
  return new Map([...found].flatMap(([readAs, dialect]) => (dialect === undefined ? [] : [[readAs, dialect] as const])))
}

/** The dialect of a span in such a trace, if `general` recognised it. */
export function dialectWithoutScope(span: SourceSpan, general: Dialect, found: ReadonlyMap<Dialect, Dialect>): Dialect {
  const dialect = lacksScope(span) ? found.get(general) : undefined
  return dialect === undefined || dialect.withoutScope?.covers?.(span) === false ? general : dialect
}

/** Whether the span's file has no name of its scope. */
function lacksScope({ scope }: SourceSpan): boolean {
  return scope.name === ''
}

const NONE: ReadonlyMap<Dialect, Dialect> = new Map()
