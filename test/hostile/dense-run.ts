import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'

/** Where the content of a dense run is. */
export type DenseShape =
  | 'results'
  | 'arguments'
  | 'arguments as text'
  | 'calls of one tool'
  | 'messages'
  | 'no agent'
  | 'calls by themselves'

/** The number of calls of a dense run, and the bytes of JSON in each of them: together they hold as many values as are parsed. */
const [CALLS, BYTES] = [48, 130_000]

/** The bytes in the arguments of a call that a model writes, which takes it a token for every few of them. */
const WRITTEN_BYTES = 4000

/** JSON of many small values. */
function denseJson(seed: number, bytes: number): string {
  const items: string[] = []
  for (let length = 0; length < bytes; length += items.at(-1)?.length ?? 0) {
    items.push(JSON.stringify({ index: items.length + seed, list: [1, 2, 3], text: 'x' }))
  }
  return `[${items.join(',')}]`
}

const say = (role: string, content: string): object => ({ role, parts: [{ type: 'text', content }] })
const json = (...messages: readonly object[]): string => JSON.stringify(messages)

/** A run that holds 6 MiB of dense JSON, or 190 KB that a model has written. Everything is made before the first span starts. */
export function denseRun(shape: DenseShape): (tracer: Tracer, timed: (what: string, hook: () => void) => void) => void {
  const bytes = shape === 'arguments' || shape === 'arguments as text' ? WRITTEN_BYTES : BYTES
  const spans = Array.from({ length: CALLS }, (_, index) => attributesOf(shape, index, denseJson(index, bytes))).flat()
  return (tracer, timed) => {
    if (shape === 'calls by themselves') {
      for (const attributes of spans) {
        const span = tracer.startSpan('part', { attributes }, ROOT_CONTEXT)
        timed('the end of a part', () => span.end())
      }
      return
    }
    const top =
      shape === 'no agent'
        ? tracer.startSpan('POST /chat', {}, ROOT_CONTEXT)
        : tracer.startSpan('invoke_agent a', { attributes: agent }, ROOT_CONTEXT)
    for (const attributes of spans) {
      const span: Span = tracer.startSpan('part', { attributes }, trace.setSpan(ROOT_CONTEXT, top))
      timed('the end of a part', () => span.end())
    }
    timed('the end of the agent', () => top.end())
  }
}

const agent: Attributes = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'a',
  'gen_ai.input.messages': json(say('user', 'What is it?')),
  'gen_ai.output.messages': json(say('assistant', 'It is what it is.')),
}

function attributesOf(shape: DenseShape, index: number, dense: string): Attributes[] {
  const id = `call-${index}`
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': `t${index % 4}`,
    'gen_ai.tool.call.id': id,
  }
  const input = json(say('user', 'What is it?'))
  const asking = (call: object): Attributes => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.input.messages': input,
    'gen_ai.output.messages': json({ role: 'assistant', parts: [{ type: 'tool_call', ...call }] }),
  })
  const answered = (answer: unknown, call: object): Attributes => ({
    ...asking(call),
    'gen_ai.input.messages': json(
      say('user', 'What is it?'),
      { role: 'assistant', parts: [{ type: 'tool_call', id, name: 't', arguments: {} }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id, response: answer }] },
    ),
  })
  switch (shape) {
    case 'results':
      return [{ ...tool, 'gen_ai.tool.call.result': dense }]
    case 'arguments':
      return [asking({ id, name: tool['gen_ai.tool.name'], arguments: JSON.parse(dense) }), tool]
    case 'arguments as text':
      return [asking({ id, name: tool['gen_ai.tool.name'], arguments: dense }), tool]
    case 'calls of one tool':
      return [
        asking({ name: 't', arguments: JSON.parse(dense) }),
        { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't', 'gen_ai.tool.call.arguments': dense },
      ]
    default:
      return [answered(JSON.parse(dense), { id: `call-${index + 1}`, name: 't', arguments: {} })]
  }
}

/** Values whose JSON takes long to read for its size. */
export const oddValues: Readonly<Record<'quotes' | 'keys' | 'numbers', () => unknown>> = {
  quotes: () => ({ text: '"'.repeat(1_500_000) }),
  keys: () => Object.fromEntries(Array.from({ length: 45_000 }, (_, index) => [`key ${index} `.repeat(6), index])),
  // Its JSON is just below the size of runs that are scored while their agent's span ends.
  numbers: () => ({ list: Array.from({ length: 44_000 }, (_, index) => index) }),
}

/** A run of one call with this value: the arguments of its tool, as text, or in the message that asks for it. */
export function oddRun(value: unknown, place: 'arguments' | 'message'): ReturnType<typeof denseRun> {
  const call = { type: 'tool_call', id: '1', name: 't', arguments: place === 'message' ? value : {} }
  const asking: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.input.messages': json(say('user', 'What is it?')),
    'gen_ai.output.messages': json({ role: 'assistant', parts: [call] }),
  }
  const tool: Attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 't',
    'gen_ai.tool.call.id': '1',
    ...(place === 'arguments' && { 'gen_ai.tool.call.arguments': JSON.stringify(value) }),
  }
  return (tracer, timed) => {
    const top = tracer.startSpan('invoke_agent a', { attributes: agent }, ROOT_CONTEXT)
    for (const attributes of [asking, tool]) {
      const span = tracer.startSpan('part', { attributes }, trace.setSpan(ROOT_CONTEXT, top))
      timed('the end of a part', () => span.end())
    }
    timed('the end of the agent', () => top.end())
  }
}

/** The JSON of everything that a dense run holds, with which its turns are compared. */
function denseText(): string {
  return `[${Array.from({ length: CALLS }, (_, index) => denseJson(index, BYTES)).join(',')}]`
}

/** The processor time that it takes to read and copy the content of a run in one turn. */
export function readingMs(): number {
  const text = denseText()
  const before = process.threadCpuUsage()
  structuredClone(JSON.parse(text))
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
