import type { Dialect } from '../../spans/dialect.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { mayBeRecognised, scopeKindOf } from '../../spans/recognition-hints.ts'
import { recognise } from '../../spans/recognise.ts'

/** The dialect that wrote a span; `ordinary` where it is certain that none ever will have. */
export function recogniseSpan(span: SdkSpanLike): Dialect | 'ordinary' | undefined {
  const scope = (span.instrumentationScope ?? span.instrumentationLibrary)?.name ?? ''
  const kind = scopeKindOf(scope)
  if (kind === 'ordinary') return 'ordinary'
  if (kind === 'unknown' && !mayBeRecognised(span.attributes, span.name)) return undefined
  return recognise(scope, span.attributes, span.name)
}
