import type { AgentRun, Missing, ModelCall, ToolCall } from '../model/agent-run.ts'
import { facts, plain } from '../model/facts.ts'
import { frozen } from '../runs/view/frozen.ts'
import { textMessage } from '../spans/content/messages.ts'
import { toJsonText } from '../spans/json.ts'
import { MAX_NAME_LENGTH, shortened } from '../attributes/explanation-rules.ts'
import { boundedResource } from './bounded-resource.ts'

/** Characters that are kept of a message of the user, and of an answer: its beginning and its end. */
const MAX_TEXT = 4000
/** Characters that arguments and results of a run may have together, as JSON. */
const MAX_PAYLOADS = 32_768
/** With less room than this, a value is not kept at all. */
const LEAST_PAYLOAD = 100
/** Tool calls that are kept of a run, with those of agents below it. */
const MAX_CALLS = 100
/** Model calls that are kept of a run, each without its messages. */
const MAX_STEPS = 500
/** Characters that are kept of the message of an error. */
const MAX_ERROR = 500
/** Models, and reasons why a model stopped, that are kept. */
const MAX_LIST = 20

/** Characters that are kept of instructions: their beginning and their end. */
const MAX_INSTRUCTIONS = 32_768
/** Agents that a run started, and their agents, that are kept. */
const MAX_CHILDREN = 10
const MAX_DEPTH = 3
/** Of all of them together. */
const MAX_DESCENDANTS = 30

/** Facts that are kept as they are. */
const KEPT = {
  ...facts('id', 'traceId', 'spanId', 'dialect', 'parent', 'usage', 'status', 'startTimeMs', 'endTimeMs', 'content'),
  ...facts('unanswered', 'complete', 'revision'),
}

/** A run as it is kept in a conversation. It is plain data, so that it can be stored as JSON. */
export function reduceRun(run: AgentRun): AgentRun {
  return frozen(reduce(run, new Room(), 0))
}

function reduce(run: AgentRun, room: Room, depth: number): AgentRun {
  const { conversationId, userId, error } = run
  const userInput = cut(run.userInput)
  const output = cut(run.output)
  const isNested = depth > 0
  // Judges are shown what nested agents called and answered.
  const systemInstructions = isNested ? undefined : cut(run.systemInstructions, MAX_INSTRUCTIONS)
  const toolCalls = reduceCalls(room.takeCalls(run.toolCalls), room)
  const steps = isNested ? [] : run.steps.slice(0, MAX_STEPS).map(reduceStep)
  const taken = depth < MAX_DEPTH ? room.takeRuns(run.children.slice(0, MAX_CHILDREN)) : []
  const children = taken.map((child) => reduce(child, room, depth + 1))
  return {
    ...plain(run, KEPT),
    agent: shortNames(run.agent),
    ...(conversationId !== undefined && { conversationId: shortName(conversationId) }),
    ...(userId !== undefined && { userId: shortName(userId) }),
    ...(systemInstructions !== undefined && { systemInstructions }),
    input: userInput === undefined ? [] : [textMessage('user', userInput)],
    ...(userInput !== undefined && { userInput }),
    ...(output !== undefined && { output }),
    toolCalls,
    steps,
    sideCalls: [],
    retrievals: [],
    children,
    models: shortList(run.models),
    ...(error !== undefined && { error: reduceError(error) }),
    missing: missingIn(run, { systemInstructions, toolCalls, children }),
    attributes: {},
    resource: boundedResource(run.resource),
    scope: shortNames(run.scope),
  }
}

/** A run without anything that it said, for one that must not be kept. */
export function bareRun(run: AgentRun): AgentRun {
  const { userInput: _question, output: _answer, error: _error, systemInstructions: _told, ...bare } = reduceRun(run)
  const toolCalls = bare.toolCalls.map(({ arguments: _arguments, result: _result, error: _failure, ...call }) => call)
  const steps = bare.steps.map(({ error: _failure, ...step }) => step)
  const missing: Missing[] = ['input', 'output', 'systemInstructions', 'toolCalls'].map((what) => ({
    what,
    why: 'redacted',
  }))
  return frozen({ ...bare, input: [], children: [], toolCalls, steps, missing, content: 'none' })
}

/** Arguments are kept before results, and of each those of the latest calls first. */
function reduceCalls(calls: readonly ToolCall[], room: Room): readonly ToolCall[] {
  const given = calls.toReversed().map((call) => room.take(call.arguments))
  const results = calls.toReversed().map((call) => room.take(call.result))
  return calls.map((call, index) => reduceCall(call, given.at(-1 - index), results.at(-1 - index)))
}

function reduceCall(call: ToolCall, given: unknown, result: unknown): ToolCall {
  const { id, error, spanId, agentName, childRunId } = call
  return {
    ...(id !== undefined && { id: shortName(id) }),
    name: shortName(call.name),
    ...(given !== undefined && { arguments: given }),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error: reduceError(error) }),
    status: call.status,
    step: call.step,
    ...(spanId !== undefined && { spanId }),
    ...(agentName !== undefined && { agentName: shortName(agentName) }),
    ...(childRunId !== undefined && { childRunId }),
    providerExecuted: call.providerExecuted,
  }
}

function reduceStep({ spanId, model, responseId, usage, finishReasons, status, error }: ModelCall): ModelCall {
  return {
    ...(spanId !== undefined && { spanId }),
    ...(model !== undefined && { model: shortName(model) }),
    ...(responseId !== undefined && { responseId: shortName(responseId) }),
    toolCallIds: [],
    usage,
    finishReasons: shortList(finishReasons),
    status,
    ...(error !== undefined && { error: reduceError(error) }),
  }
}

function reduceError({ type, message }: NonNullable<AgentRun['error']>): NonNullable<AgentRun['error']> {
  return {
    ...(type !== undefined && { type: shortName(type) }),
    ...(message !== undefined && { message: message.slice(0, MAX_ERROR) }),
  }
}

/** What the spans do not hold of the facts that are kept, and what is not kept of them. */
function missingIn(
  run: AgentRun,
  kept: Pick<AgentRun, 'systemInstructions' | 'toolCalls' | 'children'>,
): readonly Missing[] {
  const missing = run.missing.filter(({ what }) => !what.startsWith('retrievals'))
  const leftOut = (what: string): unknown => missing.push({ what, why: 'limit' })
  if (isCut(run.userInput)) leftOut('input')
  if (isCut(run.output)) leftOut('output')
  if (run.systemInstructions !== kept.systemInstructions) leftOut('systemInstructions')
  if (run.availableTools !== undefined) leftOut('availableTools')
  if (run.toolCalls.length > kept.toolCalls.length) leftOut('toolCalls')
  if (run.children.length > kept.children.length) leftOut('children')
  for (const [index, call] of kept.toolCalls.entries()) {
    if (run.toolCalls[index]?.arguments !== call.arguments) leftOut(`toolCalls[${index}].arguments`)
    if (run.toolCalls[index]?.result !== call.result) leftOut(`toolCalls[${index}].result`)
  }
  if (run.retrievals.length > 0) leftOut('retrievals')
  return missing
}

/** Somebody may send names of any length. */
function shortName(name: string): string {
  return shortened(name, MAX_NAME_LENGTH)
}

function shortNames<Names extends Readonly<Record<string, string>>>(names: Names): Names {
  if (Object.values(names).every((name) => name.length <= MAX_NAME_LENGTH)) return names
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names, shorter
  return Object.fromEntries(Object.entries(names).map(([key, name]) => [key, shortName(name)])) as Names
}

function shortList(names: readonly string[]): readonly string[] {
  return names.slice(0, MAX_LIST).map(shortName)
}

function isCut(text: string | undefined, most = MAX_TEXT): boolean {
  return text !== undefined && text.length > most
}

function cut(text: string, most?: number): string
function cut(text: string | undefined, most?: number): string | undefined
function cut(text: string | undefined, most = MAX_TEXT): string | undefined {
  if (text === undefined || text.length <= most) return text
  const half = Math.floor(most / 2)
  const leftOut = text.length - 2 * half
  return `${text.slice(0, half).toWellFormed()} … (${leftOut} characters left out) … ${text.slice(-half).toWellFormed()}`
}

/** What is left of the room for a run and the agents below it. */
class Room {
  #left = MAX_PAYLOADS
  #calls = MAX_CALLS
  #runs = MAX_DESCENDANTS

  /** As many calls as there is room for. */
  takeCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
    const taken = calls.slice(0, this.#calls)
    this.#calls -= taken.length
    return taken
  }

  /** As many runs as there is room for. */
  takeRuns(runs: readonly AgentRun[]): readonly AgentRun[] {
    const taken = runs.slice(0, this.#runs)
    this.#runs -= taken.length
    return taken
  }

  /** The value, its text without its middle if it is too long, or nothing if there is no room left. */
  take(value: unknown): unknown {
    if (value === undefined) return undefined
    const text = toJsonText(value)
    if (text === undefined || this.#left < LEAST_PAYLOAD) return undefined
    const most = this.#left
    this.#left = Math.max(0, this.#left - text.length)
    return text.length <= most ? value : cut(typeof value === 'string' ? value : text, most - LEAST_PAYLOAD)
  }
}
