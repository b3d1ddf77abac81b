import { describe, expect, it } from 'vitest'

import { treeSpan } from '../../../test/fixtures/source-span.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { reconstructRuns } from '../build-runs.ts'

const question = { role: 'user', parts: [{ type: 'text', content: 'Weather in Oslo?' }] }
const call = { type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }
const answer = { type: 'tool_call_response', id: 'call_1', response: { celsius: 4 } }

function asked(parts: readonly object[]): object {
  return { role: 'assistant', parts }
}

function model(spanId: string, input: readonly object[], output: object): SourceSpan {
  return treeSpan(spanId, undefined, {
    name: 'chat a-model',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'a-model',
      'gen_ai.input.messages': JSON.stringify(input),
      'gen_ai.output.messages': JSON.stringify([output]),
    },
  })
}

function tool(spanId: string, name: string): SourceSpan {
  return treeSpan(spanId, 'a', { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name } })
}

const text = asked([{ type: 'text', content: 'It is 4 degrees.' }])
const first = model('a', [question], asked([call]))
const last = model('c', [question, asked([call]), { role: 'tool', parts: [answer] }], text)
const LOST = { what: 'toolCalls', why: 'span-lost' }

describe('a run whose last request repeats calls that no span shows', () => {
  it('lacks calls if the span of the model call is lost, or is in the trace of a request that this one resumes', () => {
    expect(reconstructRuns([last])[0]?.missing).toContainEqual(LOST)
    expect(reconstructRuns([first, last])[0]?.missing).not.toContainEqual(LOST)
  })

  it('lacks none if they were made before the question, or hand over to another agent', () => {
    const further = { role: 'user', parts: [{ type: 'text', content: 'And tomorrow?' }] }
    const history = model('e', [question, asked([call]), { role: 'tool', parts: [answer] }, text, further], text)
    expect(reconstructRuns([history])[0]?.missing).not.toContainEqual(LOST)
    const back = { ...call, name: 'transfer_back_to_supervisor' }
    const handed = model('g', [question, asked([back]), { role: 'tool', parts: [answer] }], text)
    expect(reconstructRuns([handed])[0]?.missing).not.toContainEqual(LOST)
  })
})

it('counts a tool that ran before the first recorded model call before the calls of that one', () => {
  const agent = treeSpan('a', undefined, { attributes: { 'gen_ai.operation.name': 'invoke_agent' }, endTimeMs: 200 })
  const second = { ...model('d', [question], asked([{ ...call, id: 'call_2', name: 'fetch' }])), parentSpanId: 'a' }
  const [run] = reconstructRuns([agent, tool('b', 'login'), second, tool('e', 'fetch')])
  expect(run?.toolCalls.map(({ name, step }) => [name, step])).toEqual([
    ['login', 0],
    ['fetch', 0],
  ])
})

function agentAsked(input: readonly object[] | undefined): SourceSpan {
  return treeSpan('a', undefined, {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      ...(input && { 'gen_ai.input.messages': JSON.stringify(input) }),
    },
    endTimeMs: 200,
  })
}

describe('a tool that ran before the first recorded model call, whose request repeats the call', () => {
  const ran = { ...tool('b', 'weather'), endTimeMs: 20 }
  const below = { ...last, parentSpanId: 'a' }
  it('shows that a model call was lost: the run is incomplete, and its calls are not all known', () => {
    const [run] = reconstructRuns([agentAsked([question]), ran, below])
    expect(run).toMatchObject({ complete: false, toolCalls: [{ name: 'weather', step: 0 }] })
    expect(run?.missing).toContainEqual(LOST)
  })

  it('shows nothing if the agent resumed a run with that call, or may have, because its own input is not recorded', () => {
    for (const input of [[question, asked([call])], undefined]) {
      const [run] = reconstructRuns([agentAsked(input), ran, below])
      expect(run?.complete).toBe(true)
    }
  })
})
