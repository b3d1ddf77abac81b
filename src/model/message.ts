/**
 * The neutral form of content: messages, their parts, tool definitions, token usage.
 *
 * The types follow the message JSON of the GenAI semantic conventions (`docs/gen-ai/non-normative/models.py`). Dialects convert their
 * library's format to it. A missing fact is absent: never `null`, never invented.
 */

/** Text of a message. */
export interface TextPart {
  readonly type: 'text'
  readonly content: string
}

/** Reasoning ("thinking") that the model returned beside its answer. It is not part of a message's `text`. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly content: string
}

/** A tool call requested by the model. `arguments` is the parsed JSON value, or the text as written if it is not JSON. */
export interface ToolCallPart {
  readonly type: 'tool_call'
  readonly id?: string
  readonly name: string
  readonly arguments?: unknown
  /** Whether the model's provider runs the tool, according to the library. */
  readonly providerExecuted?: boolean
}

/** A tool's result. `response` is the parsed JSON value, or the text as written if it is not JSON. */
export interface ToolCallResponsePart {
  readonly type: 'tool_call_response'
  readonly id?: string
  readonly response?: unknown
  /** Whether the library marks the response as an error. */
  readonly isError?: boolean
}

/** Any other part (images, files, …), with its payload as the library wrote it. */
export interface OtherPart {
  readonly type: 'blob' | 'file' | 'uri' | 'compaction' | 'unknown'
  readonly value?: unknown
}

/** One part of a message. */
export type Part = TextPart | ReasoningPart | ToolCallPart | ToolCallResponsePart | OtherPart

/** One message of a conversation. */
export interface Message {
  /** `system`, `user`, `assistant` or `tool`; or another role that the library writes. */
  readonly role: string
  /** Name of the participant, if recorded. */
  readonly name?: string
  /** The joined text parts; absent if the message has none. */
  readonly text?: string
  /** Texts, tool calls, tool results and files, in their order. */
  readonly parts: readonly Part[]
}

/** A tool that was offered to the model. */
export interface ToolDefinition {
  /** The name by which the model calls it. */
  readonly name: string
  /** Its description for the model. */
  readonly description?: string
  /** JSON Schema of the arguments, as recorded. */
  readonly parameters?: unknown
}

/** Token counts. */
export interface Usage {
  /** Tokens of the prompt, cached ones included. */
  readonly inputTokens?: number
  /** Tokens of the answer, reasoning included. */
  readonly outputTokens?: number
  /** Input tokens read from a cache. */
  readonly cacheReadTokens?: number
  /** Input tokens written to a cache. */
  readonly cacheWriteTokens?: number
  /** Output tokens used for reasoning. */
  readonly reasoningTokens?: number
}

/** An error, as the library recorded it. */
export interface RunError {
  /** The class of the error, or a code. */
  readonly type?: string
  /** The text of the error. */
  readonly message?: string
}
