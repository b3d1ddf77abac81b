import type { Retrieval, RetrievedDocument } from '../model/agent-run.ts'
import type { Message, RunError, ToolCallPart, ToolDefinition, Usage } from '../model/message.ts'
import type { AsideKind } from './asides.ts'
import type { SourceLog, SourceSpan } from './source-span.ts'

/**
 * The role of a span in a run.
 *
 * - `agent`: the run of an agent. The outermost one starts a run; one below a tool call is a child run; one directly below another agent
 * continues that agent's run (a hand-off).
 * - `entry`: encloses the work, and is the agent if no agent is above or below it and models or tools are below it (a workflow, a chain, a
 * flow, a trace wrapper). Otherwise it is a `step`.
 * - `model`: one model call. A model span inside another one is the same call, recorded by a second instrumentation.
 * - `tool`: one execution of a tool. A tool span inside another of the same name is the same call (MCP client and server).
 * - `handoff`: one agent hands over to another, in libraries with a separate span for it.
 * - `aside`: serves the run without being its loop (a guardrail, memory, a retriever, middleware). Model calls directly below it are side calls;
 * an agent below it is a child run.
 * - `step`: part of the run without facts of its own (loop cycles, model chunks).
 * - `evaluator`: evaluates runs. It and everything below it belong to no run.
 * - `none`: recognised but ignored.
 */
export type SpanRole = 'agent' | 'entry' | 'model' | 'tool' | 'handoff' | 'aside' | 'step' | 'evaluator' | 'none'

/** The agent of an agent span. */
export interface AgentIdentity {
  readonly name?: string
  readonly id?: string
  readonly version?: string
}

/** The model that answered. */
export interface ModelIdentity {
  /** The model that answered, or else the requested one. */
  readonly model?: string
  readonly responseId?: string
  readonly finishReasons?: readonly string[]
}

/** The tool that was called. */
export interface ToolIdentity {
  readonly name: string
  /** The model's id for the call. */
  readonly id?: string
  /** Whether the model's provider executed it. */
  readonly providerExecuted?: boolean
  /** The name of the agent that the tool starts, if the call has it. Used for agents whose own spans have no name. */
  readonly agentName?: string
  /** False if the span says that the tool did not run (unknown tool, refused arguments). */
  readonly executed?: boolean
  /** True if the span does not show whether the tool came to its end: it may wait for an approval, or was cancelled. */
  readonly mayBeOpen?: boolean
  /** Whether the span says that a person refused the call, so that the tool did not run. */
  readonly rejected?: boolean
}

/** A search, or a reranking of what was found. */
export interface RetrievalRequest {
  readonly kind: Retrieval['kind']
  readonly query?: string | undefined
  /** The index, collection, store or resource. */
  readonly source?: string | undefined
}

/** How a span's work ended; `waiting`: it was interrupted until a person, or a client's tool, answers. */
export interface SpanOutcome {
  readonly status: 'ok' | 'error' | 'aborted' | 'waiting' | 'unknown'
  readonly error?: RunError
  /** For an agent that waits: the id of the call for which it does, if its span shows it. */
  readonly waitsFor?: string
}

/** How a run goes on with an earlier one that waited. */
export interface Resumption {
  /** The ids of the calls that were answered, if the agent's span shows them. */
  readonly answered?: ReadonlySet<string>
  /** The call that a person refused, if the agent's span shows it. */
  readonly refused?: ToolCallPart
  /** Whether a person refused each call, in the model's order, if the agent's span shows it. */
  readonly refusals?: readonly boolean[]
}

/** Who runs a tool: the agent's own program, the same once a person has approved the call, or a client. */
export type ToolRunner = 'agent' | 'agent if approved' | 'client'

/** A fact that may be missing if content capture is off. */
export type ContentFact =
  | 'systemInstructions'
  | 'input'
  | 'output'
  | 'toolDefinitions'
  | 'toolCalls'
  | 'toolArguments'
  | 'toolResult'
  | 'documents'

/** Why a fact is missing, and what would record it. */
export interface Absence {
  readonly why: 'not-captured' | 'redacted' | 'truncated' | 'not-recorded' | 'stored-elsewhere' | 'limit'
  /** The exact setting of the instrumentation. */
  readonly switch?: string
}

/**
 * The way in which one instrumentation writes spans: an object of pure functions over one span. They return exactly what the library
 * writes, guess nothing, and return `undefined` for what is missing.
 *
 * `recognises` and `roleOf` run for every span of the process, at its start with few or no attributes and again at its end, so they only
 * compare strings and keys. All other functions run when a fact is read; those for content run at most once per span. They may throw on
 * hostile input, which `SpanFacts` turns into `undefined`.
 *
 * To add a dialect, add a file in `dialects/` and a line in `dialects/all.ts`.
 */
export interface Dialect {
  /** `gen-ai`, `ai-sdk`, `openinference`, … as in `AgentRun.dialect`. */
  readonly name: string
  /**
   * The prefixes, including the separator, of all attribute keys that `recognises` reads: `gen_ai.`, `genkit:`. Empty if the scope alone
   * decides. `recognises` is only called for spans that have such a key or a name of `names`, and for spans whose scope suffices.
   */
  readonly namespaces?: readonly string[]
  /** Prefixes of span names by which `recognises` identifies a span that has no attributes yet. */
  readonly names?: readonly string[]
  /** The attributes that determine a span's role. The role is final once one of them is set. */
  readonly kindKeys?: readonly string[]
  /**
   * Whether an open span that has one of the `kindKeys` may still become an agent at its end.
   */
  mayBecomeAgent?(span: SourceSpan): boolean
  /** Whether the span is this library's, by its scope, attributes or name. */
  recognises(scopeName: string, attributes: Readonly<Record<string, unknown>>, spanName: string): boolean
  /**
   * For libraries that only their scope distinguishes, and files that lost the names of scopes: the dialect that reads the library's spans
   * then, and whether a span shows that all those of its trace are this library's.
   */
  readonly withoutScope?: {
    readonly readAs: Dialect
    isShownBy(span: SourceSpan): boolean
    /** Whether a span may be this library's, and not that of the model's client. Default: all. */
    covers?(span: SourceSpan): boolean
  }
  /** The role of the span in its run. */
  roleOf(span: SourceSpan): SpanRole
  /**
   * What the span does if it serves the run without being its loop; its role is then `aside`, whatever `roleOf` returns, unless that is `model`
   * or `tool`. Like `roleOf`, it runs for every span, and only compares strings.
   */
  aside?(span: SourceSpan): AsideKind | undefined
  /**
   * For roles `agent` and `entry`: whether all agents directly below form one run and hand over to one another (an enclosing trace, a
   * swarm, a graph). That run is this span's, under the name of the first agent.
   */
  isSingleRun?(span: SourceSpan): boolean
  /**
   * `always`: every tool that runs has a span, so a call without one was not executed. `always-or-refused`: likewise, and the library itself
   * answers calls that it does not execute, so that an answer without a span does not show that a span is lost. `sometimes` (the default): calls without a span may
   * have been executed. `unless-failed`: a tool that throws loses its span, so a call without a span whose result reads like an error
   * failed.
   */
  readonly toolSpans?: 'always' | 'always-or-refused' | 'sometimes' | 'unless-failed'

  /** The agent of an agent or entry span; for any other span the agent for which it ran, if known. */
  agent?(span: SourceSpan): AgentIdentity | undefined
  /** The library's own attribute keys of the conversation, best first. `gen_ai.conversation.id` and `session.id` are read of every span. */
  readonly conversationKeys?: readonly string[]
  /** Attribute keys with the JSON of a request or reply, whose `conversation` is OpenAI's id of a conversation. */
  readonly conversationIn?: readonly string[]
  /** The library's own attribute keys of the user for whom the agent ran. `user.id` and `enduser.id` are read of every span. */
  readonly userKeys?: readonly string[]
  /** Default: the span's status, then its exception event (see `outcomeOf`). */
  outcome?(span: SourceSpan): SpanOutcome

  /** For agent and model spans: system instructions outside of the messages. System messages in `input` are found without this. */
  systemInstructions?(span: SourceSpan, logs: readonly SourceLog[]): string | undefined
  /** For agent and model spans: the input with its history. System messages may be included; the run removes them. */
  input?(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined
  /** For agent spans: the final answer. For model spans: the model's output, including tool calls. */
  output?(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined
  /**
   * For agent spans: whether `output` is the form of the answer that the library returns to its caller, unlike the text of the last model
   * call. Otherwise that text takes precedence.
   */
  hasFinalForm?(span: SourceSpan): boolean
  /** For model spans: the tool calls of `output`, if they can be read without parsing all of it; otherwise `undefined`. */
  toolCalls?(span: SourceSpan, logs: readonly SourceLog[]): readonly ToolCallPart[] | undefined
  /**
   * For model spans: at most how many tool calls `input` has, counted without parsing it; `undefined` if that is not possible. It saves
   * parsing the request of the last model call, which repeats all others.
   */
  callsInInput?(span: SourceSpan): number | undefined
  /** For agent spans: all messages of the run in order, if the library lists them (input, calls, results, answer). */
  transcript?(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined
  /**
   * For agent spans: set if the run goes on with an earlier one, after what that one waited for was answered. The first request then repeats
   * the calls that the earlier run asked for.
   */
  resumption?(span: SourceSpan, logs: readonly SourceLog[]): Resumption | undefined
  /** For model spans of a run whose agent's span is the library's: who runs a tool that was offered, if the span shows it. */
  runnerOf?(span: SourceSpan, toolName: string): ToolRunner | undefined
  /** For agent and model spans: the tools that were offered. */
  toolDefinitions?(span: SourceSpan, logs: readonly SourceLog[]): readonly ToolDefinition[] | undefined

  /** For model spans: whether the client may have called tools by itself, in further model calls that have no span. */
  mayHideCalls?(span: SourceSpan): boolean

  /** For model spans. */
  model?(span: SourceSpan): ModelIdentity | undefined
  /** For model spans, and agent spans with the sum. */
  usage?(span: SourceSpan): Usage | undefined

  /** For tool and hand-off spans. */
  tool?(span: SourceSpan): ToolIdentity | undefined
  /** For tool spans: the parsed JSON value, or the text as written. */
  toolArguments?(span: SourceSpan, logs: readonly SourceLog[]): unknown
  /** For tool spans: the tool's return value without the library's envelope. `null` is a result; `undefined` means none. */
  toolResult?(span: SourceSpan, logs: readonly SourceLog[]): unknown

  /** For spans whose `aside` is `retrieval` or `memory`: what was searched for; `undefined` if nothing was (embeddings, stored memories). */
  retrieval?(span: SourceSpan, logs: readonly SourceLog[]): RetrievalRequest | undefined
  /** For the same spans: what was found, best first; empty if nothing was. */
  documents?(span: SourceSpan, logs: readonly SourceLog[]): readonly RetrievedDocument[] | undefined

  /**
   * Called if a content fact is `undefined`. Default: `not-recorded`, without a setting. For system instructions and tool definitions,
   * which are optional in a run, `undefined` means that there were none.
   */
  absence?(span: SourceSpan, fact: ContentFact, logs: readonly SourceLog[]): Absence | undefined
  /** What only one library does. */
  readonly quirks?: Quirks

  /** Attribute keys with message or tool content. A key that ends in `*` is a prefix. */
  readonly contentKeys?: readonly string[]
  /** Keys with content on this dialect's spans that are too common to count as content on other spans. */
  readonly ownContentKeys?: readonly string[]
}

/** What the spans of one library do, and those of no other that is known. A new dialect needs none of these, until its recordings show it. */
export interface Quirks {
  /**
   * Whether a model span may enclose a whole loop of calls: one with an `entry` of the library directly below it does, and is an `entry`
   * itself. Only for libraries of other languages: in files, spans are placed after all of them are known.
   */
  readonly modelsEncloseLoops?: boolean

  /**
   * Whether a model span of the library inside another one is a call of its own. By default it is the same call, recorded twice.
   */
  readonly modelsNest?: boolean

  /**
   * Whether a model's client writes these spans itself. An instrumentation of the client may then record each call again, around or beside
   * it.
   */
  readonly isOfClient?: boolean

  /** Which of two formats this is, if the library can write each run in two at the same time, in separate traces. */
  readonly formOfTwo?: 'newer' | 'older'

  /**
   * Whether parents do not show where a span belongs, because the library writes the spans of a run side by side. Then the agents' `input`
   * and `transcript`, the models' `input` and the tools' ids do.
   */
  isFlat?(span: SourceSpan): boolean

  /**
   * For agent spans: whether the library writes an agent that a tool starts as a sibling of the tool's agent. The tool that started it ran
   * for as long as the agent and received its question.
   */
  startsBesideItsTool?(span: SourceSpan): boolean

  /** Whether the library returns the last text of its agents, which it runs one after another. Nothing else states the answer then. */
  readonly returnsLastText?: boolean

  /**
   * For model spans of a library that writes the spans of one request in several traces: what identifies the request. It connects model
   * calls without content, which cannot be connected by their messages.
   */
  requestId?(span: SourceSpan): string | undefined

  /** The scope of the log records that the dialect reads, besides the events of the GenAI conventions. */
  readonly logScope?: string

  /** Whether what the span has as `gen_ai.conversation.id` identifies something else. */
  isNoConversation?(attributes: Readonly<Record<string, unknown>>): boolean

  /**
   * For agent spans: the span of an earlier run that the run goes on with, if the library writes it below that one. All spans of the run have it.
   * The run is one of its own.
   */
  resumedFrom?(span: SourceSpan): string | undefined

  /**
   * Set if an agent span has the sum of the tokens whenever it completes. Then an agent span without the sum, whose tool calls have token
   * counts, ended like this in a model call without a span.
   */
  readonly endsWithoutSum?: 'error' | 'aborted'
}
