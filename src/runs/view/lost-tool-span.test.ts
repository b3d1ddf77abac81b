import { describe, expect, it } from 'vitest'

import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { reconstructRuns } from '../build-runs.ts'

const AGENT = '0000000000000001'

function span(spanId: string, name: string, attributes: Record<string, unknown>): SourceSpan {
  return sourceSpan({
    spanId,
    ...(spanId !== AGENT && { parentSpanId: AGENT }),
    name,
    scope: { name: 'ai' },
    attributes: { 'operation.name': name, 'ai.operationId': name, ...attributes },
    startTimeMs: Number.parseInt(spanId, 16),
    endTimeMs: spanId === AGENT ? 100 : Number.parseInt(spanId, 16) + 1,
  })
}

/** A run of the AI SDK, which writes a span for every tool that runs; this one has none. */
function runWithout(answer: object | undefined) {
  const call = { toolCallId: 'call_1', toolName: 'weather', input: { city: 'Oslo' } }
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] },
    { role: 'assistant', content: [{ type: 'tool-call', ...call }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'weather', output: answer }] },
  ]
  const spans = [
    span(AGENT, 'ai.generateText', { 'ai.prompt': JSON.stringify({ prompt: 'Weather in Oslo?' }) }),
    span('0000000000000002', 'ai.generateText.doGenerate', {
      'gen_ai.request.model': 'a-model',
      'ai.prompt.messages': JSON.stringify(messages.slice(0, 1)),
      'ai.response.toolCalls': JSON.stringify([{ ...call, input: JSON.stringify(call.input) }]),
      'ai.response.finishReason': 'tool-calls',
    }),
    ...(answer === undefined
      ? []
      : [
          span('0000000000000008', 'ai.generateText.doGenerate', {
            'gen_ai.request.model': 'a-model',
            'ai.prompt.messages': JSON.stringify(messages),
            'ai.response.text': 'Rain.',
            'ai.response.finishReason': 'stop',
          }),
        ]),
  ]
  return reconstructRuns(spans)[0]
}

describe('a call whose tool has no span, of a library that always writes one', () => {
  it('took place if the tool answered the model, and a span is lost', () => {
    const run = runWithout({ type: 'json', value: { celsius: 4 } })
    expect(run?.toolCalls[0]).toMatchObject({ status: 'ok', result: { celsius: 4 } })
    expect(run?.complete).toBe(false)
    expect(run?.missing).toContainEqual({ what: 'spans', why: 'span-lost' })
  })

  it('did not take place if nothing answered the model, or an error did', () => {
    expect(runWithout(undefined)?.toolCalls[0]?.status).toBe('not-executed')
    const refused = runWithout({ type: 'error-text', value: 'Invalid input for tool weather.' })
    expect(refused?.toolCalls[0]?.status).toBe('not-executed')
    expect(refused?.complete).toBe(true)
  })
})
