import { describe, expect, it } from 'vitest'

import { loadLibrary, readScenario } from '../../../test/corpus/load.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Score } from '../../model/score.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import { createRetrievalRelevanceScorer } from '../judge/retrieval/retrieval-relevance.ts'
import { createCutOffScorer } from './cut-off.ts'
import { createToolPolicyScorer } from './tool-policy.ts'

function recorded(library: string, id: string): AgentRun {
  const scenario = loadLibrary(library).find((each) => each.id === id)
  if (scenario === undefined) throw new Error(`expected a recording ${library} ${id}`)
  const { spans, logs } = readScenario(scenario)
  const [run] = buildRuns(spans, { logs })
  if (run === undefined) throw new Error(`expected a run in ${library} ${id}`)
  return run
}

async function scoreOf(scorer: Scorer, run: AgentRun): Promise<Score> {
  const { score } = await evaluate(scorer, run)
  return score
}

describe('cut_off, on recorded libraries', () => {
  it.each([
    ['ai-7.0.173-cut-off', 'ai-6.0.326', '01-weather.generateText'],
    ['traceloop-langchain-createAgent-cut-off-0.27.0', 'python-otel-genai-langchain-graphs-1.3b0', 'corrective-rag'],
    ['otel-instrumentation-openai-cut-off-0.22.0', 'python-openinference-cohere-0.1.15', '01-single-tool'],
  ])('fails %s, and passes %s', async (cut, library, id) => {
    expect(await scoreOf(createCutOffScorer(), recorded(cut, 'cut-off'))).toMatchObject({
      value: 1,
      label: 'fail',
      findings: [{ verdict: 'length', places: [{ in: 'answer' }] }],
    })
    expect(await scoreOf(createCutOffScorer(), recorded(library, id))).toMatchObject({ value: 0, label: 'pass' })
  })

  it.each([
    'ai-7.0.173-filtered',
    'traceloop-langchain-createAgent-filtered-0.27.0',
    'otel-instrumentation-openai-filtered-0.22.0',
  ])('fails %s, whose answer a filter ended', async (filtered) => {
    expect(await scoreOf(createCutOffScorer(), recorded(filtered, 'cut-off-by-a-filter'))).toMatchObject({
      value: 1,
      label: 'fail',
      findings: [{ verdict: 'filter', places: [{ in: 'answer' }] }],
    })
  })

  it('has no content where a library does not write the reason', async () => {
    expect(
      await scoreOf(createCutOffScorer(), recorded('mastra-core-1.71.0-otel-bridge-cut-off-1.5.4', 'cut-off')),
    ).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
  })
})

const before = (tool: string, other: string) => createToolPolicyScorer({ before: { [tool]: [other] } })

describe('tool_policy, on recorded libraries', () => {
  it.each([
    ['ai-4.3.19', '02-ordered.generateText'],
    ['google-adk-2.0.0', '02-two-ordered-tools'],
    ['python-openinference-cohere-0.1.15', '02-two-ordered-tools'],
  ])('passes the order of calls of %s, and fails its reverse', async (library, id) => {
    const run = recorded(library, id)
    const [first = '', second = ''] = run.toolCalls.map(({ name }) => name)
    expect(await scoreOf(before(second, first), run)).toMatchObject({ value: 1, label: 'pass' })
    expect(await scoreOf(before(first, second), run)).toMatchObject({
      value: 0,
      label: 'fail',
      findings: [{ verdict: 'too_early', text: first, places: [{ in: 'call', index: 0 }] }],
    })
  })
})

/** Scores by rank, with these verdicts on the documents. */
const ranked = (...verdicts: readonly string[]) =>
  createRetrievalRelevanceScorer({
    model: createScriptedJudge({
      verdicts: Object.fromEntries(verdicts.map((verdict, index) => [`d${index + 1}`, verdict])),
    }),
    measure: 'ranked',
  })

describe('retrieval_relevance by rank, on recorded libraries', () => {
  it.each([
    ['python-langfuse-langchain-rag-5.0.4', '01-retriever'],
    ['python-mlflow-langchain-rag-3.17.2', '01-retriever'],
    ['python-openinference-llama-index-rag-4.6.1', '01-query-engine'],
  ])('passes relevant documents of %s that come first, and fails those that come last', async (library, id) => {
    const run = recorded(library, id)
    expect(await scoreOf(ranked('relevant', 'relevant', 'not'), run)).toMatchObject({ value: 1, label: 'pass' })
    expect(await scoreOf(ranked('not', 'partly', 'relevant'), run)).toMatchObject({ value: 0.33, label: 'fail' })
    expect(await scoreOf(ranked('not', 'partly', 'not'), run)).toMatchObject({ value: 0, label: 'fail' })
  })
})
