import { expect, it } from 'vitest'
import { sourceSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceSpan } from '../source-span.ts'

const written = (name: string, id: string) =>
  JSON.stringify([{ function: { name, arguments: '{"city": "Oslo"}' }, id, type: 'function' }])

function span(spanId: string, parentSpanId: string | undefined, startTimeMs: number, attributes: object): SourceSpan {
  const times = { startTimeMs, endTimeMs: startTimeMs + 1 }
  return sourceSpan({ spanId, parentSpanId, ...times, scope: { name: 'ai.koog' }, attributes: { ...attributes } })
}

it('reads calls that are written as texts, and joins them to their spans', () => {
  const request = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.prompt.0.role': 'system',
    'gen_ai.prompt.0.content': 'Be brief.',
    'gen_ai.prompt.1.role': 'user',
    'gen_ai.prompt.1.content': 'Warm?',
  }
  const [run] = buildRuns([
    span('a', undefined, 1, { 'gen_ai.operation.name': 'invoke_agent' }),
    span('b', 'a', 2, {
      ...request,
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': written('weather', 'c1'),
      'gen_ai.completion.1.role': 'assistant',
      'gen_ai.completion.1.content': written('clock', 'c2'),
    }),
    span('c', 'a', 4, { 'gen_ai.tool.name': 'clock', 'gen_ai.tool.call.id': 'c2', 'output.value': 'noon' }),
    span('d', 'a', 4, { 'gen_ai.tool.name': 'weather', 'gen_ai.tool.call.id': 'c1', 'output.value': 'warm' }),
    span('e', 'a', 6, {
      ...request,
      'gen_ai.prompt.2.role': 'tool',
      'gen_ai.prompt.2.content': written('weather', 'c1'),
      'gen_ai.prompt.3.role': 'tool',
      'gen_ai.prompt.3.content': 'warm',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'Yes.',
    }),
  ])
  expect(run).toMatchObject({ userInput: 'Warm?', systemInstructions: 'Be brief.', output: 'Yes.' })
  expect(run?.toolCalls.map(({ name, id, arguments: given, result }) => [name, id, given, result])).toEqual([
    ['weather', 'c1', { city: 'Oslo' }, 'warm'],
    ['clock', 'c2', { city: 'Oslo' }, 'noon'],
  ])
})
