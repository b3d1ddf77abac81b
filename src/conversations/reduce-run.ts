import type { AgentRun, Missing, ModelCall, ToolCall } from '../model/agent-run.ts'
import { frozen } from '../runs/view/frozen.ts'
import { textMessage } from '../spans/content/messages.ts'

/** Characters that are kept of a message of the user, and of an answer: its beginning and its end. */
const MAX_TEXT = 4000
/** Characters that the JSON of a tool call's arguments or result may have to be kept. */
const MAX_PAYLOAD = 500
/** Tool calls that are kept of a run. */
const MAX_CALLS = 100
/** Model calls that are kept of a run, each without its messages. */
const MAX_STEPS = 500
/** Characters that are kept of the message of an error. */
const MAX_ERROR = 500

/** A run as it is kept in a conversation. It is plain data, so that it can be stored as JSON. */
export function reduceRun(run: AgentRun): AgentRun {
  const { conversationId, userId, error } = run
  const userInput = cut(run.userInput)
  const output = cut(run.output)
  const toolCalls = run.toolCalls.slice(0, MAX_CALLS).map(reduceCall)
  const reduced: AgentRun = {
    id: run.id,
    traceId: run.traceId,
    spanId: run.spanId,
    dialect: run.dialect,
    agent: run.agent,
    ...(conversationId !== undefined && { conversationId }),
    ...(userId !== undefined && { userId }),
    input: userInput === undefined ? [] : [textMessage('user', userInput)],
    ...(userInput !== undefined && { userInput }),
    ...(output !== undefined && { output }),
    toolCalls,
    steps: run.steps.slice(0, MAX_STEPS).map(reduceStep),
    sideCalls: [],
    retrievals: [],
    children: [],
    models: run.models,
    usage: run.usage,
    status: run.status,
    ...(error !== undefined && { error: reduceError(error) }),
    startTimeMs: run.startTimeMs,
    endTimeMs: run.endTimeMs,
    content: run.content,
    missing: missingIn(run, toolCalls),
    complete: run.complete,
    revision: run.revision,
    attributes: {},
    resource: run.resource,
    scope: run.scope,
  }
  return frozen(reduced)
}

/** A run without anything that it said, for one that must not be kept. */
export function bareRun(run: AgentRun): AgentRun {
  const { userInput: _question, output: _answer, error: _error, ...bare } = reduceRun(run)
  const toolCalls = bare.toolCalls.map(({ arguments: _arguments, result: _result, error: _failure, ...call }) => call)
  const steps = bare.steps.map(({ error: _failure, ...step }) => step)
  const missing: Missing[] = ['input', 'output', 'toolCalls'].map((what) => ({ what, why: 'redacted' }))
  return frozen({ ...bare, input: [], toolCalls, steps, missing, content: 'none' })
}

function reduceCall(call: ToolCall): ToolCall {
  const { id, error, spanId, agentName } = call
  return {
    ...(id !== undefined && { id }),
    name: call.name,
    ...(isShort(call.arguments) && { arguments: call.arguments }),
    ...(isShort(call.result) && { result: call.result }),
    ...(error !== undefined && { error: reduceError(error) }),
    status: call.status,
    step: call.step,
    ...(spanId !== undefined && { spanId }),
    ...(agentName !== undefined && { agentName }),
    providerExecuted: call.providerExecuted,
  }
}

function reduceStep({ spanId, model, responseId, usage, finishReasons, status, error }: ModelCall): ModelCall {
  return {
    ...(spanId !== undefined && { spanId }),
    ...(model !== undefined && { model }),
    ...(responseId !== undefined && { responseId }),
    toolCallIds: [],
    usage,
    finishReasons,
    status,
    ...(error !== undefined && { error: reduceError(error) }),
  }
}

function reduceError({ type, message }: NonNullable<AgentRun['error']>): NonNullable<AgentRun['error']> {
  return {
    ...(type !== undefined && { type }),
    ...(message !== undefined && { message: message.slice(0, MAX_ERROR) }),
  }
}

/** What the spans do not hold of the facts that are kept, and what is not kept of them. */
function missingIn(run: AgentRun, kept: readonly ToolCall[]): readonly Missing[] {
  const missing = run.missing.filter(({ what }) => what !== 'systemInstructions' && !what.startsWith('retrievals'))
  const leftOut = (what: string): unknown => missing.push({ what, why: 'limit' })
  if (isCut(run.userInput)) leftOut('input')
  if (isCut(run.output)) leftOut('output')
  leftOut('systemInstructions')
  if (run.availableTools !== undefined) leftOut('availableTools')
  if (run.toolCalls.length > kept.length) leftOut('toolCalls')
  for (const [index, call] of kept.entries()) {
    if (run.toolCalls[index]?.arguments !== call.arguments) leftOut(`toolCalls[${index}].arguments`)
    if (run.toolCalls[index]?.result !== call.result) leftOut(`toolCalls[${index}].result`)
  }
  if (run.retrievals.length > 0) leftOut('retrievals')
  return missing
}

function isShort(value: unknown): boolean {
  return value !== undefined && (JSON.stringify(value) ?? '').length <= MAX_PAYLOAD
}

function isCut(text: string | undefined): boolean {
  return text !== undefined && text.length > MAX_TEXT
}

function cut(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= MAX_TEXT) return text
  const half = MAX_TEXT / 2
  return `${text.slice(0, half).toWellFormed()} … ${text.slice(-half).toWellFormed()}`
}
