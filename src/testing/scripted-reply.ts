/** A tool call that the scripted model asks for. */
export interface ScriptedToolCall {
  /** The tool that the model calls. */
  readonly name: string
  /** A value, which is sent as JSON, or a string, which is sent unchanged. */
  readonly arguments: unknown
  /** @default `call_<request>_<position>` */
  readonly id?: string
}

/** The reply of the scripted server to one request. A plain string means `{ text }`. */
export interface ScriptedReply {
  /** Text of the reply. */
  readonly text?: string
  /** Tools that the model calls. */
  readonly toolCalls?: readonly ScriptedToolCall[]
  /** Text of a refusal, sent in OpenAI's field for refusals. */
  readonly refusal?: string
  /** `stop`, `length`, `content_filter` or `tool_calls`. @default `tool_calls` if there are any, otherwise `stop` */
  readonly finishReason?: 'stop' | 'length' | 'content_filter' | 'tool_calls'
  /** Tokens. @default a quarter of the characters sent and received; `null` sends none */
  readonly usage?: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cachedInputTokens?: number
    readonly reasoningTokens?: number
  } | null
  /** The model name in the reply. @default the requested model */
  readonly model?: string
  /** HTTP status. @default 200 */
  readonly status?: number
  /** HTTP headers beside the usual ones, such as `{ 'retry-after-ms': '20' }`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The error object of the body, for a status of 400 and above. */
  readonly error?: { readonly message: string; readonly type?: string; readonly code?: string }
  /** Sent unchanged instead of a well-formed body. */
  readonly rawBody?: string
  /** Milliseconds before anything is sent. @default 0 */
  readonly delayMs?: number
  /** `hang`: nothing is ever sent. `cut`: half of the body is sent, then the connection is torn down. */
  readonly fault?: 'hang' | 'cut'
}

/** A message of a request, in the same form for both APIs. */
export interface ScriptedMessage {
  /** `system`, `user`, `assistant` or `tool`. */
  readonly role: string
  /** All texts of the message. */
  readonly text: string
  /** Names of the tools that an assistant message calls. */
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  /** In a tool result: the id of its call. */
  readonly toolCallId?: string
}

/** One request as it arrived, in a form that is the same for both APIs. */
export interface ScriptedRequest {
  /** Index in the order of arrival, from 0. */
  readonly index: number
  /** `chat` for Chat Completions, `responses` for the Responses API. */
  readonly api: 'chat' | 'responses'
  /** The requested model. */
  readonly model: string
  /** Whether the request asks for a stream. */
  readonly stream: boolean
  /** The text of the system messages, separated by blank lines. */
  readonly system: string
  /** All messages except system messages. */
  readonly messages: readonly ScriptedMessage[]
  /** Text of the last user message; empty if there is none. */
  readonly userText: string
  /** Results of tools after the last user message, in order. */
  readonly toolResults: readonly ScriptedMessage[]
  /** Tools that the model may call. */
  readonly toolNames: readonly string[]
  /** HTTP headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Replies in order, or a function that answers each request. */
export type Script =
  | readonly (string | ScriptedReply)[]
  | ((request: ScriptedRequest) => string | ScriptedReply | Promise<string | ScriptedReply>)
