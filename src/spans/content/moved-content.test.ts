import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'
import { withMovedContent } from './moved-content.ts'

function restored(fields: Partial<SourceSpan>, body: unknown): SourceSpan {
  const span = sourceSpan({ scope: { name: 'lib' }, ...fields })
  const log: SourceLog = {
    traceId: span.traceId,
    spanId: span.spanId,
    eventName: 'lib',
    timeMs: 2,
    attributes: {},
    body,
    scope: { name: 'lib' },
  }
  return withMovedContent(span, [log])
}

function namesOf(input: object[], output: object[]): string[] {
  return restored({}, { input: { messages: input }, output: { messages: output } }).events.map(({ name }) => name)
}

it('does not change spans without moved content', () => {
  const span = sourceSpan()
  const log = { traceId: '', spanId: '', eventName: 'lib', timeMs: 1, attributes: {}, scope: { name: 'lib' } }
  expect(
    withMovedContent(span, [
      { ...log, body: 'Invocation completed' },
      { ...log, body: { input: {} } },
    ]),
  ).toBe(span)
})

it.each([
  ['openinference.span.kind', 'input.value', 'output.value'],
  ['traceloop.span.kind', 'traceloop.entity.input', 'traceloop.entity.output'],
  ['other', 'gen_ai.prompt', 'gen_ai.completion'],
])('restores texts to the attributes of a span with %s', (kind, input, output) => {
  const span = restored(
    { attributes: { [kind]: 'x' } },
    {
      input: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
      output: { messages: [{ role: 'assistant', content: 'Hello' }] },
    },
  )
  expect(span.attributes).toEqual({ [kind]: 'x', system_prompt: 'Be brief.', [input]: 'Hi', [output]: 'Hello' })
})

it('restores texts with an index to the places with the remaining roles', () => {
  const attributes = {
    'gen_ai.prompt.0.role': 'system',
    'gen_ai.prompt.1.role': 'user',
    'gen_ai.completion.0.role': 'assistant',
    'gen_ai.completion.0.tool_calls.0.name': 'search',
  }
  const input = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  expect(restored({ attributes }, { input: { messages: input } }).attributes).toEqual({
    ...attributes,
    'gen_ai.prompt.0.content': 'Be brief.',
    'gen_ai.prompt.1.content': 'Hi',
  })
})

it('restores events of objects: answers last, earlier texts of the model in their place', () => {
  const question = { content: { content: '[{"text":"Sum?"}]' }, role: 'user' }
  const earlier = { content: { content: '[{"toolUse":{}}]' }, role: 'assistant' }
  const answer = { content: { message: '[{"text":"3"}]', finish_reason: 'end_turn' }, role: 'assistant' }
  const result = { content: { content: '[{"toolResult":{}}]' }, role: 'tool' }
  expect(namesOf([question, result], [earlier, answer])).toEqual([
    'gen_ai.user.message',
    'gen_ai.assistant.message',
    'gen_ai.tool.message',
    'gen_ai.choice',
  ])
  expect(namesOf([question], [earlier, answer])).toEqual([
    'gen_ai.assistant.message',
    'gen_ai.user.message',
    'gen_ai.choice',
  ])
})
