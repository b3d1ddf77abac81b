import { randomUUID } from 'node:crypto'

/** How far an invocation has come. `partial-call` is one whose arguments are still streaming in: no call yet. */
export type ToolInvocationState = 'partial-call' | 'call' | 'result' | 'output-error'

/** One call of a tool and its outcome, in the form of a message. */
export interface ToolInvocation {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly state: ToolInvocationState
  /** What went wrong, with the state `output-error`. */
  readonly errorText?: string
  /** True where `result` describes a failure. */
  readonly isError?: boolean
}

/** A message as `createTestMessage` makes it. */
export interface TestMessage {
  readonly id: string
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  readonly content: {
    readonly content: string
    readonly parts: readonly unknown[]
    readonly toolInvocations?: readonly ToolInvocation[]
  }
}

/** What `createTestMessage` takes. */
export interface TestMessageOptions {
  readonly content: string
  readonly role: TestMessage['role']
  /** @default 'test-message' */
  readonly id?: string
  /** @default one text part with `content` */
  readonly parts?: readonly unknown[]
  readonly toolInvocations?: readonly ToolInvocation[]
}

/** The message form of a run, as `createAgentTestRun` makes it. */
export interface AgentTestRun<Output = unknown> {
  readonly runId: string
  readonly input: {
    readonly inputMessages: readonly unknown[]
    readonly systemMessages: readonly unknown[]
    readonly rememberedMessages: readonly unknown[]
    readonly taggedSystemMessages: Readonly<Record<string, readonly unknown[]>>
  }
  readonly output: Output
}

/** What `createAgentTestRun` takes: messages from `createTestMessage`, or in any other form that `.run()` reads. */
export interface AgentTestRunOptions<Output = unknown> {
  readonly inputMessages?: readonly unknown[]
  readonly output: Output
  readonly systemMessages?: readonly unknown[]
  readonly rememberedMessages?: readonly unknown[]
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
