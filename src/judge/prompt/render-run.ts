import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { toJsonText } from '../../spans/json.ts'
import type { Message, ToolDefinition } from '../../model/message.ts'
import type { Fragment, SectionDraft } from './section.ts'

/** A section that is judged, such as request or answer. It is cut last. */
export function mainSection(title: string, text: string): SectionDraft {
  return { title, fragments: [{ text, cut: 'last' }] }
}

/** A section that gives context. It is cut first. */
export function contextSection(title: string, text: string): SectionDraft {
  return { title, fragments: [{ text, cut: 'first' }] }
}

/**
 * The latest `count` messages before the last user message; no section if there are none. Each is on one line, as JSON, so that one message
 * cannot pretend to be two.
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
        { text: quoted(contentOf(message)), cut: 'first' as const },
        { text: '\n' },
      ]),
    },
  ]
}

/** The id of the tool call at that index, used in the material and in questions. */
export function promptCallId(index: number): string {
  return `call_${index + 1}`
}

/**
 * All tool calls in order. Id, name and status are always whole; arguments, result and error are one line of JSON each, and are cut if
 * space is short. No section if there are none.
 *
 * @param isSplit whether each part of an inquiry that is asked in several shows results of its own calls only
 */
export function toolCallsSection(calls: readonly ToolCall[], isSplit: boolean = true): SectionDraft[] {
  if (calls.length === 0) return []
  const about = (index: number): string | undefined => (isSplit ? promptCallId(index) : undefined)
  return [
    {
      title: 'the tool calls, in their order (id, tool, outcome)',
      fragments: calls.flatMap((call, index) => [
        { text: `${promptCallId(index)}: ${shortName(call.name)}, ${call.status}\n` },
        ...payload('  arguments: ', call.arguments),
        ...payload('  result: ', call.result, about(index)),
        ...payload('  error: ', errorOf(call), about(index)),
      ]),
    },
  ]
}

/** The tools of a catalogue with the ids t1, t2, …; names are never cut. */
export function catalogueSection(tools: readonly ToolDefinition[]): SectionDraft {
  return {
    title: 'the tools that the agent was offered',
    fragments: tools.flatMap(({ name: tool, description }, index) => [
      { text: `t${index + 1}: ${shortName(tool)}${description === undefined ? '\n' : ''}` },
      ...payload(' ', description),
    ]),
  }
}

/** The results of tool calls with the arguments that they answer, as evidence. No section if no call has a result. */
export function toolResultsSection(calls: readonly ToolCall[]): SectionDraft[] {
  const fragments = calls.flatMap((call, index) =>
    call.result === undefined
      ? []
      : [
          { text: `${promptCallId(index)}: ${shortName(call.name)}\n` },
          ...payload('  arguments: ', call.arguments),
          ...payload('  result: ', call.result),
        ],
  )
  return fragments.length === 0 ? [] : [{ title: 'evidence: results of tool calls', fragments }]
}

/** The id of the document at that index, used in the material and in questions. */
export function promptDocumentId(index: number): string {
  return `d${index + 1}`
}

/** Documents with the ids d1, d2, …, and what was searched for. The documents are one line of JSON each, and are cut if space is short. */
export function documentsSection(
  title: string,
  query: string | undefined,
  documents: readonly string[],
  first: number,
): SectionDraft[] {
  const searched =
    query === undefined ? [] : [{ text: 'searched for: ' }, { text: quoted(query), cut: 'last' as const }]
  return [
    {
      title,
      fragments: [
        ...searched,
        ...(query === undefined ? [] : [{ text: '\n' }]),
        ...documents.flatMap((text, index) => payload(`${promptDocumentId(first + index)}: `, text)),
      ],
    },
  ]
}

function errorOf({ error }: ToolCall): string | undefined {
  const parts = [error?.type, error?.message].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(': ')
}

function payload(label: string, value: unknown, about?: string): Fragment[] {
  if (value === undefined) return []
  const shown = about === undefined ? {} : { about }
  return [{ text: label, ...shown }, new Payload(value, about), { text: '\n', ...shown }]
}

/** A fragment that renders its text lazily: estimating the cost of a score does not need all of a large run. */
class Payload implements Fragment {
  readonly cut = 'first'
  readonly about: string | undefined
  readonly #value: unknown
  #text: string | undefined

  constructor(value: unknown, about: string | undefined) {
    this.#value = value
    this.about = about
  }

  get text(): string {
    this.#text ??= quoted(this.#value)
    return this.#text
  }
}

/** Texts longer than this are cached. */
const LONG_TEXT = 10_000

/** The JSON text of large values. */
const written = new WeakMap<object, string>()

/** Renders large arguments and results over several turns of the event loop, so that a large run does not hold it. */
export async function writePayloads(calls: readonly ToolCall[]): Promise<void> {
  let characters = 0
  for (const { arguments: given, result } of calls) {
    for (const value of [given, result]) {
      if (typeof value !== 'object' || value === null) continue
      const text = quoted(value)
      if (text.length > LONG_TEXT) written.set(value, text)
      characters += text.length
      if (characters < LONG_TEXT) continue
      characters = 0
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
}

/** Shortens a name. Names are never cut to fit, and models invent long ones. */
export function shortName(text: string): string {
  return quoted(text.length <= 160 ? text : `${text.slice(0, 159).toWellFormed()}…`)
}

/** Renders any value on one line: JSON has no raw line ends. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  const known = typeof value === 'object' && value !== null ? written.get(value) : undefined
  return known ?? toJsonText(value) ?? '(no JSON form)'
}

function contentOf(message: Message): string {
  if (message.text !== undefined && message.text !== '') return message.text
  return message.parts.map((part) => ('name' in part ? `[${part.type} ${part.name}]` : `[${part.type}]`)).join(' ')
}

function oneWord(role: string): string {
  return /^\w+$/.test(role) ? role : 'other'
}
