import type { Dialect } from '../../spans/dialect.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { scopeKindOf } from '../../spans/recognition-hints.ts'
import { recognise } from '../../spans/recognise.ts'

/** The dialect of an SDK's span; `ordinary` if no dialect can ever recognise it. */
export function dialectOfSdkSpan(span: SdkSpanLike): Dialect | 'ordinary' | undefined {
  const scope = (span.instrumentationScope ?? span.instrumentationLibrary)?.name ?? ''
  return scopeKindOf(scope) === 'ordinary' ? 'ordinary' : recognise(scope, span.attributes, span.name)
}
