import { expect, test } from 'vitest'

import { evaluate } from '../../scoring/evaluate.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { call, runOf } from '../../../test/fixtures/code-runs.ts'
import { createAnswerPresentScorer } from './answer-present.ts'
import { createHallucinatedToolScorer } from './hallucinated-tool.ts'
import { createKeywordCoverageScorer } from './keyword-coverage.ts'
import { createLoopScorer } from './loop.ts'
import { createOutputFormatScorer } from './output-format.ts'
import { createRunLimitsScorer } from './run-limits.ts'
import { createToolArgumentsScorer } from './tool-arguments.ts'
import { createToolCallAccuracyScorerCode } from './tool-call-accuracy.ts'
import { createToolErrorsScorer } from './tool-errors.ts'
import { createTrajectoryScorer } from './trajectory.ts'

const SECRET = 'SECRET-4711'

/** Whatever a run may quote says the secret: names, keys, values, results, errors, schemas, answers. */
const run = runOf({
  userInput: SECRET,
  output: JSON.stringify({ a: SECRET }),
  error: { type: SECRET, message: SECRET },
  toolCalls: [
    ...Array.from({ length: 6 }, () => call(SECRET, { [SECRET]: SECRET })),
    call('weather', { [SECRET]: 1, city: SECRET, days: SECRET }, { status: 'error', error: { message: SECRET } }),
    call('weather', SECRET, { status: 'not-executed', error: { type: `NoSuchTool ${SECRET}` } }),
  ],
  availableTools: [
    { name: `offered ${SECRET}` },
    {
      name: SECRET,
      parameters: {
        type: 'object',
        properties: { [SECRET]: { type: 'string', pattern: `^(?=${SECRET})`, enum: [`no ${SECRET}`] } },
        required: [`more ${SECRET}`],
      },
    },
  ],
})

const weather = { type: 'object', properties: { city: { enum: ['Oslo'] }, days: { type: 'number' } } }
const scorers: readonly Scorer[] = [
  createAnswerPresentScorer({ refusals: [/^\{/] }),
  createHallucinatedToolScorer({ tools: ['weather'] }),
  createKeywordCoverageScorer({ keywords: ['zz'] }),
  createKeywordCoverageScorer({ keywords: () => [`not said: ${SECRET}`] }),
  createLoopScorer({ maxIdentical: 1 }),
  createOutputFormatScorer({ pattern: /zzz/, forbidden: /a/, maxLength: 3 }),
  createOutputFormatScorer({ schema: { type: 'object', properties: { a: { type: 'number' } } } }),
  createRunLimitsScorer({ maxToolCalls: 1, maxSteps: 0 }),
  createToolArgumentsScorer(),
  createToolArgumentsScorer({ strict: true, tools: [{ name: 'weather', parameters: weather }] }),
  createToolArgumentsScorer({ expected: [{ name: 'weather', arguments: { city: ['Oslo'] } }] }),
  createToolArgumentsScorer({ expected: () => [{ name: SECRET, arguments: { [SECRET]: ['other'] } }] }),
  createToolCallAccuracyScorerCode({ expectedTool: 'x' }),
  createToolCallAccuracyScorerCode({ expectedTool: () => `other ${SECRET}` }),
  createToolCallAccuracyScorerCode({ expectedToolOrder: ['x', 'weather'], strictMode: true }),
  createToolErrorsScorer(),
  createTrajectoryScorer({ expected: ['x', { name: 'weather', arguments: { city: 'Oslo' } }] }),
  createTrajectoryScorer({ expected: () => [`other ${SECRET}`], mode: 'exact' }),
]

test.each(scorers.map((scorer, index) => [`${index} ${scorer.id}`, scorer] as const))(
  '%s says without content what it found, and quotes nothing there',
  async (_name, scorer) => {
    const { score } = await evaluate(scorer, run)
    expect(score).toMatchObject({ status: 'scored', explanationWithoutContent: expect.stringMatching(/\w.*\.$/) })
    const { explanationWithoutContent } = score as { readonly explanationWithoutContent: string }
    expect(explanationWithoutContent).not.toContain(SECRET)
    expect(explanationWithoutContent).toMatch(/[a-z]{3}/)
  },
)

test('messages of skips say without content why there is no score', async () => {
  const waiting = runOf({
    output: undefined,
    steps: [{ toolCallIds: ['1'], usage: {}, finishReasons: [], status: 'ok' }],
    toolCalls: [call(SECRET, {}, { id: '1', status: 'not-executed' })],
  })
  const { score } = await evaluate(createAnswerPresentScorer(), waiting)
  expect(score).toMatchObject({ status: 'skipped', message: expect.stringContaining(SECRET) })
  expect(score).toMatchObject({
    messageWithoutContent: 'answer_present: the run waits for [removed], which was called and not executed here.',
  })
})

test('what the application configured is kept', async () => {
  const { score } = await evaluate(createTrajectoryScorer({ expected: ['book_flight'] }), run)
  expect(score).toMatchObject({ explanationWithoutContent: expect.stringContaining('not made: book_flight') })
})
