import { createOpenAI } from '@ai-sdk/openai'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { JudgeCall } from '../../src/scoring/scorer.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import type { ScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import type { ScriptedReply } from '../../src/testing/scripted-reply.ts'

const criteria = [{ id: 'polite', question: 'Is it polite?' }]
const run = { input: 'Hi', output: 'Hello.' }
const good: ScriptedReply = {
  text: judgeReply({ verdicts: { polite: 'pass' } }),
  usage: { inputTokens: 1000, outputTokens: 100 },
}

let server: ScriptedOpenAIServer | undefined
afterEach(() => server?.close())
// The packages of judges are loaded before anything has to end in time.
beforeAll(async () => {
  const { scorer } = await scorerAt([good])
  await scorer.run(run, { timeoutMs: 60_000 })
  await server?.close()
})

/** A scorer whose judge is a real provider at a scripted server: it plays the steps in order and repeats the last one. */
async function scorerAt(steps: readonly ScriptedReply[], api: 'chat' | 'responses' = 'chat') {
  server = await createScriptedOpenAIServer((request) => {
    return steps[Math.min(request.index, steps.length - 1)] ?? good
  })
  const model = createOpenAI({ baseURL: server.url, apiKey: 'secret' })[api]('gpt-5-mini')
  return { scorer: createRubricScorer({ model, criteria }), server }
}

const quick = { 'retry-after-ms': '1' }

describe.each(['chat', 'responses'] as const)('failures over the wire, %s', (api) => {
  it.each<{ name: string; steps: readonly ScriptedReply[]; score: object; requests: number }>([
    { name: 'a good reply', steps: [good], score: { status: 'scored', value: 1 }, requests: 1 },
    { name: '500 for ever', steps: [{ status: 500, headers: quick }], score: { code: 'judge-http' }, requests: 4 },
    { name: '503 once', steps: [{ status: 503, headers: quick }, good], score: { value: 1 }, requests: 2 },
    { name: '429 once', steps: [{ status: 429, headers: quick }, good], score: { value: 1 }, requests: 2 },
    {
      name: '429 that asks for too long a wait',
      steps: [{ status: 429, headers: { 'retry-after': '3600' } }],
      score: { code: 'judge-quota' },
      requests: 1,
    },
    {
      name: 'an exhausted quota',
      steps: [{ status: 429, error: { message: 'You exceeded it.', code: 'insufficient_quota' } }],
      score: { code: 'judge-quota' },
      requests: 1,
    },
    { name: '402', steps: [{ status: 402 }], score: { code: 'judge-quota' }, requests: 1 },
    { name: '401', steps: [{ status: 401 }], score: { code: 'judge-auth' }, requests: 1 },
    { name: '403', steps: [{ status: 403 }], score: { code: 'judge-auth' }, requests: 1 },
    { name: '404', steps: [{ status: 404 }], score: { code: 'judge-http' }, requests: 1 },
    { name: '400', steps: [{ status: 400 }], score: { code: 'judge-http' }, requests: 1 },
    {
      name: '400 by a content filter',
      steps: [{ status: 400, error: { message: 'Filtered.', code: 'content_filter' } }],
      score: { code: 'judge-refused' },
      requests: 1,
    },
    {
      name: 'a refusal',
      steps: [{ refusal: 'I cannot help with that.' }],
      score: { code: 'judge-refused' },
      requests: 1,
    },
    {
      name: 'a content filter',
      steps: [{ text: 'Hal', finishReason: 'content_filter' }],
      score: { code: 'judge-refused' },
      requests: 1,
    },
    {
      name: 'a reply cut off for want of tokens',
      steps: [{ text: '{"answers":[', finishReason: 'length' }, good],
      score: { value: 1 },
      requests: 2,
    },
    {
      name: 'a body cut in the middle, once',
      steps: [{ text: 'x', fault: 'cut', headers: quick }, good],
      score: { value: 1 },
      requests: 2,
    },
    {
      name: 'a body that is no JSON',
      steps: [{ rawBody: '<html>busy</html>', headers: quick }],
      score: { code: 'judge-http' },
      requests: 4,
    },
    {
      name: 'a reply of the wrong shape',
      steps: [{ text: '{"score":1}' }],
      score: { code: 'judge-invalid-reply' },
      requests: 2,
    },
    { name: 'a hang', steps: [{ fault: 'hang' }], score: { code: 'judge-timeout' }, requests: 1 },
    {
      name: 'an unknown temperature',
      steps: [{ status: 400, error: { message: "Unsupported value: 'temperature'." } }, good],
      score: { value: 1 },
      requests: 2,
    },
    {
      name: 'a complaint that lasts',
      steps: [{ status: 400, error: { message: 'temperature of the room' } }],
      score: { code: 'judge-http' },
      requests: 2,
    },
    {
      name: 'no structured output',
      steps: [{ status: 400, error: { message: "'response_format' json_schema is not supported." } }, good],
      score: { value: 1 },
      requests: 2,
    },
  ])('$name', async ({ steps, score, requests }) => {
    const { scorer, server: at } = await scorerAt(steps, api)
    // Only what takes for ever may end by time: a busy machine is slow to answer.
    const timeoutMs = 'code' in score && score.code === 'judge-timeout' ? 3000 : 60_000
    const evaluation = await scorer.run(run, { timeoutMs }).then(
      (result) => result.evaluation,
      (error: { evaluation: unknown }) => error.evaluation,
    )
    expect(evaluation).toMatchObject({ score, judge: { calls: requests } })
    expect(at.requests).toHaveLength(requests)
    expect(JSON.stringify(evaluation)).not.toContain('secret')
  })
})

describe('a judge that is asked', () => {
  it('sums tokens and cost over all tries, by the list price of the model', async () => {
    const { scorer } = await scorerAt([
      { text: '{"answers"', finishReason: 'length', usage: { inputTokens: 500, outputTokens: 50 } },
      good,
    ])
    const { evaluation } = await scorer.run(run)
    // This is 1,500 input tokens at 0.25 dollars a million, and 150 output tokens at 2.00 dollars a million.
    expect(evaluation.judge).toEqual({
      model: 'gpt-5-mini',
      calls: 2,
      usage: { inputTokens: 1500, outputTokens: 150, cacheReadTokens: 0, reasoningTokens: 0 },
      costUsd: expect.closeTo(0.000675, 10),
    })
  })

  it('passes prompt, reply, usage and error of each call to onJudgeCall, and survives its errors', async () => {
    const { scorer } = await scorerAt([
      { status: 500, headers: quick, error: { message: '\u001b[31mboom\u001b[0m sk-abcdefghijk' } },
      good,
    ])
    const calls: JudgeCall[] = []
    await scorer.run(run, {
      onJudgeCall: (call) => {
        calls.push(call)
        throw new Error('the audit is broken')
      },
    })
    expect(calls).toMatchObject([
      { scorerId: 'rubric', attempt: 1, error: expect.stringContaining('answered 500 (boom sk-…)') },
      { attempt: 2, model: 'gpt-5-mini', usage: { inputTokens: 1000 }, reply: expect.stringContaining('"pass"') },
    ])
    expect(calls[0]?.prompt.user).toContain('Is it polite?')
  })

  it('is not asked again for a while once its key is refused, and the score says when', async () => {
    const { scorer, server: at } = await scorerAt([{ status: 401, error: { message: 'Incorrect API key.' } }, good])
    await expect(scorer.run(run)).rejects.toThrow('Incorrect API key')
    await expect(scorer.run(run)).rejects.toMatchObject({
      evaluation: {
        score: {
          status: 'skipped',
          reason: 'circuit-open',
          message: expect.stringMatching(/answered 401.*Not asked again until 20/),
        },
      },
    })
    expect(at.requests).toHaveLength(1)
  })

  it('names the network error, and where to look', async () => {
    const closed = await createScriptedOpenAIServer([])
    await closed.close()
    const model = createOpenAI({ baseURL: closed.url, apiKey: 'x' }).chat('m')
    const scorer = createRubricScorer({ model, criteria, judge: { maxCallsPerScore: 1 } })
    await expect(scorer.run(run)).rejects.toThrow(/could not be called \(ECONNREFUSED.*Check the network/)
  })

  it('ends immediately, as the score with which it was aborted', async () => {
    const { scorer, server: at } = await scorerAt([{ fault: 'hang' }])
    const stop = new AbortController()
    const outcome = scorer.run(run, { signal: stop.signal }).catch((error: unknown) => error)
    await expect.poll(() => at.requests.length).toBe(1)
    stop.abort({ status: 'skipped', reason: 'shutdown', message: 'The process shuts down.' })
    expect(await outcome).toMatchObject({
      evaluation: { score: { status: 'skipped', reason: 'shutdown' }, judge: { calls: 1 } },
    })
  })
})

describe('causes no warnings and leaves no trace in the host', () => {
  const warnings: string[] = []
  const onWarning = (warning: Error) => warnings.push(warning.message)
  beforeEach(() => {
    warnings.length = 0
    process.on('warning', onWarning)
  })
  afterEach(() => {
    process.off('warning', onWarning)
  })

  it('with a reasoning model that does not accept a temperature', async () => {
    const { scorer } = await scorerAt([good], 'responses')
    expect((await scorer.run(run)).score).toBe(1)
    await setImmediate()
    expect(warnings).toEqual([])
  })
})
