import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { isIsolated } from '../../src/scoring/isolation.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { LanguageModelInstance } from '../../src/judge/transport/judge-model.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import { createScoring, runAgent } from '../processor/harness.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'

const criteria = [{ id: 'polite', question: 'Is it polite?' }]
const run = { input: 'Hi', output: 'Hello.' }
const verdicts = { polite: 'pass' }

/** A model of a specification, as its provider writes results: v2 flat, v3 and v4 structured. Warns at every call. */
function modelOf(
  specificationVersion: 'v2' | 'v3' | 'v4',
  seen: (options: SeenOptions) => string,
  more: readonly object[] = [],
): LanguageModelInstance {
  const flat = { inputTokens: 100, outputTokens: 10, totalTokens: 110, cachedInputTokens: 40, reasoningTokens: 4 }
  const structured = {
    inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: undefined },
    outputTokens: { total: 10, text: 6, reasoning: 4 },
  }
  const model = {
    specificationVersion,
    provider: 'example.chat',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: (options: SeenOptions) =>
      Promise.resolve({
        content: [{ type: 'text', text: seen(options) }],
        finishReason: specificationVersion === 'v2' ? 'stop' : { unified: 'stop', raw: 'stop' },
        usage: specificationVersion === 'v2' ? flat : structured,
        warnings: [{ type: 'other', message: 'This model warns.' }, ...more],
      }),
    doStream: () => Promise.reject(new Error('not asked to stream')),
  }
  return model
}

interface SeenOptions {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
  readonly temperature?: number
  readonly reasoning?: string
  readonly responseFormat?: { readonly schema?: object }
}

const warnings: string[] = []
const onWarning = (warning: Error): unknown => warnings.push(warning.message)
beforeEach(() => {
  warnings.length = 0
  process.on('warning', onWarning)
})
afterEach(() => {
  process.off('warning', onWarning)
})

describe('a judge', () => {
  it.each(['v2', 'v3', 'v4'] as const)('asks a model of specification %s, silently and apart', async (version) => {
    let isApart = false
    let schema: object | undefined
    const model = modelOf(version, (options) => {
      isApart = isIsolated()
      schema = options.responseFormat?.schema
      expect(options.temperature).toBe(0)
      expect(options.prompt.map(({ role }) => role)).toEqual(['system', 'user'])
      return judgeReply({ verdicts })
    })
    const { score, evaluation } = await createRubricScorer({ model, criteria }).run(run)
    expect(score).toBe(1)
    expect(evaluation.judge).toEqual({
      model: 'm',
      calls: 1,
      usage: { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40, reasoningTokens: 4 },
    })
    expect(isApart).toBe(true)
    expect(schema).toHaveProperty('properties.answers')
    await setImmediate()
    expect(warnings).toEqual([])
  })

  it('repairs a reply that is not JSON', async () => {
    let calls = 0
    const model = modelOf('v3', () => (calls++ === 0 ? 'Yes, polite.' : judgeReply({ verdicts })))
    // There is one call, and one more for its repair.
    expect((await createRubricScorer({ model, criteria }).run(run)).evaluation.judge?.calls).toBe(2)
  })

  it.each(['chat', 'responses'] as const)('asks through @ai-sdk/openai, %s', async (api) => {
    const server = await createScriptedOpenAIServer(() => judgeReply({ verdicts }))
    const model = createOpenAI({ baseURL: server.url, apiKey: 'x' })[api]('gpt-5-mini')
    const { score, evaluation } = await createRubricScorer({ model, criteria }).run(run)
    await server.close()
    expect([score, evaluation.judge?.model]).toEqual([1, 'gpt-5-mini'])
    expect(JSON.stringify(server.requests[0]?.body)).toContain('json_schema')
    await setImmediate()
    expect(warnings).toEqual([])
  })

  it('asks through a provider that is not sent the schema: the prompt says the shape', async () => {
    const server = await createScriptedOpenAIServer(() => judgeReply({ verdicts }))
    const provider = createOpenAICompatible({ name: 'local', baseURL: server.url })
    const { score } = await createRubricScorer({ model: provider('llama'), criteria }).run(run)
    await server.close()
    expect(score).toBe(1)
    const [request] = server.requests
    expect(request?.body.response_format).toEqual({ type: 'json_object' })
    expect(request?.userText).toContain('{"answers":[{"id":"')
    await setImmediate()
    expect(warnings).toEqual([])
  })
})

describe('judge.effort', () => {
  const judge = { effort: 'low' } as const

  it('is sent as reasoning, only if it is set, and is part of the version', async () => {
    const seen: (string | undefined)[] = []
    const model = modelOf('v4', (options) => {
      seen.push('reasoning' in options ? options.reasoning : 'not sent')
      return judgeReply({ verdicts })
    })
    const scorers = [createRubricScorer({ model, criteria, judge }), createRubricScorer({ model, criteria })]
    for (const scorer of scorers) expect((await scorer.run(run)).evaluation.judge?.isEffortIgnored).toBeUndefined()
    expect(seen).toEqual(['low', 'not sent'])
    expect(scorers[0]?.version).not.toBe(scorers[1]?.version)
  })

  it('reaches the provider of OpenAI', async () => {
    const server = await createScriptedOpenAIServer(() => judgeReply({ verdicts }))
    const model = createOpenAI({ baseURL: server.url, apiKey: 'x' }).chat('gpt-5-mini')
    const { score } = await createRubricScorer({ model, criteria, judge: { effort: 'high' } }).run(run)
    await server.close()
    expect(score).toBe(1)
    expect(server.requests[0]?.body).toMatchObject({ reasoning_effort: 'high' })
  })

  it.each(['v2', 'v3'] as const)('is refused with a model of specification %s', (version) => {
    const model = modelOf(version, () => '')
    expect(() => createRubricScorer({ model, criteria, judge })).toThrow(
      /expected a model of specification v4, as of AI SDK 7, because of judge\.effort, got specification "v[23]"\. Leave judge\.effort out/,
    )
  })

  it('is refused if it is no effort', () => {
    const wrong = { effort: 'much' } as never
    expect(() => createRubricScorer({ model: 'openai/gpt-5-mini', criteria, judge: wrong })).toThrow(
      "expected judge.effort to be 'low', 'medium' or 'high', got \"much\"",
    )
  })

  it('is reported once if the provider warns that it was ignored', async () => {
    const ignored = [{ type: 'unsupported', feature: 'reasoning' }]
    const model = modelOf('v4', () => judgeReply({ verdicts }), ignored)
    const scorer = createRubricScorer({ model, criteria, judge })
    expect((await scorer.run(run)).evaluation.judge?.isEffortIgnored).toBe(true)
    const { tracer, flush, diagnostics } = await createScoring({ scorers: [scorer] })
    for (let count = 0; count < 3; count++) runAgent(tracer)
    await flush()
    await setImmediate()
    expect([...diagnostics, ...warnings].filter((message) => message.includes('judge.effort'))).toEqual([
      expect.stringContaining('rubric: the judge m does not use judge.effort. Leave it out, or use another model.'),
    ])
  })
})
