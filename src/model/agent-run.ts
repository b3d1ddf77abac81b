import type { Message, RunError, ToolDefinition, Usage } from './message.ts'

/**
 * One run of an agent, put together from its spans.
 *
 * Absent means absent: never `null`, never invented. What the spans do not hold is named in `missing`. Content is parsed
 * when it is asked for; `JSON.stringify` of a run gives all of it.
 */
export interface AgentRun {
  /** `${traceId}:${spanId}` of the agent span. */
  readonly id: string
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** Of the agent's span: 16 lower-case hex digits. */
  readonly spanId: string
  /** Who wrote the agent span: `gen-ai`, `ai-sdk`, `openinference`, `openllmetry`, `mastra`, … */
  readonly dialect: string
  /** Who ran, as far as the spans name it. */
  readonly agent: { readonly name?: string; readonly id?: string; readonly version?: string }
  /** The conversation or session that the run is part of. */
  readonly conversationId?: string | undefined
  /** The user on whose behalf the agent ran. */
  readonly userId?: string | undefined
  /** The text of all system messages. */
  readonly systemInstructions?: string | undefined
  /** What the run was given: history included, system instructions excluded. */
  readonly input: readonly Message[]
  /** Text of the last user message of `input`. */
  readonly userInput?: string | undefined
  /** The final answer's text; JSON text for structured output. */
  readonly output?: string | undefined
  /** In the model's order, not by time: parallel calls tie. */
  readonly toolCalls: readonly ToolCall[]
  /** The tools that the model was offered; `undefined` if that is not recorded. */
  readonly availableTools?: readonly ToolDefinition[] | undefined
  /** The calls of models, in their order. */
  readonly steps: readonly ModelCall[]
  /** Where another agent's run started this one. */
  readonly parent?: { readonly runId: string; readonly toolCallId?: string } | undefined
  /** Runs of agents that this run's tool calls started. */
  readonly children: readonly AgentRun[]
  /** The models that answered, as the spans name them, each once. */
  readonly models: readonly string[]
  /** The tokens of all model calls together. */
  readonly usage: Usage
  /** `ok`; `error`: it failed; `aborted`: it was ended from outside; `unknown`: the spans do not show how it ended. */
  readonly status: 'ok' | 'error' | 'aborted' | 'unknown'
  /** What went wrong, where the run failed. */
  readonly error?: RunError | undefined
  /** Milliseconds since the epoch. */
  readonly startTimeMs: number
  /** Milliseconds since the epoch. */
  readonly endTimeMs: number
  /** How much of messages, arguments and results the spans hold: `full`, all of it; `partial`, some of it; `none`. */
  readonly content: 'full' | 'partial' | 'none'
  /** The facts that the spans do not hold. */
  readonly missing: readonly Missing[]
  /** False where spans of the run were still open, or lost. Speaks of the spans that this process (or file) saw. */
  readonly complete: boolean
  /** 1, or 2 where spans came after the run was first closed. */
  readonly revision: number
  /** Attributes of the agent span, content excluded. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Resource attributes of the process that wrote the agent span. */
  readonly resource: Readonly<Record<string, unknown>>
  /** The instrumentation scope of the agent span. */
  readonly scope: { readonly name: string; readonly version?: string }
}

/** One call of a tool, as the model asked for it and as it was executed. */
export interface ToolCall {
  /** The model's id of the call. */
  readonly id?: string | undefined
  /** The name of the tool. */
  readonly name: string
  /** Parsed where it was JSON, else the text as written. */
  readonly arguments?: unknown
  /** Parsed where it was JSON, else the text as written. */
  readonly result?: unknown
  /** What went wrong, where the call failed. */
  readonly error?: RunError | undefined
  /**
   * `ok`: the tool returned; `error`: it failed; `not-executed`: the model asked and no tool ran (an unknown tool, refused
   * arguments, a client's tool); `unknown`: the spans do not show it.
   */
  readonly status: 'ok' | 'error' | 'not-executed' | 'unknown'
  /** Index of the model call that asked for it, from 0. Calls of one step are parallel. */
  readonly step: number
  /** 16 lower-case hex digits; absent where the call has no span. */
  readonly spanId?: string | undefined
  /** The agent that made the call, where a hand-off changed it. */
  readonly agentName?: string | undefined
  /** True where the model's provider ran the tool. */
  readonly providerExecuted: boolean
  /** The run that this call started, where the tool is an agent. */
  readonly childRunId?: string | undefined
}

/** One call of a model. */
export interface ModelCall {
  /** 16 lower-case hex digits; absent where the call has no span of its own. */
  readonly spanId?: string | undefined
  /** The model that answered, else the one that was asked. */
  readonly model?: string | undefined
  /** The provider's id of the response. */
  readonly responseId?: string | undefined
  /** Kept for the first and the latest call of the run; the others repeat the history. */
  readonly input?: readonly Message[] | undefined
  /** What the model answered. */
  readonly output?: readonly Message[] | undefined
  /** Ids of the tool calls that the model asked for. */
  readonly toolCallIds: readonly string[]
  /** Tokens of this call. */
  readonly usage: Usage
  /** Why the model stopped, in the provider's words: `stop`, `tool_calls`, `length`. */
  readonly finishReasons: readonly string[]
  /** `ok`; `error`: it failed; `aborted`: it was ended from outside; `unknown`: the span does not show it. */
  readonly status: 'ok' | 'error' | 'aborted' | 'unknown'
  /** What went wrong, where the call failed. */
  readonly error?: RunError | undefined
}

/** A fact that the spans do not hold, and why. */
export interface Missing {
  /** `input`, `output`, `systemInstructions`, `toolCalls[2].arguments`, … */
  readonly what: string
  /**
   * `not-captured`: the instrumentation does not record content as it is set up; `redacted`: the value was replaced before it was
   * exported; `truncated`: a limit cut it; `not-recorded`: the instrumentation never records it; `span-lost`: its span is not
   * there; `limit`: spanscore read no further.
   */
  readonly why: 'not-captured' | 'redacted' | 'truncated' | 'not-recorded' | 'span-lost' | 'limit'
  /** The setting of the instrumentation that records it, where there is one. */
  readonly switch?: string
}
