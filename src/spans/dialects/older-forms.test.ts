import { expect, it } from 'vitest'
import { treeSpan } from '../../../test/fixtures/source-span.ts'
import { buildRuns } from '../../runs/build-runs.ts'

/** Shapes that libraries wrote in versions which can no longer be run, or that something in between made of them. */
it("reads Strands' first spans, which have names in place of operations, flattened too", () => {
  const scope = { name: 'strands-agents' }
  const [run] = buildRuns([
    treeSpan('a', undefined, {
      scope,
      name: 'Helper',
      attributes: { 'agent.name': 'Helper', 'gen_ai.prompt': 'Sum?' },
    }),
    treeSpan('b', 'a', { scope, name: 'Cycle 1', attributes: { 'event_loop.cycle_id': '1' } }),
    treeSpan('c', 'b', {
      scope,
      name: 'Model invoke',
      attributes: {
        'gen_ai.request.model': 'm',
        'gen_ai.prompt.0.role': 'user',
        'gen_ai.prompt.0.content.0.text': 'Sum?',
        'gen_ai.completion.0.toolUse.name': 'add',
        'gen_ai.completion.0.toolUse.toolUseId': 't1',
        'gen_ai.completion.0.toolUse.input.a': 1,
      },
    }),
    treeSpan('d', 'b', {
      scope,
      name: 'Tool: add',
      attributes: {
        'tool.name': 'add',
        'tool.id': 't1',
        'tool.parameters': '{"a":1}',
        'tool.result': '[{"text":"3"}]',
      },
    }),
    treeSpan('e', 'b', {
      scope,
      name: 'Model invoke',
      attributes: {
        'gen_ai.request.model': 'm',
        'gen_ai.prompt.0.role': 'user',
        'gen_ai.completion.0.text': 'It is 3.',
      },
    }),
  ])
  expect([run?.agent.name, run?.userInput, run?.output]).toEqual(['Helper', 'Sum?', 'It is 3.'])
  expect(run?.toolCalls.map(({ name, arguments: given, result }) => [name, given, result])).toEqual([
    ['add', { a: 1 }, 3],
  ])
})

it("reads the answer that any-agent's frameworks have a tool for, and the question under a heading", () => {
  const scope = { name: 'any_agent' }
  const llm = { 'gen_ai.operation.name': 'call_llm', 'gen_ai.request.model': 'm' }
  const messages = [
    { role: 'system', content: 'Be brief.\n\nYou are an agent. Your internal name is "any_agent".' },
    { role: 'user', content: 'New task:\nSum?' },
  ]
  const asked = [{ 'tool.name': 'final_answer', 'tool.args': '{"answer":"It is 3."}' }]
  const [run] = buildRuns([
    treeSpan('a', undefined, { scope, attributes: { 'gen_ai.operation.name': 'invoke_agent' } }),
    treeSpan('b', 'a', {
      scope,
      attributes: {
        ...llm,
        'gen_ai.input.messages': JSON.stringify(messages),
        'gen_ai.output': JSON.stringify([{ 'tool.name': 'add', 'tool.args': '{}' }]),
      },
    }),
    treeSpan('c', 'a', {
      scope,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'add',
        'gen_ai.tool.args': '{"a":1}',
        'gen_ai.output': '3',
      },
    }),
    treeSpan('d', 'a', { scope, attributes: { ...llm, 'gen_ai.output': JSON.stringify(asked) } }),
    treeSpan('e', 'a', {
      scope,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'final_answer',
        'gen_ai.output': 'It is 3.',
      },
    }),
  ])
  expect(run).toMatchObject({ userInput: 'Sum?', systemInstructions: 'Be brief.', output: 'It is 3.', status: 'ok' })
  expect(run?.toolCalls.map(({ name, arguments: given, result }) => [name, given, result])).toEqual([
    ['add', { a: 1 }, 3],
  ])
})

it('splits conversations that were written as one text', () => {
  const text = 'system: Be brief.\nuser: Sum?'
  const langfuse = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.input': text,
    'langfuse.observation.output': 'It is 3.',
  }
  const openLit = {
    attributes: { 'gen_ai.operation.name': 'chat' },
    events: [
      { name: 'gen_ai.content.prompt', timeMs: 1, attributes: { 'gen_ai.prompt': text } },
      { name: 'gen_ai.content.completion', timeMs: 1, attributes: { 'gen_ai.completion': 'It is 3.' } },
    ],
  }
  for (const fields of [{ attributes: langfuse }, openLit]) {
    const [run] = buildRuns([treeSpan('a', undefined, fields)])
    expect(run).toMatchObject({ userInput: 'Sum?', systemInstructions: 'Be brief.', output: 'It is 3.' })
  }
})

it("reads Logfire's list of a span's events", () => {
  const events = JSON.stringify([
    { content: 'Be brief.', role: 'system' },
    { content: 'Sum?', role: 'user' },
    { index: 0, message: { role: 'assistant', content: ['It is 3.'] } },
  ])
  const [run] = buildRuns([treeSpan('a', undefined, { attributes: { 'gen_ai.operation.name': 'chat', events } })])
  expect(run).toMatchObject({ userInput: 'Sum?', systemInstructions: 'Be brief.', output: 'It is 3.' })
})

it('reads the input of models that only complete text', () => {
  const attributes = { 'openinference.span.kind': 'LLM', 'output.value': 'It is 3.' }
  for (const prompt of [{ 'llm.prompts.0.prompt.text': 'Sum?' }, { 'llm.prompts': ['Sum?'] }]) {
    const [run] = buildRuns([treeSpan('a', undefined, { attributes: { ...attributes, ...prompt } })])
    expect(run).toMatchObject({ userInput: 'Sum?', output: 'It is 3.' })
  }
})

it("names a sub-agent of Claude's after the call that started it", () => {
  const scope = { name: 'openinference.instrumentation.claude_agent_sdk' }
  const given = JSON.stringify({ subagent_type: 'adder', prompt: 'Sum?', description: 'Adds' })
  const result = JSON.stringify({ status: 'completed', prompt: 'Sum?', content: [{ type: 'text', text: 'It is 3.' }] })
  const tool = { 'openinference.span.kind': 'TOOL', 'tool.name': 'Agent', 'input.value': given, 'output.value': result }
  const [run] = buildRuns([
    treeSpan('a', undefined, {
      scope,
      name: 'ClaudeAgentSDK.query',
      attributes: { 'openinference.span.kind': 'AGENT' },
    }),
    treeSpan('b', 'a', { scope, name: 'Agent', attributes: tool }),
    treeSpan('c', 'b', {
      scope,
      name: 'ClaudeAgentSDK.Agent',
      attributes: { 'openinference.span.kind': 'AGENT', 'agent.name': 'Agent' },
    }),
  ])
  expect(run?.children[0]).toMatchObject({ agent: { name: 'adder' }, userInput: 'Sum?', output: 'It is 3.' })
})

it("reads the arguments of CrewAI's tools, which older versions print as Python does", () => {
  const scope = { name: 'openinference.instrumentation.crewai' }
  const given = {
    tool_string: 'Action: add',
    tool: 'Tool(…)',
    calling: "tool_name='add' arguments={'a': 1, 'b': 'it\\'s'}",
  }
  const [run] = buildRuns([
    treeSpan('a', undefined, {
      scope,
      name: 'Task._execute_core',
      attributes: {
        'openinference.span.kind': 'AGENT',
        'output.value': JSON.stringify({ description: 'Sum?', raw: 'It is 3.', agent: 'Adder' }),
      },
    }),
    treeSpan('b', 'a', {
      scope,
      name: 'ToolUsage._use',
      attributes: {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'add',
        'input.value': JSON.stringify(given),
        'output.value': '3',
      },
    }),
  ])
  expect(run).toMatchObject({ agent: { name: 'Adder' }, userInput: 'Sum?', output: 'It is 3.' })
  expect(run?.toolCalls.map(({ name, arguments: args, result }) => [name, args, result])).toEqual([
    ['add', { a: 1, b: "it's" }, 3],
  ])
})

it('keeps the agents of LangChain as far as LangSmith records them in JavaScript', () => {
  const messages = JSON.stringify({ messages: [{ role: 'user', content: 'Sum?' }] })
  const [run] = buildRuns([
    treeSpan('a', undefined, {
      scope: { name: 'langsmith' },
      name: 'adder',
      status: { code: 'ok' },
      attributes: {
        'langsmith.traceable': 'true',
        'langsmith.span.kind': 'chain',
        'langsmith.trace.name': '__start__',
        'langsmith.metadata.langgraph_node': '__start__',
        'gen_ai.prompt': messages,
        'gen_ai.completion': messages,
      },
    }),
  ])
  expect(run).toMatchObject({ agent: { name: 'adder' }, userInput: 'Sum?', status: 'ok' })
  expect(run?.output).toBeUndefined()
  expect(run?.missing.map(({ what, why }) => `${what}: ${why}`)).toEqual([
    'output: not-recorded',
    'systemInstructions: not-recorded',
    'availableTools: not-recorded',
    'toolCalls: not-recorded',
  ])
})
