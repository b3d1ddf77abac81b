import { randomUUID } from 'node:crypto'

/**
 * The state of a tool call. `partial-call`: its arguments are still streaming in, so it does not count as a call yet. `call`: the tool
 * has not answered. `result`: the tool has answered. `output-error`: the tool failed.
 */
export type ToolInvocationState = 'partial-call' | 'call' | 'result' | 'output-error'

/** A tool call and its result, as messages hold them. */
export interface ToolInvocation {
  /** The id that links the call with its result. */
  readonly toolCallId: string
  /** Name of the tool. */
  readonly toolName: string
  /** Arguments of the call. */
  readonly args: Readonly<Record<string, unknown>>
  /** Result of the tool; absent until there is one. */
  readonly result?: unknown
  /** State of the call. */
  readonly state: ToolInvocationState
  /** The error message, with the state `output-error`. */
  readonly errorText?: string
  /** True if `result` describes a failure. */
  readonly isError?: boolean
}

/** A message that `createTestMessage` creates. */
export interface TestMessage {
  /** @default 'test-message' */
  readonly id: string
  /** The author of the message. */
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  /** The text, its parts, and the tool calls. */
  readonly content: {
    readonly content: string
    readonly parts: readonly unknown[]
    readonly toolInvocations?: readonly ToolInvocation[]
  }
}

/** What `createTestMessage` takes. */
export interface TestMessageOptions {
  /** The text of the message. */
  readonly content: string
  /** The author of the message. */
  readonly role: TestMessage['role']
  /** @default 'test-message' */
  readonly id?: string
  /** @default one text part with `content` */
  readonly parts?: readonly unknown[]
  /** Calls of tools that the message makes. */
  readonly toolInvocations?: readonly ToolInvocation[]
}

/** A run in the form of messages, as `createAgentTestRun` creates it. */
export interface AgentTestRun<Output = unknown> {
  /** The id that was passed, otherwise a UUID. */
  readonly runId: string
  /** The messages before the run. */
  readonly input: {
    readonly inputMessages: readonly unknown[]
    readonly systemMessages: readonly unknown[]
    readonly rememberedMessages: readonly unknown[]
    readonly taggedSystemMessages: Readonly<Record<string, readonly unknown[]>>
  }
  /** Output of the run. */
  readonly output: Output
}

/** What `createAgentTestRun` takes: messages from `createTestMessage`, or in any other form that `.run()` reads. */
export interface AgentTestRunOptions<Output = unknown> {
  /** The messages that the run received. @default [] */
  readonly inputMessages?: readonly unknown[]
  /** The answer of the run: messages, or anything else that `.run()` reads. */
  readonly output: Output
  /** System messages of the run. @default [] */
  readonly systemMessages?: readonly unknown[]
  /** Messages of the conversation before the run. @default [] */
  readonly rememberedMessages?: readonly unknown[]
  /** System messages by a tag. @default {} */
  readonly taggedSystemMessages?: Readonly<Record<string, readonly unknown[]>>
  /** @default a UUID */
  readonly runId?: string
}

/**
 * Creates a tool call for `createTestMessage`.
 *
 * @example
 * ```ts
 * createToolInvocation({ toolCallId: 'call-1', toolName: 'weather-tool', args: { city: 'Oslo' }, result: { celsius: 4 }, state: 'result' })
 * ```
 */
export function createToolInvocation(invocation: ToolInvocation): ToolInvocation {
  return { ...invocation }
}

/** Creates a message with text, parts and tool calls for `createAgentTestRun`. */
export function createTestMessage(options: TestMessageOptions): TestMessage {
  const { content, role, id = 'test-message', parts = [{ type: 'text', text: content }], toolInvocations } = options
  return { id, role, content: { content, parts, ...(toolInvocations !== undefined && { toolInvocations }) } }
}

/**
 * Creates an agent run for `scorer.run()` from messages.
 *
 * @example
 * ```ts
 * const run = createAgentTestRun({
 *   inputMessages: [createTestMessage({ role: 'user', content: 'Is it raining in Oslo?' })],
 *   output: [createTestMessage({ role: 'assistant', content: 'It is.' })],
 * })
 * ```
 */
export function createAgentTestRun<Output>(options: AgentTestRunOptions<Output>): AgentTestRun<Output> {
  const {
    runId = randomUUID(),
    output,
    inputMessages = [],
    systemMessages = [],
    rememberedMessages = [],
    taggedSystemMessages = {},
  } = options
  return {
    runId,
    input: { inputMessages, systemMessages, rememberedMessages, taggedSystemMessages },
    output,
  }
}

/** Creates a run from one prompt and its answer, which is text, a message, or an agent's return value. */
export function createTestRun<Response>(
  prompt: string,
  response: Response,
): { readonly input: readonly [{ readonly role: 'user'; readonly content: string }]; readonly output: Response } {
  return { input: [{ role: 'user', content: prompt }], output: response }
}
