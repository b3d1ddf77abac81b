import type { AgentRun, ToolCall } from '../runs/agent-run.ts'
import { toJsonText } from '../spans/json.ts'
import type { Message, ToolDefinition } from '../spans/message.ts'
import type { SectionDraft } from './fit-sections.ts'

/** A section with one text that stays whole: the task, the answer. */
export function wholeSection(title: string, text: string): SectionDraft {
  return { title, fragments: [{ text }] }
}

/** A section with one text that may be cut. */
export function cuttableSection(title: string, text: string): SectionDraft {
  return { title, fragments: [{ text, cuttable: true }] }
}

/**
 * The messages before the last user message, the latest `count` of them; no section where there are none. Each stands on one
 * line, as JSON, so that no message can pretend to be two.
 */
export function historySection(run: AgentRun, count: number): SectionDraft[] {
  const last = run.input.findLastIndex(({ role, text }) => role === 'user' && text !== undefined)
  const before = run.input.slice(0, Math.max(0, last)).slice(count > 0 ? -count : run.input.length)
  if (before.length === 0) return []
  return [
    {
      title: 'earlier turns of the conversation, for context',
      fragments: before.flatMap((message) => [
        { text: `${oneWord(message.role)}: ` },
        { text: quoted(contentOf(message)), cuttable: true },
        { text: '\n' },
      ]),
    },
  ]
}

/**
 * A section for each tool call: number, name and outcome whole; arguments, result and error as JSON on one line each, cut where
 * the space does not do.
 */
export function toolCallSections(calls: readonly ToolCall[]): SectionDraft[] {
  return calls.map((call, index) => ({
    title: `tool call ${index + 1}`,
    fragments: [
      { text: `tool: ${quoted(call.name)}\noutcome: ${outcomeOf(call)}\n` },
      ...payload('arguments', call.arguments),
      ...payload('result', call.result),
    ],
  }))
}

/** The tools of a catalogue, under the ids t1, t2, …; names whole. */
export function catalogueSection(tools: readonly ToolDefinition[]): SectionDraft {
  return {
    title: 'the tools that the agent was offered',
    fragments: tools.flatMap(({ name, description }, index) => [
      { text: `t${index + 1}: ${quoted(name)} ` },
      { text: quoted(description ?? ''), cuttable: true },
      { text: '\n' },
    ]),
  }
}

/** What tools gave back, as evidence; calls without a result have none. */
export function toolResultSections(calls: readonly ToolCall[]): SectionDraft[] {
  return calls.flatMap((call, index) =>
    call.result === undefined
      ? []
      : [
          {
            title: `evidence: result of tool call ${index + 1}`,
            fragments: [{ text: `tool: ${quoted(call.name)}\n` }, ...payload('result', call.result)],
          },
        ],
  )
}

function outcomeOf(call: ToolCall): string {
  if (call.error === undefined) return call.status
  const { type, message } = call.error
  return `${call.status} ${quoted(
    [type, message]
      .filter((part) => part !== undefined)
      .join(': ')
      .slice(0, 300),
  )}`
}

function payload(name: string, value: unknown): SectionDraft['fragments'] {
  if (value === undefined) return []
  return [{ text: `${name}: ` }, { text: quoted(value), cuttable: true }, { text: '\n' }]
}

/** One line, whatever the value is: JSON has no raw line ends. */
function quoted(value: unknown): string {
  return (typeof value === 'string' ? JSON.stringify(value) : toJsonText(value)) ?? '(no JSON form)'
}

function contentOf(message: Message): string {
  if (message.text !== undefined && message.text !== '') return message.text
  return message.parts.map((part) => ('name' in part ? `[${part.type} ${part.name}]` : `[${part.type}]`)).join(' ')
}

function oneWord(role: string): string {
  return /^\w+$/.test(role) ? role : 'other'
}
