import { expect, it } from 'vitest'
import { sourceSpan } from '../../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../../runs/build-runs.ts'
import type { SourceSpan } from '../../source-span.ts'

function span(spanId: string, parentSpanId: string | undefined, startTimeMs: number, attributes: object): SourceSpan {
  const scope = { name: 'openinference.instrumentation.beeai', version: '0.1.6' }
  return sourceSpan({ spanId, parentSpanId, startTimeMs, endTimeMs: 20, scope, attributes: { ...attributes } })
}

function event(spanId: string, startTimeMs: number, kind: string, target: string, attributes: object): SourceSpan {
  return span(spanId, 'a', startTimeMs, { 'openinference.span.kind': kind, target, traceId: 't', ...attributes })
}

it('uses only the last event of a call', () => {
  const input = { 'tool.parameters': '{"query":"Oslo"}' }
  const runs = buildRuns([
    span('a', undefined, 1, {
      'openinference.span.kind': 'AGENT',
      traceId: 't',
      'beeai.version': '0.1.33',
      'input.value': 'Who lives in Oslo?',
      'output.value': "{'role': 'assistant', 'text': 'People.'}",
    }),
    event('b', 2, 'AGENT', 'agent.react.start', {}),
    event('c', 3, 'LLM', 'backend.openai.chat.start', { 'llm.model_name': 'gpt-4o' }),
    event('d', 4, 'LLM', 'backend.openai.chat.success', {
      'llm.model_name': 'gpt-4o',
      'llm.token_count.prompt': 7,
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'Thought: I look it up.',
    }),
    event('e', 5, 'TOOL', 'tool.search.wikipedia.start', input),
    event('f', 6, 'TOOL', 'tool.search.wikipedia.success', { ...input, 'output.value': 'A city.' }),
    event('g', 8, 'LLM', 'backend.openai.chat.success', {
      'llm.model_name': 'gpt-4o',
      'llm.token_count.prompt': 9,
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'Thought: I know.\nFinal Answer: People.',
    }),
    event('h', 9, 'AGENT', 'agent.react.success', {}),
  ])
  expect(runs).toHaveLength(1)
  expect(runs[0]).toMatchObject({ userInput: 'Who lives in Oslo?', output: 'People.', usage: { inputTokens: 16 } })
  expect(runs[0]?.children).toEqual([])
  const calls = runs[0]?.toolCalls.map(({ name, arguments: given, result }) => ({ name, given, result }))
  expect(calls).toEqual([{ name: 'wikipedia', given: { query: 'Oslo' }, result: 'A city.' }])
})
