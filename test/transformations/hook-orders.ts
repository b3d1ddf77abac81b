import { isDeepStrictEqual } from 'node:util'

import { recognise } from '../../src/spans/recognise.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { anyOrderOf } from '../corpus/hooks-order.ts'
import { isExplained, orderExceptions } from '../corpus/live-exceptions.ts'
import { readScenario } from '../corpus/load.ts'
import { inOrder } from '../corpus/play.ts'
import { replay } from '../corpus/replay.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { createRandom } from '../fuzz/random.ts'
import type { Transformation } from './transformation.ts'

/** A random order of the hooks in which parents start before their children, in a process. */
export const hookOrders: Transformation = {
  name: 'in any order of the hooks in which parents start before their children',
  exceptions: [],
  check(scenario) {
    const { spans, logs } = readScenario(scenario)
    // If parents do not show which spans belong together, the times do, and another order would be another recording.
    if (spans.some(isFlat) || spans.filter(isBesideItsTool).length > 1 || hasCopies(spans)) return undefined
    const file = inOrder(buildRuns(spans, { logs }))
    const lacking = orderExceptions.find((each) => each.library.test(scenario.library))
    const random = createRandom(1)
    const order = anyOrderOf(spans, () => random.next())
    const live = inOrder(replay(spans, logs, order))
    const isRight = lacking === undefined ? isDeepStrictEqual(live, file) : isExplained(lacking, live, file)
    return isRight ? undefined : { live, file }
  },
}

function isFlat(span: SourceSpan): boolean {
  return recognise(span.scope.name, span.attributes, span.name)?.quirks?.isFlat?.(span) === true
}

function isBesideItsTool(span: SourceSpan): boolean {
  const dialect = recognise(span.scope.name, span.attributes, span.name)
  return dialect?.roleOf(span) === 'agent' && dialect.quirks?.startsBesideItsTool?.(span) === true
}

function hasCopies(spans: readonly SourceSpan[]): boolean {
  return new Set(spans.map(({ spanId }) => spanId)).size < spans.length
}
