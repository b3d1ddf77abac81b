import { expect, it } from 'vitest'
import { agent, tool, trace } from '../../../test/fixtures/traceloop-spans.ts'
import { buildRuns } from '../build-runs.ts'

it('takes a linear time for fifty thousand agents and tools', () => {
  const spans = [trace]
  for (let index = 0; index < 25_000; index++) {
    const at = index * 4
    spans.push(agent(`a${index}`, 'a', [at, at + 3]), tool(`t${index}`, `a${index}`, [at + 1, 200_000], 'x'))
  }
  const started = process.cpuUsage()
  buildRuns(spans)
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(10)
})
