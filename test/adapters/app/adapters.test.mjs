/* oxlint-disable typescript/no-floating-promises -- the test runner waits for them itself */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createScorer, notScorable } from '@mastra/core/evals'
import * as prebuilt from '@mastra/evals/scorers/prebuilt'
import { ClosedQA, ExactMatch, Levenshtein } from 'autoevals'
import OpenAI from 'openai'
import { createLLMAsJudge, createTrajectoryMatchEvaluator, exactMatch } from 'openevals'
import { ScoreUnavailableError } from 'spanscore'
import { fromAutoevals, fromMastra, fromOpenEvals } from 'spanscore/adapters'
import { createScriptedOpenAIServer } from 'spanscore/testing'

const paris = { input: 'What is the capital of France?', output: 'Paris', groundTruth: 'Paris' }
const withTool = {
  input: 'Is it raining in Oslo?',
  output: [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'weather', args: { city: 'Oslo' } }],
    },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'weather', result: 'rain' }] },
    { role: 'assistant', content: 'Yes.' },
  ],
}

test('autoevals: scorers that compute are code, and get answer and expected answer', async () => {
  const exact = fromAutoevals(ExactMatch)
  assert.deepEqual([exact.id, exact.kind], ['exact_match', 'code'])
  assert.equal((await exact.run(paris)).score, 1)
  assert.equal((await fromAutoevals(Levenshtein).run({ ...paris, groundTruth: 'Pari' })).score, 0.8)
})

test('autoevals: an error of the scorer is no score', async () => {
  const { groundTruth: _, ...unexpected } = paris
  await assert.rejects(fromAutoevals(Levenshtein).run(unexpected), (error) => {
    assert.ok(error instanceof ScoreUnavailableError)
    assert.equal(error.evaluation.score.code, 'scorer-threw')
    return true
  })
})

test('autoevals: a scorer that asks a model is a judge, and its rationale is the explanation', async () => {
  await using server = await createScriptedOpenAIServer([
    { toolCalls: [{ name: 'select_choice', arguments: { choice: 'Y', reasons: 'It names the capital.' } }] },
  ])
  const args = () => ({ criteria: 'Is it right?', openAiBaseUrl: server.url, openAiApiKey: 'x', useCoT: true })
  const right = fromAutoevals(ClosedQA, { id: 'right', model: 'openai/gpt-test', args })
  assert.deepEqual([right.kind, right.judge.model, right.judge.priced], ['judge', 'openai/gpt-test', false])
  const { score, reason } = await right.run(paris)
  assert.deepEqual([score, reason], [1, 'It names the capital.'])
  assert.match(JSON.stringify(server.requests), /Paris/)
})

test('openevals: a comparison is code; true is 1', async () => {
  const exact = fromOpenEvals(exactMatch)
  assert.deepEqual([exact.id, exact.kind], ['exact_match', 'code'])
  assert.equal((await exact.run(paris)).score, 1)
  assert.equal((await exact.run({ ...paris, groundTruth: 'Lyon' })).score, 0)
})

test('openevals: a judge gives score and comment', async () => {
  await using server = await createScriptedOpenAIServer([{ text: '{"reasoning":"It is short.","score":true}' }])
  const judge = new OpenAI({ baseURL: server.url, apiKey: 'x' })
  const concise = fromOpenEvals(createLLMAsJudge({ prompt: 'Is this concise? {outputs}', judge, model: 'gpt-test' }), {
    id: 'concise',
  })
  const { score, reason } = await concise.run(paris)
  assert.deepEqual([concise.kind, score, reason], ['judge', 1, 'It is short.'])
})

test('openevals: trajectory evaluators get messages with tool calls', async () => {
  const evaluator = createTrajectoryMatchEvaluator({ trajectoryMatchMode: 'superset', toolArgsMatchMode: 'exact' })
  const call = { id: '1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
  const expected = () => [{ role: 'assistant', content: '', tool_calls: [call] }]
  const trajectory = fromOpenEvals(evaluator, { id: 'trajectory', form: 'messages', kind: 'code', expected })
  assert.equal((await trajectory.run(withTool)).score, 1)
  const other = () => [
    { role: 'assistant', content: '', tool_calls: [{ ...call, function: { name: 'book', arguments: '{}' } }] },
  ]
  const wrong = fromOpenEvals(evaluator, { id: 'trajectory', form: 'messages', kind: 'code', expected: other })
  assert.equal((await wrong.run(withTool)).score, 0)
})

test('openevals: an evaluator without a name asks for an id', () => {
  assert.throws(() => fromOpenEvals(createTrajectoryMatchEvaluator({})), /fromOpenEvals: expected options\.id/)
})

test('Mastra: a scorer of agents sees messages, tool calls and their results', async () => {
  let seen
  const scorer = createScorer({ id: 'used-tool', description: 'A tool was used.', type: 'agent' })
    .preprocess(({ run }) => {
      seen = run
      return run.output.flatMap((message) => message.content.toolInvocations)
    })
    .generateScore(({ results }) => (results.preprocessStepResult.length > 0 ? 1 : 0))
    .generateReason(({ score }) => `It is ${score}.`)
  const adapted = fromMastra(scorer)
  assert.deepEqual([adapted.id, adapted.kind, adapted.description], ['used_tool', 'code', 'A tool was used.'])
  const { score, reason } = await adapted.run(withTool)
  assert.deepEqual([score, reason], [1, 'It is 1.'])
  assert.equal(seen.input.inputMessages[0].content.parts[0].text, 'Is it raining in Oslo?')
  const [invocation] = seen.output[0].content.toolInvocations
  assert.deepEqual([invocation.toolName, invocation.args, invocation.result], ['weather', { city: 'Oslo' }, 'rain'])
  assert.equal(seen.output[0].content.parts.at(-1).text, 'Yes.')
})

test('Mastra: what is not scorable there is skipped here', async () => {
  const scorer = createScorer({ id: 'never', description: 'x', type: 'agent' })
    .preprocess(() => notScorable('no refund was asked for'))
    .generateScore(() => 1)
  await assert.rejects(fromMastra(scorer).run(paris), (error) => {
    assert.deepEqual(
      [error.evaluation.score.reason, error.evaluation.score.message],
      ['not-applicable', 'never: no refund was asked for.'],
    )
    return true
  })
})

test('Mastra: a scorer with a prompt is a judge, and asks through Mastra', async () => {
  await using server = await createScriptedOpenAIServer([{ text: '{"score":0.5}' }])
  const scorer = createScorer({
    id: 'tone',
    description: 'The tone.',
    type: 'agent',
    judge: { model: { id: 'local/judge', url: server.url, apiKey: 'x' }, instructions: 'You judge.' },
  }).generateScore({
    description: 'Rates the tone.',
    createPrompt: ({ run }) => `Rate from 0 to 1: ${run.output[0].content.content}`,
  })
  const adapted = fromMastra(scorer)
  assert.deepEqual([adapted.kind, adapted.judge.model], ['judge', 'local/judge'])
  assert.equal((await adapted.run(paris)).score, 0.5)
  assert.match(JSON.stringify(server.requests), /Paris/)
})

/** What a run of `withTool` is in Mastra, written by hand as Mastra writes it. */
const inMastra = {
  input: {
    inputMessages: [mastraMessage('user', 'Is it raining in Oslo?')],
    rememberedMessages: [],
    systemMessages: [],
  },
  output: [
    mastraMessage('assistant', 'Yes.', [
      { toolCallId: '1', toolName: 'weather', state: 'result', args: { city: 'Oslo' }, result: 'rain' },
    ]),
  ],
}

function mastraMessage(role, text, toolInvocations = []) {
  const parts = [
    ...toolInvocations.map((toolInvocation) => ({ type: 'tool-invocation', toolInvocation })),
    { type: 'text', text },
  ]
  return { id: role, role, createdAt: new Date(0), content: { format: 2, parts, content: text, toolInvocations } }
}

for (const [name, scorer] of Object.entries({
  createCompletenessScorer: prebuilt.createCompletenessScorer(),
  createContentSimilarityScorer: prebuilt.createContentSimilarityScorer(),
  createKeywordCoverageScorer: prebuilt.createKeywordCoverageScorer(),
  createTextualDifferenceScorer: prebuilt.createTextualDifferenceScorer(),
  createToneScorer: prebuilt.createToneScorer(),
  'createToolCallAccuracyScorerCode, right': prebuilt.createToolCallAccuracyScorerCode({ expectedTool: 'weather' }),
  'createToolCallAccuracyScorerCode, wrong': prebuilt.createToolCallAccuracyScorerCode({ expectedTool: 'search' }),
})) {
  test(`@mastra/evals: ${name} gives the score that it gives in Mastra`, async () => {
    const adapted = fromMastra(scorer)
    assert.equal(adapted.kind, 'code')
    const { score } = await scorer.run(structuredClone(inMastra))
    assert.equal(typeof score, 'number')
    assert.equal((await adapted.run(withTool)).score, score)
  })
}

test('@mastra/evals: judges ask through Mastra, of what the run holds, and code of theirs gives the score', async () => {
  await using server = await createScriptedOpenAIServer(({ userText }) => {
    if (userText.includes('Extract all claims')) return '{"claims":["It rains in Oslo.","It is cold."]}'
    if (userText.includes('"verdicts"'))
      return '{"verdicts":[{"verdict":"yes","reason":"The tool says so."},{"verdict":"no","reason":"Nothing says so."}]}'
    if (userText.includes('tool')) {
      return '{"evaluations":[{"toolCalled":"weather","wasAppropriate":true,"reasoning":"It was asked for."}],"missingTools":[]}'
    }
    return 'Half of it is supported.'
  })
  const model = { id: 'local/judge', url: server.url, apiKey: 'x' }
  const faithful = fromMastra(prebuilt.createFaithfulnessScorer({ model, options: { context: ['It rains.'] } }))
  assert.equal(faithful.kind, 'judge')
  assert.equal((await faithful.run(withTool)).score, 0.5)
  const availableTools = [{ name: 'weather', description: 'The weather in a city.' }]
  const accurate = fromMastra(prebuilt.createToolCallAccuracyScorerLLM({ model, availableTools }))
  assert.equal((await accurate.run(withTool)).score, 1)
  assert.match(JSON.stringify(server.requests), /Is it raining in Oslo\?/)
})

test('@mastra/evals: a reply that does not fit is no score', async () => {
  await using server = await createScriptedOpenAIServer(() => '{}')
  const model = { id: 'local/judge', url: server.url, apiKey: 'x' }
  await assert.rejects(fromMastra(prebuilt.createBiasScorer({ model })).run(withTool), (error) => {
    assert.equal(error.evaluation.score.status, 'failed')
    return true
  })
})
