import { expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../build-runs.ts'
import { ReconstructedRun } from './run.ts'

it('finds what is missing outside of the tool calls without reading them', () => {
  let reads = 0
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'weather',
    get 'gen_ai.tool.call.result'(): undefined {
      reads += 1
      return undefined
    },
  }
  const [run] = buildRuns([
    sourceSpan({ spanId: '01', attributes: { 'gen_ai.operation.name': 'invoke_agent' } }),
    sourceSpan({ spanId: '02', parentSpanId: '01', attributes: tool }),
  ])
  if (run === undefined) throw new Error('expected a run')
  const found = ['input', 'output', 'availableTools'].map((fact) => ReconstructedRun.missingIn(run, fact))
  expect(reads).toBe(0)
  expect(run.missing).toEqual(expect.arrayContaining(found))
  expect(run.missing.map(({ what }) => ReconstructedRun.missingIn(run, what))).toEqual(run.missing)
  expect(reads).toBeGreaterThan(0)
})
