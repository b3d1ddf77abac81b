import type { AgentRun, ModelCall, Retrieval, SideCall, ToolCall } from './agent-run.ts'

/** The names of all properties of a type. The compiler asks for each that is not there. */
export type Facts<T> = { readonly [Fact in keyof Required<T>]: true }

type AnyFact = keyof AgentRun | keyof ToolCall | keyof SideCall | keyof Retrieval

/** The names of all properties of one of these types. The compiler also refuses a name that only the others have. */
type OnlyFacts<T> = Facts<T> & { readonly [Fact in Exclude<AnyFact, keyof T>]?: never }

/** An object with every fact of a type, also with those that it may leave out. The compiler asks for each that is not there. */
export type WithAll<T> = { readonly [Fact in keyof Facts<T>]: Fact extends keyof T ? T[Fact] : never }

/** The facts of a run, in the order in which JSON has them. Whatever goes through all facts of a run goes through these. */
export const AGENT_RUN_FACTS: OnlyFacts<AgentRun> = {
  ...facts('id', 'traceId', 'spanId', 'dialect', 'agent', 'conversationId', 'userId', 'systemInstructions', 'input'),
  ...facts(
    'userInput',
    'output',
    'unanswered',
    'toolCalls',
    'availableTools',
    'steps',
    'sideCalls',
    'retrievals',
    'parent',
  ),
  ...facts('children', 'models', 'usage', 'status', 'error', 'startTimeMs', 'endTimeMs', 'content', 'missing'),
  ...facts('complete', 'revision', 'attributes', 'surrounding', 'resource', 'scope', 'conversation'),
}

/** The facts of a tool call. */
export const TOOL_CALL_FACTS: OnlyFacts<ToolCall> = {
  ...facts('id', 'name', 'arguments', 'result', 'error', 'status', 'step', 'spanId', 'traceId', 'agentName'),
  ...facts('providerExecuted', 'childRunId'),
}

/** The facts of a model call. */
export const MODEL_CALL_FACTS: OnlyFacts<ModelCall> = {
  ...facts(
    'spanId',
    'model',
    'responseId',
    'input',
    'output',
    'toolCallIds',
    'usage',
    'finishReasons',
    'status',
    'error',
  ),
}

/** The facts of a model call that served the run without being a step. */
export const SIDE_CALL_FACTS: OnlyFacts<SideCall> = { ...MODEL_CALL_FACTS, ...facts('kind', 'name') }

/** The facts of a retrieval. */
export const RETRIEVAL_FACTS: OnlyFacts<Retrieval> = {
  ...facts('kind', 'query', 'documents', 'source', 'spanId', 'status', 'error', 'toolCall'),
}

/** A table of these names. */
export function facts<Fact extends AnyFact>(...names: readonly Fact[]): { readonly [Name in Fact]: true } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each
  return Object.fromEntries(names.map((name) => [name, true])) as { readonly [Name in Fact]: true }
}

/** Reads these facts of an object into a plain one. Facts that the object lacks are left out. */
export function plain<T, Fact extends keyof T>(object: T, names: { readonly [Name in Fact]: true }): Pick<T, Fact> {
  const read: Partial<Pick<T, Fact>> = {}
  for (const name in names) if (object[name] !== undefined) read[name] = object[name]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fact that is required is there
  return read as Pick<T, Fact>
}

/** The facts of a run that are always lists. Every reader of a run goes through them. */
export const RUN_LISTS: readonly (keyof AgentRun)[] = [
  'input',
  'toolCalls',
  'steps',
  'sideCalls',
  'retrievals',
  'children',
  'models',
  'missing',
]
