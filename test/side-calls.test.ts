import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../src/model/agent-run.ts'
import { buildRuns } from '../src/runs/build-runs.ts'
import type { SourceSpan } from '../src/spans/source-span.ts'
import { anyOrderOf } from './corpus/hooks-order.ts'
import { replay } from './corpus/replay.ts'
import { sourceSpan } from './fixtures/source-span.ts'

/** A span and the spans below it, in order of time. */
interface Node {
  readonly fields: Partial<SourceSpan>
  readonly below: readonly Node[]
}

function node(fields: Partial<SourceSpan>, ...below: readonly Node[]): Node {
  return { fields, below }
}

/** One text is a user's message; a list is a whole request, whose items are texts, `system: …`, `said: …`, calls and results. */
type Request = string | readonly string[]

function toMessage(text: string): object {
  const [role = '', ...rest] = text.split(': ')
  const content = rest.join(': ')
  if (role === 'system') return { role, parts: [{ type: 'text', content }] }
  if (role === 'said') return { role: 'assistant', parts: [{ type: 'text', content }] }
  if (role === 'calls')
    return {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: content, name: 'weather', arguments: { city: 'Oslo' } }],
    }
  if (role === 'got') return { role: 'tool', parts: [{ type: 'tool_call_response', id: content, response: '-4' }] }
  return { role: 'user', parts: [{ type: 'text', content: text }] }
}

function messages(request: Request): string {
  return JSON.stringify((typeof request === 'string' ? [request] : request).map(toMessage))
}

const TOOLS = JSON.stringify([{ type: 'function', name: 'weather', description: 'The weather in a city' }])

function agent(
  own: { readonly in?: string; readonly out?: string; readonly name?: string },
  ...below: readonly Node[]
): Node {
  return node(
    {
      name: `invoke_agent ${own.name ?? 'w'}`,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': own.name ?? 'w',
        ...(own.in !== undefined && { 'gen_ai.input.messages': messages(own.in) }),
        ...(own.out !== undefined && { 'gen_ai.output.messages': messages(`said: ${own.out}`) }),
      },
    },
    ...below,
  )
}

function model(request: Request, answer: string, offered: 'with tools' | 'without tools' = 'without tools'): Node {
  return node({
    name: 'chat m',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.input.messages': messages(request),
      'gen_ai.output.messages': messages(answer.startsWith('calls: ') ? answer : `said: ${answer}`),
      ...(offered === 'with tools' && { 'gen_ai.tool.definitions': TOOLS }),
    },
  })
}

function tool(id: string, ...below: readonly Node[]): Node {
  return node(
    {
      name: 'execute_tool weather',
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'weather', 'gen_ai.tool.call.id': id },
    },
    ...below,
  )
}

function operation(name: string, ...below: readonly Node[]): Node {
  return node({ name, attributes: { 'gen_ai.operation.name': name } }, ...below)
}

/** An agent in a run that a program started anew, as Google's ADK writes it. */
function runner(name: string, ...below: readonly Node[]): Node {
  const attributes = { 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': name }
  return ofAdk(node({ name: `invoke_workflow ${name}`, attributes }, agent({ name }, ...below)))
}

function ofAdk({ fields, below }: Node): Node {
  return { fields: { ...fields, scope: { name: 'gcp.vertex.agent' } }, below }
}

const ask = model('Q', 'calls: c1', 'with tools')
const answer = model(['Q', 'calls: c1', 'got: c1'], 'Cold.', 'with tools')
const loop: readonly Node[] = [ask, tool('c1'), answer]

const OPENINFERENCE = { name: 'openinference.instrumentation.something' }

function kind(
  name: string,
  type: string,
  own: { readonly in?: Request; readonly out?: string },
  ...below: readonly Node[]
): Node {
  const isModel = type === 'LLM'
  return node(
    {
      name,
      scope: OPENINFERENCE,
      attributes: {
        'openinference.span.kind': type,
        ...(own.in !== undefined &&
          (isModel
            ? Object.fromEntries(
                [own.in].flat().flatMap((text, index) => [
                  [`llm.input_messages.${index}.message.role`, 'user'],
                  [`llm.input_messages.${index}.message.content`, text],
                ]),
              )
            : { 'input.value': String(own.in), 'input.mime_type': 'text/plain' })),
        ...(own.out !== undefined &&
          (isModel
            ? { 'llm.output_messages.0.message.role': 'assistant', 'llm.output_messages.0.message.content': own.out }
            : { 'output.value': own.out, 'output.mime_type': 'text/plain' })),
      },
    },
    ...below,
  )
}

function llm(request: Request, answered: string): Node {
  return kind('ChatOpenAI', 'LLM', { in: request, out: answered })
}

/** A graph of LangChain, through OpenInference. */
function graph(own: { readonly in: string; readonly out: string }, ...below: readonly Node[]): Node {
  const metadata = JSON.stringify({ ls_integration: 'langchain_create_agent', lc_agent_name: 'weather' })
  return inLangChain({
    ...kind('weather', 'CHAIN', own, ...below),
    fields: {
      ...kind('weather', 'CHAIN', own).fields,
      attributes: { ...kind('weather', 'CHAIN', own).fields.attributes, metadata },
    },
  })
}

function graphNode(name: string, ...below: readonly Node[]): Node {
  const { fields } = kind(name, name.includes('agent') ? 'AGENT' : 'CHAIN', {})
  const metadata = JSON.stringify({ lc_agent_name: 'weather', langgraph_node: name })
  return { fields: { ...fields, attributes: { ...fields.attributes, metadata } }, below }
}

function inLangChain({ fields, below }: Node): Node {
  return {
    fields: { ...fields, scope: { name: 'openinference.instrumentation.langchain' } },
    below: below.map(inLangChain),
  }
}

/** The spans of a tree: each starts after what comes before it, and ends after what is below it. */
function spansOf(tree: Node): readonly SourceSpan[] {
  const spans: SourceSpan[] = []
  let now = 1000
  const add = ({ fields, below }: Node, parentSpanId: string | undefined): void => {
    const spanId = (spans.length + 1).toString(16).padStart(16, '0')
    const at = spans.length
    const startTimeMs = now++
    spans.push(sourceSpan())
    for (const child of below) add(child, spanId)
    spans[at] = sourceSpan({ spanId, parentSpanId, startTimeMs, endTimeMs: now++, ...fields })
  }
  add(tree, undefined)
  return spans
}

interface Expected {
  readonly steps: number
  readonly side: readonly AgentRun['sideCalls'][number]['kind'][]
  readonly output: string | undefined
  readonly userInput: string | undefined
  readonly undecided?: readonly string[]
  readonly children?: readonly string[]
}

function outline(runs: readonly AgentRun[]): Expected & { readonly runs: number } {
  const [run] = runs
  const undecided = (run?.missing ?? []).flatMap(({ what, why }) => (why === 'undecided' ? [what] : []))
  const children = (run?.children ?? []).map((child) => child.agent.name ?? '')
  return {
    runs: runs.length,
    steps: run?.steps.length ?? 0,
    side: (run?.sideCalls ?? []).map((call) => call.kind),
    output: run?.output,
    userInput: run?.userInput,
    ...(undecided.length > 0 && { undecided }),
    ...(children.length > 0 && { children }),
  }
}

const UNDECIDED = { output: undefined, userInput: undefined, undecided: ['input', 'output', 'systemInstructions'] }
const COLD = { output: 'Cold.', userInput: 'Q' }

const ROWS: readonly (readonly [title: string, tree: Node, expected: Expected])[] = [
  [
    'a guardrail with a model call after the answer',
    agent({}, ...loop, operation('apply_guardrail', model('Cold.', '{"safe":true}'))),
    { steps: 2, side: ['guardrail'], ...COLD },
  ],
  [
    'an input guardrail before the only call',
    kind('w', 'AGENT', {}, kind('check', 'GUARDRAIL', {}, llm('is Q safe?', 'SAFE')), llm('Q', 'Cold.')),
    { steps: 1, side: ['guardrail'], ...COLD },
  ],
  [
    'a guardrail that runs an agent',
    kind(
      'w',
      'AGENT',
      { in: 'Q', out: 'Cold.' },
      llm('Q', 'Cold.'),
      kind('check', 'GUARDRAIL', {}, kind('checker', 'AGENT', {}, llm('Cold.', '{"secret":false}'))),
    ),
    { steps: 1, side: [], ...COLD, children: ['checker'] },
  ],
  [
    'a title after the answer that the agent states',
    agent({ in: 'Q', out: 'Cold.' }, ...loop, model('title for Q', 'Oslo')),
    { steps: 2, side: ['other'], ...COLD },
  ],
  [
    'a title after an answer that the agent does not state',
    agent({}, ...loop, model('title for Q', 'Oslo')),
    { steps: 2, side: ['other'], ...COLD },
  ],
  [
    'two calls with other instructions, and no tools',
    agent({}, model(['system: answer', 'Q'], 'Cold.'), model(['system: titles', 'title for Q'], 'Oslo')),
    { steps: 2, side: [], ...UNDECIDED },
  ],
  [
    'a query that is rewritten before it is answered',
    agent(
      { in: 'Q', out: 'Cold.' },
      model('rewrite Q', 'oslo today'),
      operation('retrieval'),
      model('Q+docs', 'Cold.'),
    ),
    { steps: 2, side: [], ...COLD },
  ],
  [
    'a query that is rewritten before a loop with tools',
    agent({}, model('rewrite Q', 'oslo today'), ...loop),
    { steps: 2, side: ['other'], ...COLD },
  ],
  [
    'a summary between the calls of a loop',
    agent(
      { in: 'Q', out: 'Cold.' },
      ask,
      tool('c1'),
      model('summarise', 'summary'),
      model('summary', 'Cold.', 'with tools'),
    ),
    { steps: 2, side: ['other'], ...COLD },
  ],
  [
    'an answer that another call writes after the tools',
    agent({}, ask, tool('c1'), model('write from: -4', 'Cold.')),
    { steps: 2, side: [], ...COLD },
  ],
  [
    'two unrelated calls after the tools, either of which may have given the answer',
    agent({}, ask, tool('c1'), model('write from: -4', 'Cold.'), model('title for Q', 'Oslo')),
    { steps: 3, side: [], output: undefined, userInput: 'Q', undecided: ['output'] },
  ],
  [
    'a draft, its review and its improvement',
    agent({ in: 'Q', out: 'C' }, model('Q', 'draft'), model('review', 'short'), model('improve', 'C')),
    { steps: 3, side: [], output: 'C', userInput: 'Q' },
  ],
  [
    'memory with a model call',
    agent({}, ...loop, operation('update_memory', model('facts?', '["lives in Oslo"]'))),
    { steps: 2, side: ['memory'], ...COLD },
  ],
  [
    'a decision before the loop, with the span of its request inside',
    agent({}, operation('decide', operation('decide')), ...loop),
    { steps: 2, side: ['decision'], ...COLD },
  ],
  [
    'a decision about the answer, which a language model makes',
    agent({}, ...loop, operation('decision', model('Is it cold?', 'yes'))),
    { steps: 2, side: ['decision'], ...COLD },
  ],
  [
    'a decision in a guardrail',
    kind('w', 'AGENT', {}, kind('check', 'GUARDRAIL', {}, kind('ask', 'DECISION', { in: 'Q' })), llm('Q', 'Cold.')),
    { steps: 1, side: ['guardrail'], ...COLD },
  ],
  [
    'a guardrail that replaced the answer',
    agent({ in: 'Q', out: 'I cannot share that.' }, ...loop, operation('apply_guardrail')),
    { steps: 2, side: [], output: 'I cannot share that.', userInput: 'Q' },
  ],
  [
    'requests that have one message each',
    agent({}, model('Q', 'calls: c1'), tool('c1'), model('Q', 'Cold.')),
    { steps: 2, side: [], ...COLD },
  ],
  [
    'a call that brings the answer into a form, and continues the messages',
    agent({}, ...loop, model(['Q', 'calls: c1', 'got: c1', 'said: Cold.', 'as JSON'], '{"t":-4}')),
    { steps: 3, side: [], output: '{"t":-4}', userInput: 'Q' },
  ],
  [
    'a hook of a middleware with a model call',
    graph(
      { in: 'Q', out: 'Cold.' },
      graphNode('model', llm('Q', 'Cold.')),
      graphNode('Safety.after_agent', llm('safe?', 'SAFE')),
    ),
    { steps: 1, side: ['middleware'], ...COLD },
  ],
  [
    'a call that is tried again',
    agent({}, { ...model('Q', ''), fields: { ...failed(model('Q', '').fields) } }, ...loop),
    { steps: 3, side: [], ...COLD },
  ],
  [
    'follow-up questions that continue the messages, after the answer that the agent states',
    agent({ in: 'Q', out: 'Cold.' }, ...loop, model(['Q', 'said: Cold.', 'three follow-ups'], '["And Lima?"]')),
    { steps: 2, side: ['other'], ...COLD },
  ],
  [
    'further calls that repeat all messages, which may as well be the answer (a known limit)',
    agent({}, ...loop, model(['Q', 'calls: c1', 'got: c1', 'said: Cold.', 'three follow-ups'], '["And Lima?"]')),
    { steps: 3, side: [], output: '["And Lima?"]', userInput: 'Q' },
  ],
  [
    'a hand-off that a tool asked for',
    agent(
      {},
      agent({ name: 'triage' }, model('Q', 'calls: c1'), tool('c1')),
      agent({ name: 'billing' }, model(['Q', 'calls: c1', 'got: c1'], 'Paid.')),
    ),
    { steps: 2, side: [], output: 'Paid.', userInput: 'Q' },
  ],
  [
    'an agent after another one, for no reason that shows',
    agent({}, agent({ name: 'writer' }, model('Q', 'Cold.')), agent({ name: 'check' }, model('Cold.', 'SAFE'))),
    { steps: 2, side: [], output: undefined, userInput: 'Q', undecided: ['output'] },
  ],
  [
    'an agent in a callback, before the agent around it goes on',
    agent({}, agent({ name: 'check' }, model('is Q safe?', 'SAFE')), model('Q', 'Cold.')),
    { steps: 1, side: ['other'], ...COLD },
  ],
  [
    'an agent in a callback, after the answer that the agent around it states',
    agent({ in: 'Q', out: 'Cold.' }, model('Q', 'Cold.'), agent({ name: 'check' }, model('is it safe?', 'SAFE'))),
    { steps: 1, side: ['other'], ...COLD },
  ],
  [
    'a run of another agent that a callback starts',
    ofAdk(
      agent(
        {},
        runner('check', model('is Q safe?', 'SAFE')),
        model('Q', 'Cold.'),
        runner('check', model('Cold.', 'SAFE')),
      ),
    ),
    { steps: 1, side: [], ...COLD, children: ['check', 'check'] },
  ],
  [
    'an agent below a tool',
    agent({ in: 'Q', out: 'Cold.' }, ask, tool('c1', agent({ name: 'search' }, model('summarise page', '-4'))), answer),
    { steps: 2, side: [], ...COLD, children: ['search'] },
  ],
  [
    'a retriever that asks a model for other queries, and a reranker with a model',
    kind(
      'w',
      'AGENT',
      {},
      kind('multi-query', 'RETRIEVER', {}, kind('RunnableSequence', 'CHAIN', {}, llm('variants of Q', 'a b c'))),
      kind('rank', 'RERANKER', {}, llm('which first?', '2 1')),
      llm('Q+docs', 'Cold.'),
    ),
    { steps: 1, side: ['retrieval', 'retrieval'], output: 'Cold.', userInput: 'Q+docs' },
  ],
]

function failed(fields: Partial<SourceSpan>): Partial<SourceSpan> {
  const { 'gen_ai.output.messages': _, ...attributes } = fields.attributes ?? {}
  return { ...fields, status: { code: 'error', message: '429' }, attributes }
}

describe('model calls that serve a run without being its loop', () => {
  it.each(ROWS)('from a file: %s', (_title, tree, expected) => {
    const spans = spansOf(tree)
    fc.assert(
      fc.property(fc.shuffledSubarray([...spans], { minLength: spans.length }), (shuffled) => {
        expect(outline(buildRuns(shuffled))).toEqual({ runs: 1, ...expected })
      }),
      { numRuns: 20 },
    )
  })

  it.each(ROWS)('live: %s', (_title, tree, expected) => {
    const spans = spansOf(tree)
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (numbers) => {
        const order = anyOrderOf(spans, () => numbers.next().value ?? 0)
        expect(outline(replay(spans, [], order))).toEqual({ runs: 1, ...expected })
      }),
      { numRuns: 20 },
    )
  })

  it('count in usage and models, after the steps', () => {
    const [run] = buildRuns(spansOf(agent({}, ...loop, operation('apply_guardrail', model('Cold.', 'SAFE')))))
    expect(run?.usage.inputTokens).toBe(30)
    expect(run?.sideCalls[0]).toMatchObject({ kind: 'guardrail', name: 'apply_guardrail', output: [{ text: 'SAFE' }] })
    expect(JSON.parse(JSON.stringify(run)).sideCalls[0].kind).toBe('guardrail')
  })

  it('do not fail a run', () => {
    const check = model('Cold.', '')
    const tree = agent({}, ...loop, operation('apply_guardrail', { ...check, fields: failed(check.fields) }))
    expect(buildRuns(spansOf(tree))[0]).toMatchObject({
      status: 'ok',
      output: 'Cold.',
      sideCalls: [{ status: 'error' }],
    })
  })

  it('leave no answer if a guardrail ended the run', () => {
    const tree = agent({}, model('Q', 'The secret is 42.'), operation('apply_guardrail'))
    const ended = { code: 'error', message: 'Guardrail tripwire triggered' } as const
    const attributes = { ...tree.fields.attributes, 'error.type': 'OutputGuardrailTripwireTriggered' }
    const [run] = buildRuns(spansOf({ ...tree, fields: { ...tree.fields, status: ended, attributes } }))
    expect(run).toMatchObject({ status: 'error', error: { type: 'OutputGuardrailTripwireTriggered' } })
    expect(run?.output).toBeUndefined()
  })
})
