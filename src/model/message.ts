/**
 * The neutral form of what was said: messages, their parts, tool definitions, token usage.
 *
 * Shapes follow the GenAI semantic conventions' message JSON (`docs/gen-ai/non-normative/models.py`); dialects translate
 * what their library writes into it. Absent means absent: never `null`, never invented.
 */

/** Text of a message. */
export interface TextPart {
  readonly type: 'text'
  readonly content: string
}

/** Reasoning ("thinking") that the model gave beside its answer. Not part of a message's `text`. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly content: string
}

/** The model asks for a tool. `arguments` is the parsed JSON value, or the text as written where it is not JSON. */
export interface ToolCallPart {
  readonly type: 'tool_call'
  readonly id?: string
  readonly name: string
  readonly arguments?: unknown
  /** True where the library says that the model's provider runs the tool. */
  readonly providerExecuted?: boolean
}

/** What a tool gave back. `response` is the parsed JSON value, or the text as written where it is not JSON. */
export interface ToolCallResponsePart {
  readonly type: 'tool_call_response'
  readonly id?: string
  readonly response?: unknown
  /** True where the library marks the response as an error. */
  readonly isError?: boolean
}

/** Every other part (images, files, server tool calls, …): kept by kind, its payload as the library wrote it. */
export interface OtherPart {
  readonly type: 'blob' | 'file' | 'uri' | 'compaction' | 'server_tool_call' | 'server_tool_call_response' | 'unknown'
  readonly value?: unknown
}

/** One part of a message. */
export type Part = TextPart | ReasoningPart | ToolCallPart | ToolCallResponsePart | OtherPart

/** One message of a conversation. */
export interface Message {
  /** `system`, `user`, `assistant` or `tool`; another string where the library says another. */
  readonly role: string
  /** Name of the participant, where recorded. */
  readonly name?: string
  /** The text parts, joined; absent where the message has none. */
  readonly text?: string
  /** Texts, tool calls, tool results and files, in their order. */
  readonly parts: readonly Part[]
}

/** A tool that the model was offered. */
export interface ToolDefinition {
  /** The name under which the model may call it. */
  readonly name: string
  /** What the model is shown of its purpose. */
  readonly description?: string
  /** JSON Schema of the arguments, as recorded. */
  readonly parameters?: unknown
}

/** Tokens; `inputTokens` includes cached ones, `outputTokens` includes reasoning ones. */
export interface Usage {
  /** Tokens of the prompt, cached ones included. */
  readonly inputTokens?: number
  /** Tokens of the answer, reasoning included. */
  readonly outputTokens?: number
  /** Of the input, those that came out of a cache. */
  readonly cacheReadTokens?: number
  /** Of the input, those that were written to a cache. */
  readonly cacheWriteTokens?: number
  /** Of the output, those of the model's reasoning. */
  readonly reasoningTokens?: number
}

/** What went wrong, as the library recorded it. */
export interface RunError {
  /** The class of the error, or a code. */
  readonly type?: string
  /** The text of the error. */
  readonly message?: string
}
