import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { afterAll, expect, test } from 'vitest'

import { fromAutoevals } from '../../src/adapters/from-autoevals.ts'
import { fromMastra } from '../../src/adapters/from-mastra.ts'
import { fromOpenEvals } from '../../src/adapters/from-openevals.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import * as scorers from '../../src/entries/scorers.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import { runCommand } from '../fixtures/run-command.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { codeScorer, createPipeline, expectBalanced } from '../processor/harness.ts'
import { at, MARK, markedSpans, playMarkedRun } from './marked-run.ts'

const item = (verdict: string | undefined) => ({
  text: at('item'),
  reasoning: at('reason'),
  ...(verdict !== undefined && { verdict }),
})

/** A judge that writes the mark into every text of its replies. */
function quotingJudge(): TextModel {
  return createTextModel({ provider: 'test', modelId: 'quoting' }, ({ prompt }) => {
    const { questions, lists, notes } = readJudgePrompt(prompt)
    const verdicts = Object.fromEntries(
      questions.map(({ id, verdicts: all }) => [id, { verdict: all.at(-1) ?? '', reasoning: at('reason') }]),
    )
    return {
      text: judgeReply({
        verdicts,
        lists: Object.fromEntries(lists.map((list) => [list.name, [item(list.verdicts.at(-1))]])),
        notes: Object.fromEntries(notes.map((name) => [name, at('note')])),
      }),
    }
  })
}

const refusing = () =>
  createTextModel({ provider: 'test', modelId: 'refusing' }, ({ prompt }) => {
    throw Object.assign(new Error(`${at('provider')}: ${prompt}`), { name: 'AI_APICallError', statusCode: 400 })
  })
const prose = () => createTextModel({ provider: 'test', modelId: 'prose' }, ({ prompt }) => ({ text: `So: ${prompt}` }))

const context = [at('context')]
const judgeMakers: readonly ((model: TextModel, id: string) => Scorer)[] = [
  (model, id) => scorers.createAnswerRelevancyScorer({ model, id: `${id}_relevancy` }),
  (model, id) => scorers.createCompletenessScorer({ model, id: `${id}_completeness` }),
  (model, id) => scorers.createContextualRecallScorer({ model, id: `${id}_recall`, options: { context } }),
  (model, id) => scorers.createFaithfulnessScorer({ model, id: `${id}_faithfulness`, options: { context } }),
  (model, id) => scorers.createHallucinationScorer({ model, id: `${id}_hallucination`, options: { context } }),
  (model, id) => scorers.createPromptAlignmentScorerLLM({ model, id: `${id}_alignment` }),
  (model, id) =>
    scorers.createRubricScorer({ model, id: `${id}_rubric`, criteria: [{ id: 'good', question: 'Is it good?' }] }),
  (model, id) => scorers.createSummarizationScorer({ model, id: `${id}_summary` }),
  (model, id) => scorers.createToolCallAccuracyScorerLLM({ model, id: `${id}_calls` }),
]

const quoting = (run: AgentRun) => `It says ${run.userInput}, ${JSON.stringify(run.toolCalls)}`
const throwing = (run: AgentRun): never => {
  throw new Error(quoting(run))
}

const codeScorers: readonly Scorer[] = [
  scorers.createAnswerPresentScorer({ refusals: [/-answer/] }),
  scorers.createHallucinatedToolScorer({ tools: ['t'] }),
  scorers.createKeywordCoverageScorer({ keywords: ['zz'] }),
  scorers.createLoopScorer({ maxIdentical: 1 }),
  scorers.createOutputFormatScorer({ json: true }),
  scorers.createOutputFormatScorer({ id: 'forbidden', forbidden: /-answer/ }),
  scorers.createRunLimitsScorer({ maxToolCalls: 1 }),
  scorers.createToolArgumentsScorer(),
  scorers.createToolArgumentsScorer({ id: 'by_values', expected: [{ name: 't', arguments: { city: ['Oslo'] } }] }),
  scorers.createToolCallAccuracyScorerCode({ expectedTool: 'x' }),
  scorers.createToolErrorsScorer(),
  scorers.createTrajectoryScorer({ expected: ['x', { name: 't', arguments: { city: 'Oslo' } }] }),
]

/** Scorers and callbacks of the application and of other libraries, which quote everything that they see. */
const quotingScorers: ScoringOptions['scorers'] = [
  fromAutoevals(({ input }) => ({ score: 0.5, metadata: { rationale: String(input) } }), { id: 'autoevals' }),
  fromAutoevals(({ input }) => Promise.reject(new Error(String(input))), { id: 'autoevals_rejects' }),
  fromOpenEvals(({ inputs }) => Promise.resolve({ key: 'k', score: true, comment: String(inputs) }), {
    id: 'openevals',
  }),
  fromMastra({ id: 'mastra', run: (run) => Promise.resolve({ score: 0.5, reason: JSON.stringify(run) }) }),
  codeScorer('explains', { assess: (run) => ({ status: 'scored', value: 1, explanation: quoting(run) }) }),
  codeScorer('throws', { assess: throwing }),
  codeScorer('skips', { assess: (run) => ({ status: 'skipped', reason: 'no-content', message: quoting(run) }) }),
  codeScorer('lacks_a_judge', {
    assess: (run) => ({ status: 'skipped', reason: 'judge-unavailable', message: quoting(run) }),
  }),
  { scorer: codeScorer('when_throws'), when: throwing },
  { scorer: codeScorer('sample_throws'), sample: throwing },
  { scorer: codeScorer('sample_quotes'), sample: (run) => quoting(run) as never },
]

test('with stripContent no signal carries anything that a scorer, judge, adapter or callback quotes', async () => {
  const { tracer, receiver, flush, diagnostics } = await createPipeline({ processors: (batch) => [batch] })
  const seen: string[] = []
  const judges = Object.entries({ quoting: quotingJudge(), refusing: refusing(), prose: prose() }).flatMap(
    ([id, model]) => judgeMakers.map((make) => make(model, id)),
  )
  const scoring = attachScoring({
    scorers: [...codeScorers, ...quotingScorers, ...judges],
    stripContent: true,
    emit: { lateSpans: 'always', explanations: 'all' },
    budget: { callsPerMinute: Infinity, tokensPerHour: Infinity, usdPerDay: Infinity },
    redact: (run) => run,
    onScore: ({ score }, run) => {
      seen.push(JSON.stringify(score))
      throw new Error(quoting(run))
    },
    onJudgeCall: ({ prompt }) => Promise.reject(new Error(prompt.user)),
  })
  playMarkedRun(tracer)
  await scoring.forceFlush()
  await flush()
  // The application itself gets everything: the marks reached every kind of scorer.
  expect(seen.filter((score) => score.includes(MARK)).length).toBeGreaterThan(25)
  const spans = receiver.spans.map((span) => JSON.stringify(span))
  expect(spans.length).toBeGreaterThan(codeScorers.length)
  for (const span of spans) expect(span).not.toContain(MARK)
  expect(receiver.logs.length).toBeGreaterThan(40)
  for (const log of receiver.logs) expect(JSON.stringify(log)).not.toContain(MARK)
  expect(JSON.stringify(receiver.metrics)).not.toContain(MARK)
  for (const line of diagnostics) expect(line).not.toContain(MARK)
  expectBalanced(scoring.ledger())
})

test('an error of redact quotes no content', async () => {
  const { tracer, receiver, flush, diagnostics } = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({
    scorers: [judgeMakers[0]!(quotingJudge(), 'q')],
    stripContent: true,
    redact: throwing,
  })
  playMarkedRun(tracer)
  await scoring.forceFlush()
  await flush()
  expect(scoring.ledger().scorers['q_relevancy']?.reasons).toEqual({ 'redact-failed': 1 })
  expect(JSON.stringify([receiver.spans, receiver.logs, receiver.metrics, diagnostics])).not.toContain(MARK)
})

const directory = mkdtempSync(join(tmpdir(), 'spanscore-stripped-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Writes the run above to a file, with a configuration for the command line. */
function writeFiles(stripContent: boolean): { readonly traces: string; readonly config: string } {
  const traces = join(directory, 'traces.json')
  writeFileSync(traces, JsonTraceSerializer.serializeRequest(markedSpans()) ?? '')
  const root = resolve(import.meta.dirname, '../..')
  const config = join(directory, `config-${stripContent}.ts`)
  writeFileSync(
    config,
    `import * as scorers from '${root}/src/entries/scorers.ts'
    import { createScriptedJudge } from '${root}/src/entries/testing.ts'
    const quoting = (run) => { throw new Error('It says ' + run.userInput) }
    export default {
      stripContent: ${stripContent},
      scorers: [
        scorers.createAnswerPresentScorer({ refusals: [/-answer/] }), scorers.createLoopScorer({ maxIdentical: 1 }),
        scorers.createHallucinatedToolScorer({ tools: ['t'] }), scorers.createOutputFormatScorer({ forbidden: /-answer/ }),
        scorers.createToolArgumentsScorer(), scorers.createToolErrorsScorer(),
        scorers.createTrajectoryScorer({ expected: ['x', { name: 't', arguments: { city: 'Oslo' } }] }),
        scorers.createScorer({ id: 'throws', description: 'Throws.' }).generateScore(({ run }) => { throw new Error(JSON.stringify(run)) }),
        scorers.createScorer({ id: 'quotes', description: 'Quotes.' }).generateScore(() => 0.5).generateReason(({ run }) => JSON.stringify(run)),
        { scorer: scorers.createScorer({ id: 'when', description: 'When.' }).generateScore(() => 1), when: quoting },
        scorers.createAnswerRelevancyScorer({ model: createScriptedJudge({ lists: { statements: [{ text: '${at('item')}', verdict: 'irrelevant', reasoning: '${at('reason')}' }] } }) }),
        scorers.createRubricScorer({ model: createScriptedJudge('I say ${at('prose')}'), criteria: [{ id: 'a', question: 'Is it good?' }] }),
      ],
    }`,
  )
  return { traces, config }
}

async function cli(...argv: string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(argv)
  return [stdout, stderr].join('\n')
}

test.each([true, false])('spanscore score, with stripContent: %s, in all of its reports', async (stripContent) => {
  const { traces, config } = writeFiles(stripContent)
  const [junit, out] = [join(directory, 'junit.xml'), join(directory, 'scores.jsonl')]
  const reports = [
    await cli('score', traces, '--config', config, '--junit', junit, '--out', out),
    await cli('score', traces, '--config', config, '--json'),
    readFileSync(junit, 'utf8'),
    readFileSync(out, 'utf8'),
  ]
  for (const report of reports) {
    expect(report).toContain('hallucinated')
    expect(report.includes(MARK)).toBe(!stripContent)
  }
})
