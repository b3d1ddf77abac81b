import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool, ToolLoopAgent } from 'ai'
import { describe, expect, it } from 'vitest'

import { createScriptedOpenAIServer } from './scripted-openai-server.ts'
import type { Script } from './scripted-reply.ts'

const weather = tool({
  description: 'Get the weather.',
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
  execute: ({ city }) => ({ city, degrees: 20 }),
})

const callThenReport: Script = ({ toolResults: [result] }) =>
  result === undefined ? { toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] } : `Seen: ${result.text}`

async function withServer<T>(
  script: Script,
  use: (url: string, requests: readonly unknown[]) => Promise<T>,
): Promise<T> {
  const server = await createScriptedOpenAIServer(script)
  try {
    return await use(server.url, server.requests)
  } finally {
    await server.close()
  }
}

describe.each(['chat', 'responses'] as const)('the %s API, through @ai-sdk/openai', (api) => {
  const modelAt = (url: string) => createOpenAI({ baseURL: url, apiKey: 'scripted' })[api]('gpt-5-mini')

  it('answers with text, usage, finish reason and model', async () => {
    await withServer(
      [{ text: 'It is sunny.', usage: { inputTokens: 12, outputTokens: 4, cachedInputTokens: 8, reasoningTokens: 1 } }],
      async (url, requests) => {
        const result = await generateText({ model: modelAt(url), system: 'Be brief.', prompt: 'Weather?' })
        expect(result.text).toBe('It is sunny.')
        expect(result.finishReason).toBe('stop')
        expect(result.usage).toMatchObject({ inputTokens: 12, outputTokens: 4 })
        expect(result.usage.inputTokenDetails.cacheReadTokens).toBe(8)
        expect(result.response.modelId).toBe('gpt-5-mini')
        expect(requests).toMatchObject([{ api, system: 'Be brief.', userText: 'Weather?', stream: false }])
      },
    )
  })

  it('drives an agent through a tool call, and the script sees the result', async () => {
    await withServer(callThenReport, async (url, requests) => {
      const agent = new ToolLoopAgent({ model: modelAt(url), tools: { weather } })
      const result = await agent.generate({ prompt: 'Weather in Oslo?' })
      expect(result.text).toBe('Seen: {"city":"Oslo","degrees":20}')
      expect(result.steps[0]?.toolCalls[0]).toMatchObject({ toolName: 'weather', input: { city: 'Oslo' } })
      expect(requests[1]).toMatchObject({ toolNames: ['weather'], toolResults: [{ toolCallId: 'call_0_0' }] })
    })
  })

  it('streams texts and tool calls in several events', async () => {
    const script: Script = [
      { toolCalls: [{ name: 'weather', arguments: { city: 'Paris or Rome' } }] },
      { text: 'One two three four.' },
    ]
    await withServer(script, async (url) => {
      const result = streamText({ model: modelAt(url), tools: { weather }, stopWhen: stepCountIs(3), prompt: 'Go' })
      const deltas: string[] = []
      for await (const delta of result.textStream) deltas.push(delta)
      expect(deltas).toEqual(['One ', 'two ', 'three ', 'four.'])
      expect((await result.steps)[0]?.toolCalls[0]?.input).toEqual({ city: 'Paris or Rome' })
      expect((await result.usage).outputTokens).toBeGreaterThan(0)
    })
  })

  it.each([
    ['length', 'length'],
    ['content_filter', 'content-filter'],
  ] as const)('sends %s if the script does', async (finishReason, seen) => {
    await withServer([{ text: 'Hal', finishReason }], async (url) => {
      expect((await generateText({ model: modelAt(url), prompt: 'x' })).finishReason).toBe(seen)
    })
  })

  it('sends a refusal in the field that OpenAI uses', async () => {
    await withServer([{ refusal: 'I cannot help with that.' }], async (url) => {
      expect((await generateText({ model: modelAt(url), prompt: 'x' })).finishReason).toBe('content-filter')
    })
  })

  it('fails with the status, the headers and the error that the script gives, and is retried as the headers say', async () => {
    const busy = { status: 429, headers: { 'retry-after-ms': '1' }, error: { message: 'Slow down.' } }
    await withServer([busy, 'Now.'], async (url) => {
      expect((await generateText({ model: modelAt(url), prompt: 'x' })).text).toBe('Now.')
    })
    await withServer([{ status: 402, error: { message: 'Pay first.' } }], async (url) => {
      const failure = await generateText({ model: modelAt(url), prompt: 'x' }).catch((error: unknown) => error)
      expect(APICallError.isInstance(failure) && [failure.statusCode, failure.message]).toEqual([402, 'Pay first.'])
    })
  })

  it('cuts a body in the middle, sends raw bodies, and hangs until it is closed', async () => {
    await withServer([{ text: 'Half of this', fault: 'cut' }], async (url) => {
      await expect(generateText({ model: modelAt(url), prompt: 'x', maxRetries: 0 })).rejects.toThrow(/./)
    })
    await withServer([{ rawBody: '<html>' }], async (url) => {
      await expect(generateText({ model: modelAt(url), prompt: 'x', maxRetries: 0 })).rejects.toThrow(/JSON/)
    })
    const hanging = await createScriptedOpenAIServer([{ fault: 'hang' }])
    const call = generateText({ model: modelAt(hanging.url), prompt: 'x', maxRetries: 0 })
    const outcome = call.catch(String)
    await expect.poll(() => hanging.requests.length).toBe(1)
    await hanging.close()
    expect(await outcome).toMatch(/error/i)
  })

  it('reports the end of the script', async () => {
    await withServer([], async (url) => {
      await expect(generateText({ model: modelAt(url), prompt: 'x' })).rejects.toThrow('holds 0 replies')
    })
  })
})
