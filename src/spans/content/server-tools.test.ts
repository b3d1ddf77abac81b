import { describe, expect, it } from 'vitest'

import { toMessages } from './messages.ts'

function partsOf(...items: readonly unknown[]): unknown {
  return toMessages(items)?.flatMap(({ parts }) => parts)
}

describe('tools that the provider runs', () => {
  it('reads items of the Responses API', () => {
    const parts = partsOf(
      { id: 'ws', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'oslo' } },
      { id: 'm1', type: 'mcp_call', name: 'lookup', arguments: '{"q":1}', output: 'row', error: null },
      { id: 'm2', type: 'mcp_call', name: 'lookup', arguments: '{"q":2}', output: null, error: 'denied' },
      { id: 'fs', type: 'file_search_call', queries: ['a'], results: [{ filename: 'b' }], status: 'completed' },
      { id: 'ci', type: 'code_interpreter_call', code: '1+1', outputs: [{ type: 'logs', logs: '2' }] },
    )
    const ran = { type: 'tool_call', providerExecuted: true }
    expect(parts).toEqual([
      { ...ran, name: 'web_search', id: 'ws', arguments: { type: 'search', query: 'oslo' } },
      { ...ran, name: 'lookup', id: 'm1', arguments: { q: 1 } },
      { type: 'tool_call_response', id: 'm1', response: 'row' },
      { ...ran, name: 'lookup', id: 'm2', arguments: { q: 2 } },
      { type: 'tool_call_response', id: 'm2', response: 'denied', isError: true },
      { ...ran, name: 'file_search', id: 'fs', arguments: { queries: ['a'] } },
      { type: 'tool_call_response', id: 'fs', response: [{ filename: 'b' }] },
      { ...ran, name: 'code_interpreter', id: 'ci', arguments: { code: '1+1' } },
      { type: 'tool_call_response', id: 'ci', response: [{ type: 'logs', logs: '2' }] },
    ])
  })

  it("reads items of OpenAI's Agents SDK for JavaScript", () => {
    const hosted = { type: 'hosted_tool_call', status: 'completed' }
    const mcp = { type: 'mcp_call', name: 'lookup', arguments: '{"q":1}' }
    const parts = partsOf(
      { ...hosted, id: 'l', name: 'mcp_list_tools', providerData: { type: 'mcp_list_tools', tools: [] } },
      { ...hosted, id: 'm', name: 'mcp_call', output: 'row', providerData: mcp },
      { ...hosted, id: 'ws', name: 'web_search_call' },
    )
    const ran = { type: 'tool_call', providerExecuted: true }
    expect(parts).toEqual([
      { ...ran, name: 'lookup', id: 'm', arguments: { q: 1 } },
      { type: 'tool_call_response', id: 'm', response: 'row' },
      { ...ran, name: 'web_search', id: 'ws' },
    ])
  })

  it('does not take calls for them that the client answers', () => {
    const parts = partsOf(
      { id: 'a', call_id: 'c1', type: 'custom_tool_call', name: 'patch', input: 'x' },
      { call_id: 'c1', type: 'custom_tool_call_output', output: 'done' },
      { id: 'b', call_id: 'c2', type: 'computer_call', action: { type: 'click' } },
      { id: 'c', type: 'mcp_approval_request', name: 'delete', arguments: '{"id":1}', server_label: 'db' },
    )
    expect(parts).toEqual([
      { type: 'tool_call', name: 'patch', id: 'c1', arguments: 'x' },
      { type: 'tool_call_response', id: 'c1', response: 'done' },
      { type: 'tool_call', name: 'computer', id: 'c2', arguments: { type: 'click' } },
      { type: 'tool_call', name: 'delete', id: 'c', arguments: { id: 1 } },
    ])
  })

  it('reads blocks of Anthropic, and their errors', () => {
    const message = {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'oslo' } },
        { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', title: 'T' }] },
        { type: 'mcp_tool_use', id: 's2', name: 'lookup', server_name: 'db', input: { q: 1 } },
        { type: 'mcp_tool_result', tool_use_id: 's2', is_error: false, content: [{ type: 'text', text: 'row' }] },
        { type: 'server_tool_use', id: 's3', name: 'web_fetch', input: { url: 'u' } },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 's3',
          content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
        },
        { type: 'text', text: 'Sunny.' },
      ],
    }
    const ran = { type: 'tool_call', providerExecuted: true }
    expect(partsOf(message)).toEqual([
      { ...ran, name: 'web_search', id: 's1', arguments: { query: 'oslo' } },
      { type: 'tool_call_response', id: 's1', response: [{ type: 'web_search_result', title: 'T' }] },
      { ...ran, name: 'lookup', id: 's2', arguments: { q: 1 } },
      { type: 'tool_call_response', id: 's2', response: 'row' },
      { ...ran, name: 'web_fetch', id: 's3', arguments: { url: 'u' } },
      {
        type: 'tool_call_response',
        id: 's3',
        response: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
        isError: true,
      },
      { type: 'text', content: 'Sunny.' },
    ])
  })

  it('reads parts of the conventions with the payloads of OpenAI and Anthropic', () => {
    const parts = [
      {
        type: 'server_tool_call',
        id: 's1',
        name: 'web_search',
        server_tool_call: { type: 'web_search', input: { q: 1 } },
      },
      { type: 'server_tool_call_response', id: 's1', server_tool_call_response: { type: 'web_search', content: [1] } },
      {
        type: 'server_tool_call',
        id: 'm1',
        name: 'lookup',
        server_tool_call: { type: 'mcp', arguments: '{"q":2}', output: 'row', status: 'completed' },
      },
      { type: 'server_tool_call', name: 'code_interpreter', server_tool_call: { type: 'code_interpreter', code: 'x' } },
    ]
    const ran = { type: 'tool_call', providerExecuted: true }
    expect(partsOf({ role: 'assistant', parts })).toEqual([
      { ...ran, id: 's1', name: 'web_search', arguments: { q: 1 } },
      { type: 'tool_call_response', id: 's1', response: [1] },
      { ...ran, id: 'm1', name: 'lookup', arguments: { q: 2 } },
      { type: 'tool_call_response', id: 'm1', response: 'row' },
      { ...ran, name: 'code_interpreter', arguments: { code: 'x' } },
    ])
  })

  it("reads Gemini's code, Mistral's and LangChain's calls", () => {
    const gemini = {
      role: 'model',
      parts: [
        { executable_code: { code: '1+1', language: 'PYTHON' } },
        { code_execution_result: { outcome: 'OUTCOME_OK', output: 'two\n' } },
      ],
    }
    const langChain = {
      type: 'ai',
      content: [
        { type: 'server_tool_call', id: 'a', name: 'web_search', args: { query: 'x' } },
        { type: 'server_tool_result', tool_call_id: 'a', status: 'success', output: ['y'] },
      ],
    }
    const ran = { type: 'tool_call', providerExecuted: true }
    expect(partsOf(gemini)).toEqual([
      { ...ran, name: 'code_execution', arguments: { code: '1+1', language: 'PYTHON' } },
      { type: 'tool_call_response', response: 'two\n' },
    ])
    expect(partsOf(langChain)).toEqual([
      { ...ran, name: 'web_search', id: 'a', arguments: { query: 'x' } },
      { type: 'tool_call_response', id: 'a', response: ['y'] },
    ])
    expect(
      partsOf({ type: 'tool.execution', id: 'e', name: 'web_search', arguments: '{"query":"x"}', info: {} }),
    ).toEqual([
      { ...ran, name: 'web_search', id: 'e', arguments: { query: 'x' } },
      { type: 'tool_call_response', id: 'e', response: {} },
    ])
  })
})
