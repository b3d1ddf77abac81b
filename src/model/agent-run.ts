import type { Message, RunError, ToolDefinition, Usage } from './message.ts'

/**
 * One run of an agent, reconstructed from its spans.
 *
 * A missing fact is `undefined`: never `null`, never invented, and named in `missing`. A run is frozen. Content is parsed when it is first
 * read, and `JSON.stringify` and `console.log` include all of it. So do `{ ...run }`, `structuredClone` and the assertions of test libraries,
 * for runs from `readRuns`, `reconstructRuns` and `onScore`, and in a `createScorer` scorer's `.run()`.
 */
export interface AgentRun {
  /** `${traceId}:${spanId}` of the agent span. */
  readonly id: string
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** The agent span's id: 16 lower-case hex digits. */
  readonly spanId: string
  /** The instrumentation of the agent span: `gen-ai`, `ai-sdk`, `openinference`, `openllmetry`, `mastra`, … */
  readonly dialect: string
  /** The agent, as far as the spans name it. */
  readonly agent: { readonly name?: string; readonly id?: string; readonly version?: string }
  /** The conversation or session that the run is part of. */
  readonly conversationId?: string | undefined
  /** The user for whom the agent ran. */
  readonly userId?: string | undefined
  /** The text of all system messages. */
  readonly systemInstructions?: string | undefined
  /** The input of the run, including history, without system instructions. */
  readonly input: readonly Message[]
  /** Text of the last user message of `input`. */
  readonly userInput?: string | undefined
  /** Text of the final answer; JSON text for structured output. */
  readonly output?: string | undefined
  /**
   * Why the run ended without an answer, if it did: `stopped`: it failed, was cancelled or timed out, or its reader left; `waiting`: a person,
   * or a client's tool, has to answer first. Such a run lacks no answer, so `missing` has no entry for it.
   */
  readonly unanswered?: 'stopped' | 'waiting' | undefined
  /** In the model's order, not by time, because parallel calls have no order in time. */
  readonly toolCalls: readonly ToolCall[]
  /** The tools that were offered to the model; `undefined` if they were not recorded. */
  readonly availableTools?: readonly ToolDefinition[] | undefined
  /** The model calls of the agent's loop, in order. */
  readonly steps: readonly ModelCall[]
  /**
   * Model calls that served the run without being part of its loop, in order: guardrails, memory, query rewriting, titles. Of the other
   * facts, only `models` and `usage` include them.
   */
  readonly sideCalls: readonly SideCall[]
  /** Searches for documents or memories, and rerankings of what they found, in order. */
  readonly retrievals: readonly Retrieval[]
  /** Set if another agent's run started this one. */
  readonly parent?: { readonly runId: string; readonly toolCallId?: string } | undefined
  /** Agent runs that this run's tool calls, guardrails or callbacks started. */
  readonly children: readonly AgentRun[]
  /** The models that answered, each once, those of `steps` first. */
  readonly models: readonly string[]
  /** The tokens of all model calls together, side calls included. */
  readonly usage: Usage
  /**
   * `ok`; `error`: it failed; `aborted`: it was stopped from outside; `waiting`: it stopped before its answer, until a person or a client's
   * tool answers a call; `unknown`: the spans do not show how it ended.
   */
  readonly status: 'ok' | 'error' | 'aborted' | 'waiting' | 'unknown'
  /** The error, if the run failed. */
  readonly error?: RunError | undefined
  /** Milliseconds since the epoch. */
  readonly startTimeMs: number
  /** Milliseconds since the epoch. */
  readonly endTimeMs: number
  /** How much content (messages, arguments and results) the spans have: `full`, `partial` or `none`. */
  readonly content: 'full' | 'partial' | 'none'
  /** The facts that are missing from the spans. */
  readonly missing: readonly Missing[]
  /** False if spans of the run were still open, or lost, as far as this process (or file) can know. */
  readonly complete: boolean
  /** 1, or 2 if spans arrived after the run was first closed. */
  readonly revision: number
  /** Attributes of the agent span, without content. */
  readonly attributes: Readonly<Record<string, unknown>>
  /**
   * Attributes of the spans around the run that no instrumentation of agents wrote, such as a customer's plan on the request: at most 32 numbers,
   * booleans and texts of up to 200 characters, the nearest span's first; none of the transport (`http.*`, `url.*`, `db.*`) and no content. Absent if there are none.
   */
  readonly surrounding?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Resource attributes of the process that wrote the agent span. */
  readonly resource: Readonly<Record<string, unknown>>
  /** The instrumentation scope of the agent span. */
  readonly scope: { readonly name: string; readonly version?: string }
  /** Present if a conversation is scored: the other facts are then those of all its runs together. */
  readonly conversation?: Conversation | undefined
}

/** One tool call, as requested by the model and as executed. */
export interface ToolCall {
  /** The model's id for the call. */
  readonly id?: string | undefined
  /** The name of the tool. */
  readonly name: string
  /** Parsed if it was JSON, otherwise the text as written. */
  readonly arguments?: unknown
  /** Parsed if it was JSON, otherwise the text as written. */
  readonly result?: unknown
  /** The error, if the call failed. */
  readonly error?: RunError | undefined
  /**
   * `ok`: the tool returned; `error`: it failed; `waiting`: it has not run, because the run waits for a person's approval or for a client's
   * tool; `rejected`: a person refused it, and it did not run; `not-executed`: the model requested it and no tool ran for another reason (an
   * unknown tool, refused arguments); `unknown`: the spans do not show it.
   */
  readonly status: 'ok' | 'error' | 'waiting' | 'rejected' | 'not-executed' | 'unknown'
  /** Index of the model call that requested it, from 0. Calls of one step are parallel. */
  readonly step: number
  /** 16 lower-case hex digits; absent if the call has no span. */
  readonly spanId?: string | undefined
  /** The trace of that span, if it is not the run's. */
  readonly traceId?: string | undefined
  /** The agent that made the call, if a hand-off changed it. */
  readonly agentName?: string | undefined
  /** Whether the model's provider ran the tool. */
  readonly providerExecuted: boolean
  /** The run that this call started, if the tool is an agent. */
  readonly childRunId?: string | undefined
}

/** One model call. */
export interface ModelCall {
  /** 16 lower-case hex digits; absent if the call has no span of its own. */
  readonly spanId?: string | undefined
  /** The model that answered, or else the requested one. */
  readonly model?: string | undefined
  /** The provider's id of the response. */
  readonly responseId?: string | undefined
  /** Kept for the first and the latest call of the run; the others repeat the history. */
  readonly input?: readonly Message[] | undefined
  /** The model's output. */
  readonly output?: readonly Message[] | undefined
  /** Ids of the tool calls that the model requested. */
  readonly toolCallIds: readonly string[]
  /** Tokens of this call. */
  readonly usage: Usage
  /** The provider's reasons why the model stopped: `stop`, `tool_calls`, `length`. */
  readonly finishReasons: readonly string[]
  /** `ok`; `error`: it failed; `aborted`: it was stopped from outside; `unknown`: the span does not show it. */
  readonly status: 'ok' | 'error' | 'aborted' | 'unknown'
  /** The error, if the call failed. */
  readonly error?: RunError | undefined
}

/** A model call that served the run without being part of its loop. */
export interface SideCall extends ModelCall {
  /**
   * The kind of the span around it: `guardrail`, `memory`, `retrieval` (also of rerankers and embeddings) or `middleware`. `decision`: a
   * decision model chose among given answers. `other`: its own request and the run's answer show that it is not part of the loop.
   */
  readonly kind: 'guardrail' | 'memory' | 'retrieval' | 'middleware' | 'decision' | 'other'
  /** The name of the guardrail, memory, retriever or middleware. */
  readonly name?: string | undefined
}

/** One search for documents or memories, or one reranking of documents. */
export interface Retrieval {
  /** `search`: documents were searched, or a resource was read; `rerank`: found documents were sorted or chosen; `memory`: memories were searched. */
  readonly kind: 'search' | 'rerank' | 'memory'
  /** What was searched for. */
  readonly query?: string | undefined
  /** What was found, best first, at most 200; empty if nothing was. Absent if it was not recorded. */
  readonly documents?: readonly RetrievedDocument[] | undefined
  /** The index, collection, memory store or resource. */
  readonly source?: string | undefined
  /** 16 lower-case hex digits; absent if the model's provider searched. */
  readonly spanId?: string | undefined
  /** `ok`; `error`: it failed; `aborted`: it was stopped from outside; `unknown`: the span does not show it. */
  readonly status: 'ok' | 'error' | 'aborted' | 'unknown'
  /** The error, if it failed. */
  readonly error?: RunError | undefined
  /** The index in `toolCalls` of the tool that searched, if one did. */
  readonly toolCall?: number | undefined
}

/** A document or memory that was found. */
export interface RetrievedDocument {
  /** Its id in the index, or its address. */
  readonly id?: string
  /** Its text. */
  readonly content?: string
  /** How well it fits, on the scale of the retriever; higher is better. */
  readonly score?: number
  /** What the index has about it besides the text. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A fact that is missing from the spans, and why. */
export interface Missing {
  /** `input`, `output`, `systemInstructions`, `toolCalls[2].arguments`, `retrievals[0].documents`, … */
  readonly what: string
  /**
   * `not-captured`: the instrumentation is configured not to record content; `redacted`: the value was replaced before export; `truncated`:
   * a limit cut it; `not-recorded`: the instrumentation never records it; `stored-elsewhere`: the
   * application stored it outside of the spans, which refer to it; `span-lost`: its span is missing; `limit`: spanscore stopped
   * reading at a limit; `undecided`: the spans do not show which of several model calls gave the answer.
   */
  readonly why:
    | 'not-captured'
    | 'redacted'
    | 'truncated'
    | 'not-recorded'
    | 'stored-elsewhere'
    | 'span-lost'
    | 'limit'
    | 'undecided'
  /** The instrumentation's setting that records it, if there is one. */
  readonly switch?: string
}

/**
 * What a user and an agent said to each other, over several runs with one id.
 *
 * Its runs are reduced, because conversations are kept for a while: to the new question, the answer, the calls of tools without long
 * arguments and results, and what each run took. `missing` of each run names the rest with `why: 'limit'`.
 */
export interface Conversation {
  /** The id that its runs have; absent if runs without one were passed to `.run()`. */
  readonly id?: string | undefined
  /** In the order of their starts. */
  readonly turns: readonly ConversationTurn[]
  /** The runs of all turns, in order. */
  readonly runs: readonly AgentRun[]
  /** The user's messages from before the first run, as its request repeats them: at most 20, the latest. */
  readonly earlier: readonly string[]
  /** The start of the first run, in milliseconds since the epoch. */
  readonly startTimeMs: number
  /** The latest end of a run, in milliseconds since the epoch. */
  readonly endTimeMs: number
  /**
   * `idle`: no run came for the idle time; `marked`: a run's spans say that it was the last; `limit`: too many conversations were open;
   * `file`: all of its runs were in the files that were read, or were passed to `.run()`.
   */
  readonly endedBy: 'idle' | 'marked' | 'limit' | 'file'
  /** False if a turn is known to be missing, or a run is incomplete. */
  readonly complete: boolean
  /** `turns`, if some were lost (`span-lost`), could not be redacted (`redacted`), or were too many to keep (`limit`). */
  readonly missing: readonly Missing[]
  /** The number of its runs. */
  readonly revision: number
}

/** A message of the user, and the runs that answered it: more than one if a run waited for an approval, and another one went on. */
export interface ConversationTurn {
  /** The user's message; absent if it was not recorded. */
  readonly user?: string | undefined
  /** The runs, in order. */
  readonly runs: readonly AgentRun[]
}
