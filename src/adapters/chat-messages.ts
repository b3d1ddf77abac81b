import type { AgentRun, ToolCall } from '../model/agent-run.ts'

/** A message of the Chat Completions API. */
export interface ChatMessage {
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly type: 'function'
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
}

/** A run as chat messages: its input and everything it did, including tool calls and results. */
export function toChatMessages(run: AgentRun): { inputs: readonly ChatMessage[]; outputs: readonly ChatMessage[] } {
  const system = run.systemInstructions === undefined ? [] : [{ role: 'system', content: run.systemInstructions }]
  const input = run.input.flatMap(({ role, text }) => (text === undefined ? [] : [{ role, content: text }]))
  const steps = Map.groupBy(run.toolCalls, ({ step }) => step)
  const output: ChatMessage[] = [...steps].toSorted(([a], [b]) => a - b).flatMap(([, calls]) => toTurn(calls))
  if (run.output !== undefined) output.push({ role: 'assistant', content: run.output })
  return { inputs: [...system, ...input], outputs: output }
}

function idOf(call: ToolCall, index: number): string {
  return call.id ?? `call_${call.step}_${index}`
}

function toTurn(calls: readonly ToolCall[]): readonly ChatMessage[] {
  return [
    {
      role: 'assistant',
      content: '',
      tool_calls: calls.map((call, index) => ({
        id: idOf(call, index),
        type: 'function',
        function: { name: call.name, arguments: toText(call.arguments ?? {}) },
      })),
    },
    ...calls.flatMap((call, index) => {
      const { result, error } = call
      if (result === undefined && error === undefined) return []
      return [{ role: 'tool', tool_call_id: idOf(call, index), content: toText(result ?? error?.message ?? '') }]
    }),
  ]
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
