import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { CALL_STATUS } from '../../model/call-status.ts'
import { toJsonText } from '../../spans/json.ts'
import type { Cut, Fragment } from './section.ts'

/** How a call is shown. */
export interface CallForm {
  /** The call's name in the material, such as `call_2`. */
  readonly label: string
  /** What each line begins with. @default '' */
  readonly indent?: string
  /** Show result and error only in prompts that ask about this id. */
  readonly about?: string | undefined
  /** How many turns ago the call was made. */
  readonly age?: number
  /** Tools that hand the user over to a person. */
  readonly handOver?: readonly string[]
  /** The runs that the call may have started. */
  readonly children?: readonly AgentRun[]
  /** Facts of the call that were recorded nowhere, such as `result`. */
  readonly unknown?: ReadonlySet<string>
}

/** Agents inside agents that are shown. */
const MOST_NESTED = 3

/**
 * A call with its outcome: the agent that made it, if a hand-off changed it, the arguments, what an agent that it started called, the result
 * and the error. Name and outcome are always whole; the rest is one line of JSON each.
 */
export function callFragments(call: ToolCall, form: CallForm): Fragment[] {
  const { label, indent = '', about, age, handOver = [], children = [], unknown } = form
  const by = call.agentName === undefined ? '' : ` of ${shortName(call.agentName)}`
  const handsOver = handOver.includes(call.name) ? ' (hands the user over to a person)' : ''
  const place = { age, indent: `${indent}  ` }
  return [
    { text: `${indent}${label}: ${shortName(call.name)}${by}${handsOver}, ${outcomeOf(call)}\n` },
    ...payload('arguments: ', call.arguments, 'argument', place, unknown?.has('arguments')),
    ...startedBy(call, children).flatMap((child) => nestedFragments(child, form)),
    ...payload('result: ', call.result, 'result', { ...place, about, label }, unknown?.has('result')),
    ...payload('error: ', errorOf(call), 'result', { ...place, about, label }),
  ]
}

/** What an agent below another one called and answered. */
export function nestedFragments(run: AgentRun, form: CallForm): Fragment[] {
  const { label, indent = '' } = form
  const inner = `${indent}    `
  if (inner.length > 4 * MOST_NESTED) return []
  const { about: _about, unknown: _unknown, ...rest } = form
  return [
    { text: `${indent}  agent ${shortName(run.agent.name ?? 'without a name')}:\n` },
    ...run.toolCalls.flatMap((call, index) =>
      callFragments(call, { ...rest, label: `${label}.${index + 1}`, indent: inner, children: run.children }),
    ),
    ...(mayLackCalls(run) ? [{ text: `${inner}(the record may lack calls)\n` }] : []),
    ...(run.output === undefined ? [] : payload('answer: ', run.output, 'result', { age: form.age, indent: inner })),
  ]
}

/** Whether calls of the run, or of agents below it, may be missing. */
export function mayLackCalls({ missing }: Pick<AgentRun, 'missing'>): boolean {
  return missing.some(({ what }) => what === 'toolCalls' || what === 'children')
}

/** A call that a judge is shown, and how the material calls it. */
export interface ShownCall {
  /** `call_2`, or `call_2.1` for the first call of an agent that it started. */
  readonly id: string
  readonly call: ToolCall
  /** The run that has the call, and the call's index there. */
  readonly run: AgentRun
  readonly index: number
}

/** The calls of a run and of the agents below it, as `callFragments` labels them. */
export function shownCalls(run: AgentRun, idOf: (index: number) => string, depth = 0): readonly ShownCall[] {
  if (depth > MOST_NESTED) return []
  const below = (child: AgentRun, id: string): readonly ShownCall[] =>
    shownCalls(child, (index) => `${id}.${index + 1}`, depth + 1)
  return [
    ...run.toolCalls.flatMap((call, index) => [
      { id: idOf(index), call, run, index },
      ...startedBy(call, run.children).flatMap((child) => below(child, idOf(index))),
    ]),
    ...startedByNone(run).flatMap((child) => below(child, 'call')),
  ]
}

function startedBy(call: ToolCall, children: readonly AgentRun[]): readonly AgentRun[] {
  return children.filter(
    ({ id, parent }) => id === call.childRunId || (parent?.toolCallId !== undefined && parent.toolCallId === call.id),
  )
}

/** The runs that no call started, such as those of guardrails and callbacks. */
export function startedByNone({ toolCalls, children }: Pick<AgentRun, 'toolCalls' | 'children'>): readonly AgentRun[] {
  return children.filter((child) => !toolCalls.some((call) => startedBy(call, [child]).length > 0))
}

/** The outcome of a call in words. */
function outcomeOf({ status }: ToolCall): string {
  return CALL_STATUS[status].outcome === 'unknown' ? 'outcome unknown' : status
}

function errorOf({ error }: ToolCall): string | undefined {
  const parts = [error?.type, error?.message].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(': ')
}

/** Where a payload is shown. */
interface PayloadPlace {
  readonly indent?: string
  readonly about?: string | undefined
  readonly age?: number | undefined
  /** What the value is called, if a score must say that it was cut. */
  readonly label?: string
}

/** A labelled value on a line of its own; nothing if there is none, unless it was not recorded. */
export function payload(
  label: string,
  value: unknown,
  cut: Cut,
  { indent = '', about, age, label: name }: PayloadPlace = {},
  isUnknown = false,
): Fragment[] {
  const shown = about === undefined ? {} : { about }
  if (value === undefined) return isUnknown ? [{ text: `${indent}${label}(not recorded)\n`, ...shown }] : []
  return [{ text: `${indent}${label}`, ...shown }, new Payload(value, cut, about, name, age), { text: '\n', ...shown }]
}

/** A fragment that renders its text lazily: estimating the cost of a score does not need all of a large run. */
class Payload implements Fragment {
  readonly cut: Cut
  readonly about: string | undefined
  readonly label: string | undefined
  readonly age: number
  readonly #value: unknown
  #text: string | undefined

  constructor(value: unknown, cut: Cut, about: string | undefined, label: string | undefined, age = 0) {
    this.#value = value
    this.cut = cut
    this.about = about
    this.label = label
    this.age = age
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
