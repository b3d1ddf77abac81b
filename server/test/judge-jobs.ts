import type { JudgeJob } from '../src/score/judge-job.ts'
import { scoreIds, toSpanSet } from '../src/score/score-ids.ts'

/** A job about a run with one question and one answer. */
export function createJob(index: number, scorer: JudgeJob['scorer']): JudgeJob {
  const traceId = index.toString(16).padStart(32, 'a')
  const spanId = 'b'.repeat(16)
  const question = `Question ${index}`
  return {
    run: {
      id: `${traceId}:${spanId}`,
      traceId,
      spanId,
      dialect: 'gen-ai',
      agent: { name: 'weather-agent' },
      input: [{ role: 'user', text: question, parts: [{ type: 'text', content: question }] }],
      userInput: question,
      output: 'It rains.',
      toolCalls: [],
      steps: [],
      sideCalls: [],
      children: [],
      models: ['gpt'],
      usage: {},
      status: 'ok',
      startTimeMs: 1,
      endTimeMs: 2,
      content: 'full',
      missing: [],
      complete: true,
      revision: 1,
      attributes: {},
      resource: {},
      scope: { name: 'my-agents' },
    },
    scorer,
    rate: 1,
    point: 0,
    upstreamProbability: undefined,
    ids: scoreIds({ traceId, spanId }, scorer, toSpanSet([spanId])),
    revision: 1,
    isCounted: true,
    resource: { 'service.name': 'weather-app' },
    extra: {},
  }
}
