import type { AgentRun, Retrieval, ToolCall } from '../../model/agent-run.ts'
import type { Message, Part, ToolDefinition } from '../../model/message.ts'
import { callEndingOf } from '../../scoring/call-ending.ts'
import { historyOf } from '../../scoring/history.ts'
import {
  callFragments,
  mayLackCalls,
  nestedFragments,
  payload,
  quoted,
  shortName,
  startedByNone,
} from './render-call.ts'
import type { Fragment, SectionDraft } from './section.ts'
import { usedRetrievals } from './used-retrievals.ts'

/** What a judge is shown of a run. */
export interface RunMaterial {
  /** Tools that hand the user over to a person. @default none */
  readonly handOver?: readonly string[] | undefined
  /** Messages before the last one of the user; tool calls between them do not count. @default all */
  readonly history?: number
  /** How a message of the agent in the history is introduced. @default 'agent' */
  readonly agent?: string
  /** Whether each part of an inquiry that is asked in several shows results of its own calls only. @default false */
  readonly isSplit?: boolean
  /** Texts that are shown elsewhere. @default none */
  readonly shown?: readonly string[]
}

/**
 * Everything that a judge can be shown of a run, in order: instructions, earlier turns with their calls and results, the request, the calls
 * with arguments, results and outcomes, those of agents below them, retrieved documents, and the answer.
 */
export function runSections(run: AgentRun, material: RunMaterial = {}): SectionDraft[] {
  return [
    ...instructionsSection(run),
    ...historySection(run, material),
    ...requestSection(run, material.shown),
    ...toolCallsSection(run, material),
    ...retrievedSection(run, material.shown),
    answerSection(run, material),
  ]
}

/** A section that is judged, such as request or answer. It is cut last. */
export function mainSection(title: string, text: string): SectionDraft {
  return { title, fragments: [{ text, cut: 'judged' }] }
}

/** A text that the agent could use, such as a document. It is cut first. */
export function sourceSection(title: string, text: string): SectionDraft {
  return { title, fragments: [{ text, cut: 'result' }] }
}

/** The system instructions of the agent; no section if there are none. */
export function instructionsSection({
  systemInstructions: text,
}: Pick<AgentRun, 'systemInstructions'>): SectionDraft[] {
  const isBlank = text === undefined || text.trim() === ''
  return isBlank ? [] : [{ title: "the agent's instructions", fragments: [{ text, cut: 'instructions' }] }]
}

/** The last message of the user; no section if there is none, or it is shown elsewhere. */
export function requestSection(
  { userInput }: Pick<AgentRun, 'userInput'>,
  shown: readonly string[] = [],
): SectionDraft[] {
  if (userInput === undefined || userInput.trim() === '') return []
  // A prompt often quotes the document that it is about.
  const text = shown.reduce((rest, each) => (each.length < 200 ? rest : rest.replace(each, '(the context)')), userInput)
  return [mainSection("the user's request", text)]
}

/** The answer of the agent, or what it did in place of one. */
export function answerSection(run: AgentRun, { handOver }: RunMaterial = {}): SectionDraft {
  const { output } = run
  return output === undefined || output.trim() === ''
    ? { title: "the agent's answer", fragments: [{ text: withoutAnswer(run, handOver) }] }
    : mainSection("the agent's answer", output)
}

/** What is shown in place of an answer. A run may end in a call because that is what was wanted. */
export function withoutAnswer(run: AgentRun, handOver?: readonly string[]): string {
  const ending = callEndingOf(run, handOver)
  if (ending === undefined) return `(no text; the run ended as ${run.status})`
  const name = shortName(ending.call.name)
  return ending.isHandOver
    ? `(no text; it handed the user over to a person by ${name})`
    : `(no text; its last call was ${name}, which succeeded)`
}

/**
 * The messages before the last one of the user, and the calls and results between them; no section if there are none. Each is on one line,
 * as JSON, so that one message cannot pretend to be two.
 */
export function historySection(
  run: AgentRun,
  { history = Infinity, agent = 'agent' }: RunMaterial = {},
): SectionDraft[] {
  const all = historyOf(run)
  const texts = all.filter(({ role, text }) => role !== 'tool' && text !== undefined && text !== '')
  const first = texts.at(-history)
  const before = history === 0 ? [] : all.slice(texts.length > history && first !== undefined ? all.indexOf(first) : 0)
  if (before.length === 0) return []
  const names = new Map<string, string>()
  let age = before.filter(({ role }) => role === 'user').length + 1
  return [
    {
      title: 'earlier turns of the conversation, for context',
      fragments: before.flatMap((message) => {
        if (message.role === 'user') age--
        return messageFragments(message, agent, age, names)
      }),
    },
  ]
}

function messageFragments(message: Message, agent: string, age: number, names: Map<string, string>): Fragment[] {
  const { role, text, parts } = message
  const who = role === 'assistant' ? agent : oneWord(role)
  const others = parts.flatMap((part) => partFragments(part, age, names))
  if (text !== undefined && text !== '' && (role !== 'tool' || others.length === 0)) {
    return [{ text: `${who}: ` }, { text: quoted(text), cut: 'message', age }, { text: '\n' }, ...others]
  }
  return others.length > 0 ? others : [{ text: `${who}: [${parts.map(({ type }) => type).join(' ')}]\n` }]
}

function partFragments(part: Part, age: number, names: Map<string, string>): Fragment[] {
  if (part.type === 'tool_call') {
    if (part.id !== undefined) names.set(part.id, part.name)
    return [
      { text: `called ${shortName(part.name)}\n` },
      ...payload('arguments: ', part.arguments, 'argument', { indent: '  ', age }),
    ]
  }
  if (part.type !== 'tool_call_response') return []
  const name = names.get(part.id ?? '')
  const of = name === undefined ? '' : ` of ${shortName(name)}`
  const label = 'a result of an earlier turn'
  return payload(`${part.isError === true ? 'error' : 'result'}${of}: `, part.response, 'result', {
    indent: '  ',
    age,
    label,
  })
}

/** The id of the tool call at that index, used in the material and in questions. */
export function promptCallId(index: number): string {
  return `call_${index + 1}`
}

/**
 * All tool calls in order, with those of agents that they started. No section if there are none. What the spans do not hold is named, so
 * that nothing is taken for absent that only was not recorded.
 */
export function toolCallsSection(run: AgentRun, { handOver = [], isSplit = false }: RunMaterial = {}): SectionDraft[] {
  const { toolCalls, children } = run
  const unknown = unknownFacts(run)
  const fragments = [
    ...toolCalls.flatMap((call, index) => {
      const label = promptCallId(index)
      const about = isSplit ? label : undefined
      return callFragments(call, { label, about, handOver, children, unknown: unknown.of(index) })
    }),
    ...startedByNone(run).flatMap((child) => nestedFragments(child, { label: 'call', handOver })),
    ...(mayLackCalls(run) ? [{ text: '(the record may lack calls)\n' }] : []),
  ]
  if (fragments.length === 0) return []
  return [{ title: 'the tool calls, in their order (id, tool, outcome)', fragments }]
}

/** Facts about calls that the spans do not hold. */
function unknownFacts({ missing }: Pick<AgentRun, 'missing'>): { of(index: number): Set<string> } {
  const facts = new Set(missing.map(({ what }) => what))
  return {
    of: (index) => new Set(['arguments', 'result'].filter((fact) => facts.has(`toolCalls[${index}].${fact}`))),
  }
}

/** The tools of a catalogue with the ids t1, t2, …; names are never cut. */
export function catalogueSection(tools: readonly ToolDefinition[]): SectionDraft {
  return {
    title: 'the tools that the agent was offered',
    fragments: tools.flatMap(({ name: tool, description }, index) => [
      { text: `t${index + 1}: ${shortName(tool)}${description === undefined ? '\n' : ''}` },
      ...payload(' ', description, 'result'),
    ]),
  }
}

/**
 * The documents that the run was shown and that are no result of a recorded call, each once, and searches that brought none. No section if
 * there are none.
 */
export function retrievedSection(run: AgentRun, shown: readonly string[] = []): SectionDraft[] {
  if (run.retrievals.length === 0) return []
  const found = foundIn(run).map(({ retrieval }) => retrieval)
  const documents = new Set(
    found.flatMap((retrieval) => retrieval.documents?.flatMap(({ content }) => content ?? []) ?? []),
  )
  for (const text of ['', ...shown]) documents.delete(text)
  const vain = found.filter(foundNothing).slice(0, MAX_VAIN)
  return [
    ...(documents.size === 0 ? [] : documentsSection('retrieved documents', undefined, [...documents], 0)),
    ...(vain.length === 0 ? [] : [{ title: 'searches without documents', fragments: vain.flatMap(vainFragments) }]),
  ]
}

/** Most searches without documents that are shown. */
const MAX_VAIN = 20

/** Whether it searched documents, and brought none. A memory without anything to remember says nothing. */
function foundNothing({ kind, status, documents }: Retrieval): boolean {
  return kind === 'search' && (documents?.length === 0 || (status === 'error' && documents === undefined))
}

function vainFragments({ query, status }: Retrieval): Fragment[] {
  const searched: Fragment[] =
    query === undefined ? [{ text: 'a search' }] : [{ text: 'searched for ' }, { text: quoted(query), cut: 'judged' }]
  return [...searched, { text: status === 'error' ? ': the search failed\n' : ': nothing was found\n' }]
}

/** Retrievals that the model was shown, except for those of a tool whose result is recorded: the model saw the result. */
export function foundIn(run: AgentRun): ReturnType<typeof usedRetrievals> {
  if (run.retrievals.length === 0) return []
  return usedRetrievals(run).filter(
    ({ retrieval: { toolCall } }) => toolCall === undefined || run.toolCalls[toolCall]?.result === undefined,
  )
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
    query === undefined ? [] : [{ text: 'searched for: ' }, { text: quoted(query), cut: 'judged' as const }]
  return [
    {
      title,
      fragments: [
        ...searched,
        ...(query === undefined ? [] : [{ text: '\n' }]),
        ...documents.flatMap((text, index) => {
          const label = promptDocumentId(first + index)
          return payload(`${label}: `, text, 'result', { label })
        }),
      ],
    },
  ]
}

/** All calls below a run, with those of its agents, as far as they are shown. */
export function callsWithin(run: Pick<AgentRun, 'toolCalls' | 'children'>): readonly ToolCall[] {
  return [...run.toolCalls, ...run.children.flatMap(callsWithin)]
}

function oneWord(role: string): string {
  return /^\w+$/.test(role) ? role : 'other'
}
