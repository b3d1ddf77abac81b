import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceSpan } from '../source-span.ts'

const own = { 'gen_ai.operation.name': 'framework', 'gen_ai.system': 'spring_ai' }

function span(spanId: string, parentSpanId: string | undefined, startTimeMs: number, attributes: object): SourceSpan {
  const scope = { name: 'org.springframework.boot' }
  return sourceSpan({
    spanId,
    parentSpanId,
    startTimeMs,
    endTimeMs: startTimeMs + 1,
    scope,
    attributes: { ...attributes },
  })
}

function chat(spanId: string, startTimeMs: number, reason: string): SourceSpan {
  return span(spanId, 'b', startTimeMs, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.system': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.id': spanId,
    'gen_ai.response.finish_reasons': [reason],
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
  })
}

it('reads a call of a ChatClient as one run, with the tools that ran below its advisors', () => {
  const runs = buildRuns([
    span('http', undefined, 0, { 'http.request.method': 'POST' }),
    span('a', 'http', 1, {
      ...own,
      'spring.ai.kind': 'chat_client',
      'spring.ai.chat.client.conversation.id': 'c-17',
      'spring.ai.chat.client.tool.names': '["weather"]',
    }),
    span('b', 'a', 2, { ...own, 'spring.ai.kind': 'advisor', 'spring.ai.advisor.name': 'call' }),
    chat('c', 3, 'TOOL_CALLS'),
    span('d', 'b', 5, {
      ...own,
      'spring.ai.kind': 'tool_call',
      'spring.ai.tool.definition.name': 'weather',
      'spring.ai.tool.call.arguments': '{"city":"Oslo"}',
      'spring.ai.tool.call.result': '{"celsius":4}',
    }),
    chat('e', 7, 'STOP'),
  ])
  expect(runs).toHaveLength(1)
  const [run] = runs
  expect(run).toMatchObject({ dialect: 'spring-ai', conversationId: 'c-17', status: 'ok' })
  expect(run).toMatchObject({ usage: { inputTokens: 20, outputTokens: 10 }, availableTools: [{ name: 'weather' }] })
  expect(run?.toolCalls).toHaveLength(1)
  expect(run?.toolCalls[0]).toMatchObject({
    name: 'weather',
    arguments: { city: 'Oslo' },
    result: { celsius: 4 },
    status: 'ok',
    step: 0,
  })
})
