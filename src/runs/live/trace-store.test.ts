import { expect, test } from 'vitest'

import { orderOf } from '../../../test/corpus/hooks-order.ts'
import { loadLibrary, readScenario } from '../../../test/corpus/load.ts'
import { replay } from '../../../test/corpus/replay.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { buildRuns } from '../build-runs.ts'

test('The order of the starts decides between model calls that start in the same millisecond', () => {
  const [scenario] = loadLibrary('ai-7.0.173-otel').filter(({ id }) => id === '02-auth-fetch.generateText')
  expect.assert(scenario !== undefined)
  const { spans } = readScenario(scenario)
  const startTimeMs = Math.min(...spans.map((span) => span.startTimeMs))
  // All at one moment, and the later, the shorter: neither start nor end gives the order.
  const ids = orderOf(spans, 'all').flatMap(([id, hook]) => (hook === 's' ? [id] : []))
  const tied = spans.map((span) => ({ ...span, startTimeMs, endTimeMs: startTimeMs - ids.indexOf(span.spanId) + 1000 }))
  const live = replay(tied, [], orderOf(spans, 'all'))
  expect(namesOf(live)).toEqual(namesOf(buildRuns(spans)))
  expect(live.map((run) => run.output)).toEqual(buildRuns(spans).map((run) => run.output))
})

function namesOf(runs: readonly AgentRun[]): string[][] {
  return runs.map((run) => run.toolCalls.map((call) => call.name))
}
