import { randomUUID } from 'node:crypto'

/**
 * How far an invocation has come: `partial-call`, its arguments are still streaming in, so that it is no call yet; `call`, the tool
 * has not answered; `result`, it has; `output-error`, it failed.
 */
export type ToolInvocationState = 'partial-call' | 'call' | 'result' | 'output-error'

/** One call of a tool and its outcome, in the form of a message. */
export interface ToolInvocation {
  /** The id by which call and result belong together. */
  readonly toolCallId: string
  /** The tool. */
  readonly toolName: string
  /** What the tool was given. */
  readonly args: Readonly<Record<string, unknown>>
  /** What the tool gave; absent while it has given nothing. */
  readonly result?: unknown
  /** How far the call has come. */
  readonly state: ToolInvocationState
  /** What went wrong, with the state `output-error`. */
  readonly errorText?: string
  /** True where `result` describes a failure. */
  readonly isError?: boolean
}

/** A message as `createTestMessage` makes it. */
export interface TestMessage {
  /** @default 'test-message' */
  readonly id: string
  /** Who speaks. */
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  /** The text, its parts, and the calls of tools. */
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
  /** Who speaks. */
  readonly role: TestMessage['role']
  /** @default 'test-message' */
  readonly id?: string
  /** @default one text part with `content` */
  readonly parts?: readonly unknown[]
  /** Calls of tools that the message makes. */
  readonly toolInvocations?: readonly ToolInvocation[]
}

/** The message form of a run, as `createAgentTestRun` makes it. */
export interface AgentTestRun<Output = unknown> {
  /** The id that was given, else a UUID. */
  readonly runId: string
  /** The messages before the run. */
  readonly input: {
    readonly inputMessages: readonly unknown[]
    readonly systemMessages: readonly unknown[]
    readonly rememberedMessages: readonly unknown[]
    readonly taggedSystemMessages: Readonly<Record<string, readonly unknown[]>>
  }
  /** What the run answered. */
  readonly output: Output
}

/** What `createAgentTestRun` takes: messages from `createTestMessage`, or in any other form that `.run()` reads. */
export interface AgentTestRunOptions<Output = unknown> {
  /** What the run was given. @default [] */
  readonly inputMessages?: readonly unknown[]
  /** What the run answered: messages, or anything else that `.run()` reads. */
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
 * Makes one call of a tool for `createTestMessage`.
 *
 * @example
 * ```ts
 * createToolInvocation({ toolCallId: 'call-1', toolName: 'weather-tool', args: { city: 'Oslo' }, result: { celsius: 4 }, state: 'result' })
 * ```
 */
export function createToolInvocation(invocation: ToolInvocation): ToolInvocation {
  return { ...invocation }
}

/** Makes a message with text, parts and tool calls for `createAgentTestRun`. */
export function createTestMessage(options: TestMessageOptions): TestMessage {
  const { content, role, id = 'test-message', parts = [{ type: 'text', text: content }], toolInvocations } = options
  return { id, role, content: { content, parts, ...(toolInvocations !== undefined && { toolInvocations }) } }
}

/**
 * Makes the run of an agent for `scorer.run()` out of messages.
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

/** Makes a run of one prompt and its answer: text, a message, or what an agent returned. */
export function createTestRun<Response>(
  prompt: string,
  response: Response,
): { readonly input: readonly [{ readonly role: 'user'; readonly content: string }]; readonly output: Response } {
  return { input: [{ role: 'user', content: prompt }], output: response }
}
