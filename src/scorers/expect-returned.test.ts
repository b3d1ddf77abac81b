import { describe, expect, test } from 'vitest'

import { fromAutoevals } from '../adapters/from-autoevals.ts'
import { fromOpenEvals } from '../adapters/from-openevals.ts'
import { evaluate } from '../scoring/evaluate.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import type { Scorer } from '../scoring/scorer.ts'
import { createScriptedJudge } from '../testing/scripted-judge.ts'
import { createKeywordCoverageScorer } from './code/keyword-coverage.ts'
import { createToolArgumentsScorer } from './code/tool-arguments.ts'
import { createToolCallAccuracyScorerCode } from './code/tool-call-accuracy.ts'
import { createTrajectoryScorer } from './code/trajectory.ts'
import { createContextualRecallScorer } from './judge/items/contextual-recall.ts'
import { createFaithfulnessScorer } from './judge/items/faithfulness.ts'
import { createSummarizationScorer } from './judge/summary/summarization.ts'
import { noteUnhandledRejections } from '../../test/unhandled-rejections.ts'

const { run } = toRunInput({
  input: { inputMessages: [{ role: 'user', content: 'How is the weather in Oslo?' }] },
  output: [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 't', args: { city: 'Oslo' } }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 't', result: 'Rain' }] },
    { role: 'assistant', content: 'It rains.' },
  ],
})

const model = createScriptedJudge({})

/** Scorers with an option that is a function. Code in JavaScript may return anything there. */
const scorers: Readonly<Record<string, (returns: () => never) => Scorer>> = {
  keywords: (keywords) => createKeywordCoverageScorer({ keywords }),
  'expected calls': (expected) => createTrajectoryScorer({ expected }),
  'the arguments of an expected call': (args) => createTrajectoryScorer({ expected: [{ name: 't', arguments: args }] }),
  'an expected tool': (expectedTool) => createToolCallAccuracyScorerCode({ expectedTool }),
  'an expected order': (expectedToolOrder) => createToolCallAccuracyScorerCode({ expectedToolOrder }),
  'expected arguments': (expected) => createToolArgumentsScorer({ expected }),
  'a context': (context) => createFaithfulnessScorer({ model, options: { context } }),
  'a ground truth': (groundTruth) => createContextualRecallScorer({ model, options: { groundTruth } }),
  'a source': (sourceExtractor) => createSummarizationScorer({ model, options: { sourceExtractor } }),
  'arguments of autoevals': (args) => fromAutoevals(() => 1, { id: 'a', args }),
  'arguments of openevals': (args) => fromOpenEvals(() => ({ key: 'k', score: 1 }), { id: 'o', args }),
}

async function rejects(): Promise<never> {
  throw new Error('no')
}

const unhandled = noteUnhandledRejections()

describe.each(Object.entries(scorers))('a function that returns %s', (_, make) => {
  test('and is async does not end the process, and the score says what is wrong', async () => {
    const { score } = await evaluate(make(rejects as unknown as () => never), run)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(unhandled).toEqual([])
    expect(score).toMatchObject({
      status: 'failed',
      code: 'scorer-threw',
      message: expect.stringMatching(/expected .* got a promise/),
    })
  })

  test.each([[5], [[5]], [[null]]])('and returns %j gives no score, and says what is wrong', async (value) => {
    const { score } = await evaluate(
      make(() => value as never),
      run,
    )
    expect(score).toMatchObject({ status: 'failed', code: 'scorer-threw' })
    expect('message' in score && score.message).toMatch(/expected .* got /)
  })
})

test('an expected value for a scorer of another library may be anything but a promise', async () => {
  const { score } = await evaluate(
    fromAutoevals(() => 1, { id: 'a', expected: rejects }),
    run,
  )
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(unhandled).toEqual([])
  expect(score).toMatchObject({ status: 'failed', code: 'scorer-threw' })
})
