import { describe, expect, it } from 'vitest'
import { treeSpan } from '../../../test/fixtures/source-span.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { buildRuns } from '../../runs/build-runs.ts'
import type { SourceSpan } from '../source-span.ts'

type Attributes = Readonly<Record<string, unknown>>

/** Shapes of conventions that no library writes yet, and shapes that were reported for spans of applications. */

function said(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
}

function agent(attributes: Attributes = {}, name = 'helper'): SourceSpan {
  return treeSpan('a', undefined, {
    name: `invoke_agent ${name}`,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name, ...attributes },
  })
}

function chat(id: string, attributes: Attributes, parent = 'a'): SourceSpan {
  const own = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.provider.name': 'openai' }
  return treeSpan(id, parent, { name: 'chat m', attributes: { ...own, ...attributes } })
}

function namedTool(id: string, name: string, status: SourceSpan['status']): SourceSpan {
  return treeSpan(id, 'b', { name, status, attributes: { 'gen_ai.operation.name': 'execute_tool' } })
}

/** The messages as a list of JSON texts. */
function listOf(text: string): string[] {
  return (JSON.parse(text) as unknown[]).map((message) => JSON.stringify(message))
}

function only(spans: readonly SourceSpan[]): AgentRun {
  const [run, ...others] = buildRuns(spans)
  expect(others).toEqual([])
  if (run === undefined) throw new Error('no run')
  return run
}

const ANSWERED = { 'gen_ai.input.messages': said('user', 'Hi?'), 'gen_ai.output.messages': said('assistant', 'Hello.') }

describe('conventions of autumn 2026', () => {
  it('reads the turn of a conversation as what encloses an agent', () => {
    const turn = treeSpan('A', undefined, { attributes: { 'gen_ai.operation.name': 'handle_conversation_turn' } })
    const run = only([turn, { ...agent(), parentSpanId: 'A' }, chat('b', ANSWERED)])
    expect([run.agent.name, run.userInput, run.output]).toEqual(['helper', 'Hi?', 'Hello.'])
  })

  it('does not count fetched responses and speech as model calls', () => {
    const other = ['fetch_response', 'speech_to_text', 'text_to_speech'].map((operation, index) =>
      treeSpan(String.fromCharCode(99 + index), 'a', {
        name: operation,
        attributes: {
          'gen_ai.operation.name': operation,
          'gen_ai.request.model': 'm',
          'gen_ai.output.messages': said('assistant', 'x'),
        },
      }),
    )
    const run = only([agent(), chat('b', ANSWERED), ...other])
    expect([run.steps.length, run.output]).toEqual([1, 'Hello.'])
  })

  it("reads the model and the tokens of OpenInference's decisions", () => {
    const decision = treeSpan('b', 'a', {
      attributes: {
        'openinference.span.kind': 'DECISION',
        'decision.system': 'typesafe',
        'decision.model_name': 'jev-1.13.0',
        'decision.token_count.input': 412,
        'decision.token_count.output': 2,
      },
    })
    const answered = { 'openinference.span.kind': 'AGENT', 'input.value': 'Hi?', 'output.value': 'Hello.' }
    const run = only([treeSpan('a', undefined, { attributes: answered }), decision])
    const usage = { inputTokens: 412, outputTokens: 2 }
    expect(run).toMatchObject({
      output: 'Hello.',
      steps: [],
      sideCalls: [{ kind: 'decision', model: 'jev-1.13.0', usage }],
    })
  })

  it('reads messages that were added since the call before', () => {
    const call = { type: 'tool_call', id: 'c', name: 'look', arguments: {} }
    const run = only([
      agent(),
      chat('b', {
        'gen_ai.input.messages_delta': said('user', 'Hi?'),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [call] }]),
      }),
      chat('c', {
        'gen_ai.input.messages_delta': JSON.stringify([
          { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'found' }] },
        ]),
        'gen_ai.output.messages': said('assistant', 'Hello.'),
      }),
    ])
    expect([run.userInput, run.output, run.toolCalls[0]?.result]).toEqual(['Hi?', 'Hello.', 'found'])
  })

  it('says that content is stored elsewhere', () => {
    const run = only([
      agent(),
      chat('b', {
        'gen_ai.input.messages_ref': 's3://bucket/in.json',
        'gen_ai.output.messages_ref': 's3://bucket/out.json',
        'gen_ai.system_instructions_ref': 's3://bucket/system.json',
      }),
    ])
    const why = Object.fromEntries(run.missing.map((each) => [each.what, each]))
    for (const what of ['input', 'output', 'systemInstructions']) {
      expect(why[what]).toEqual({ what, why: 'stored-elsewhere' })
    }
  })

  it('does not take an agent that its user interrupted for one that finished', () => {
    const run = only([agent({ 'gen_ai.agent.invocation.end_reason': 'interrupted' }), chat('b', ANSWERED)])
    expect(run.status).toBe('aborted')
  })

  it('reads generic parts by their own type', () => {
    const parts = [{ type: 'generic', generic_type: 'text', content: 'Hello.' }]
    const output = JSON.stringify([{ role: 'assistant', parts }])
    expect(only([agent(), chat('b', { ...ANSWERED, 'gen_ai.output.messages': output })]).output).toBe('Hello.')
  })

  it("reads OpenInference's names of the models", () => {
    const run = only([
      treeSpan('a', undefined, {
        attributes: { 'openinference.span.kind': 'LLM', 'llm.input_model_name': 'm', 'llm.output_model_name': 'm-1' },
      }),
    ])
    expect(run.models).toEqual(['m-1'])
  })
})

const BOTH = JSON.stringify(['One.', 'Two.'].map((content) => ({ role: 'assistant', content })))

describe('forms that were reported', () => {
  it('takes the first of the choices that a request asked for', () => {
    const run = only([
      agent(),
      chat('b', { ...ANSWERED, 'gen_ai.request.choice.count': 2, 'gen_ai.output.messages': BOTH }),
    ])
    expect(run.output).toBe('One.')
  })

  it.each<[string, Attributes]>([
    ['reasons', { 'gen_ai.response.finish_reasons': ['stop', 'stop'], 'gen_ai.output.messages': BOTH }],
    [
      'indexed attributes',
      {
        'gen_ai.output.messages': undefined,
        'gen_ai.completion.0.content': 'One.',
        'gen_ai.completion.0.finish_reason': 'stop',
        'gen_ai.completion.1.content': 'Two.',
        'gen_ai.completion.1.finish_reason': 'stop',
      },
    ],
  ])('takes the first of several choices by their %s', (_, attributes) => {
    expect(only([agent(), chat('b', { ...ANSWERED, ...attributes })]).output).toBe('One.')
  })

  it('takes the first of several choices that are events', () => {
    const events = ['One.', 'Two.'].map((content, index) => ({
      name: 'gen_ai.choice',
      timeMs: 1,
      attributes: { index, finish_reason: 'stop', message: JSON.stringify({ content }) },
    }))
    const model = chat('b', { 'gen_ai.input.messages': said('user', 'Hi?') })
    expect(only([agent(), { ...model, events }]).output).toBe('One.')
  })

  it("reads Logfire's requests and replies from before it followed the conventions", () => {
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hi?' }] }
    const reply = { message: { role: 'assistant', content: 'Hello.' }, usage: {} }
    const run = only([
      agent(),
      chat('b', { request_data: JSON.stringify(request), response_data: JSON.stringify(reply) }),
    ])
    expect([run.userInput, run.output]).toEqual(['Hi?', 'Hello.'])
  })

  it("reads tools that the provider ran from Logfire's list of events", () => {
    const search = { id: 'ws', type: 'web_search_call', status: 'completed', action: { query: 'x' } }
    const events = JSON.stringify([
      { 'event.name': 'gen_ai.user.message', role: 'user', content: 'Hi?' },
      { 'event.name': 'gen_ai.unknown', role: 'unknown', content: 'web_search_call', data: search },
      { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', content: 'Hello.' } },
    ])
    const run = only([agent(), chat('b', { events })])
    expect(run.output).toBe('Hello.')
    expect(run.toolCalls.map(({ name, providerExecuted }) => [name, providerExecuted])).toEqual([['web_search', true]])
  })

  it.each([
    '...[truncated, original 330 chars]',
    '... [truncated]',
    '…(truncated)',
    '...<truncated 20 characters>',
    '... (12 more)',
    '[TRUNCATED]',
    '...',
  ])('says that JSON is cut off before %s', (note) => {
    const cut = said('user', 'x'.repeat(200)).slice(0, 150) + note
    const run = only([agent(), chat('b', { ...ANSWERED, 'gen_ai.input.messages': cut })])
    expect(run.missing.find(({ what }) => what === 'input')?.why).toBe('truncated')
  })

  it('finds the tool after which a span is named among the calls of the model', () => {
    const calls = ['book', 'search'].map((name) => ({ type: 'tool_call', id: name, name, arguments: {} }))
    const run = only([
      agent(),
      chat('b', {
        ...ANSWERED,
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: calls }]),
      }),
      namedTool('c', 'book', { code: 'error', message: 'No rooms' }),
      namedTool('d', 'tool: search', { code: 'ok' }),
      chat('e', { ...ANSWERED, 'gen_ai.input.messages': said('user', 'Hi?') }),
    ])
    expect(run.toolCalls.map(({ name, status, error }) => [name, status, error?.message])).toEqual([
      ['book', 'error', 'No rooms'],
      ['search', 'ok', undefined],
    ])
  })

  it("reads LiteLLM's calls beside a message without parts, and results that are texts", () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
    const question = { role: 'user', parts: [{ type: 'text', content: 'Oslo?' }] }
    const asked = { role: 'assistant', parts: [], tool_calls: [call] }
    const answer = { role: 'tool', parts: [{ type: 'text', content: 'sunny' }], tool_call_id: 'c1' }
    const run = only([
      agent(),
      chat('b', {
        'gen_ai.input.messages': JSON.stringify([question]),
        'gen_ai.output.messages': '[{"role":"assistant","parts":[],"finish_reason":"tool_calls"}]',
        'gen_ai.completion.0.function_call.name': 'weather',
        'gen_ai.completion.0.function_call.arguments': '{"city":"Oslo"}',
      }),
      chat('c', {
        'gen_ai.input.messages': JSON.stringify([question, asked, answer]),
        'gen_ai.output.messages': said('assistant', 'Sunny.'),
      }),
    ])
    expect(run.toolCalls.map(({ name, arguments: given, result }) => [name, given, result])).toEqual([
      ['weather', { city: 'Oslo' }, 'sunny'],
    ])
  })

  it("reads Mistral's lists of JSON texts", () => {
    const run = only([
      agent(),
      chat('b', {
        'gen_ai.input.messages': listOf(ANSWERED['gen_ai.input.messages']),
        'gen_ai.output.messages': listOf(ANSWERED['gen_ai.output.messages']),
      }),
    ])
    expect([run.userInput, run.output]).toEqual(['Hi?', 'Hello.'])
  })

  it('does not take a call before an approval for an answer, though the agent returned it', () => {
    const scope = { name: 'opentelemetry.instrumentation.genai.langchain' }
    const call = { type: 'tool_call', id: 'c', name: 'City', arguments: { city: 'Oslo' } }
    const asked = JSON.stringify([{ role: 'assistant', parts: [call] }])
    const runOf = (attributes: Attributes): AgentRun =>
      only(
        [
          agent({ 'gen_ai.input.messages': said('user', 'Hi?'), 'gen_ai.output.messages': asked, ...attributes }),
          chat('b', { ...ANSWERED, 'gen_ai.output.messages': asked }),
        ].map((span) => ({ ...span, scope })),
      )
    const structured = runOf({})
    expect([structured.output, structured.toolCalls]).toEqual(['{"city":"Oslo"}', []])
    // With a thread, the graph may wait for a person.
    const unknown = runOf({ 'gen_ai.conversation.id': 't1' })
    expect([unknown.output, unknown.toolCalls.map(({ name }) => name)]).toEqual([undefined, ['City']])
  })
})
