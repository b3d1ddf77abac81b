import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { score } from '../../../test/fixtures/code-runs.ts'
import { createAnswerPresentScorer } from './answer-present.ts'
import { createHallucinatedToolScorer } from './hallucinated-tool.ts'
import { createKeywordCoverageScorer } from './keyword-coverage.ts'
import { createLoopScorer } from './loop.ts'
import { createOutputFormatScorer } from './output-format.ts'
import { createRunLimitsScorer } from './run-limits.ts'
import { createToolArgumentsScorer } from './tool-arguments.ts'
import { createToolErrorsScorer } from './tool-errors.ts'
import { createTrajectoryScorer } from './trajectory.ts'

describe('every code scorer', () => {
  const scorers = [
    createTrajectoryScorer({ expected: ['a'] }),
    createToolArgumentsScorer(),
    createHallucinatedToolScorer(),
    createToolErrorsScorer(),
    createLoopScorer(),
    createRunLimitsScorer({ maxSteps: 1, maxToolCalls: 2 }),
    createOutputFormatScorer({ json: true }),
    createKeywordCoverageScorer({ keywords: ['a'] }),
    createAnswerPresentScorer(),
  ]

  it('is synchronous, and gives any run a number in its range with an explanation, or a reason why not', () => {
    const anyCall = fc.record({
      name: fc.constantFrom('a', 'b', ''),
      arguments: fc.jsonValue(),
      status: fc.constantFrom('ok' as const, 'error' as const, 'not-executed' as const, 'unknown' as const),
      step: fc.nat(3),
      providerExecuted: fc.boolean(),
    })
    const anyRun = fc.record({
      toolCalls: fc.array(anyCall, { maxLength: 6 }),
      output: fc.string(),
      availableTools: fc.array(fc.record({ name: fc.constantFrom('a', 'c'), parameters: fc.jsonValue() })),
    })
    fc.assert(
      fc.property(fc.constantFrom(...scorers), anyRun, (scorer, more) => {
        const result = score(scorer, more)
        expect(result.status).not.toBe('failed')
        expect(result.status === 'scored' ? result.explanation : result.message).toEqual(expect.stringMatching(/.\.$/))
      }),
      { numRuns: 1000 },
    )
  })

  it('has an id, a description, and a version that depends on its options', () => {
    expect(new Set(scorers.map(({ id }) => id)).size).toBe(scorers.length)
    expect(scorers.every(({ description, inline, kind }) => description.length > 20 && inline && kind === 'code')).toBe(
      true,
    )
    expect(createLoopScorer({ maxIdentical: 3 }).version).not.toBe(createLoopScorer().version)
    expect(createLoopScorer({ id: 'other' }).id).toBe('other')
  })
})
