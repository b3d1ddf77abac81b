import type { Message, RunError, ToolCallPart, ToolDefinition, Usage } from '../model/message.ts'
import type { SourceLog, SourceSpan } from './source-span.ts'

/**
 * What a span is to a run.
 *
 * - `agent`: the run of an agent. The outermost one starts a run; one below a tool call is a child run; one directly below
 *   another agent continues that agent's run (a hand-off).
 * - `entry`: is around the work and may turn out to be the agent: where no agent is around it, none below it, and
 *   models or tools do (a workflow, a chain, a flow, a trace wrapper). Otherwise it is a `step`.
 * - `model`: one call of a model. A model span inside another one is the same call, seen by a second instrumentation.
 * - `tool`: one execution of a tool. One inside another of the same name is the same call (MCP client and server).
 * - `handoff`: one agent hands over to another, where the library has a span of its own for it.
 * - `step`: belongs to the run, says nothing of its own (loop cycles, model chunks, memory).
 * - `evaluator`: judges runs; it and all below it belong to no run.
 * - `none`: recognised, and of no interest.
 */
export type SpanRole = 'agent' | 'entry' | 'model' | 'tool' | 'handoff' | 'step' | 'evaluator' | 'none'

/** Who an agent span speaks of. */
export interface AgentIdentity {
  readonly name?: string
  readonly id?: string
  readonly version?: string
}

/** Which model answered. */
export interface ModelIdentity {
  /** The model that answered, else the one that was asked for. */
  readonly model?: string
  readonly responseId?: string
  readonly finishReasons?: readonly string[]
}

/** Which tool was called. */
export interface ToolIdentity {
  readonly name: string
  /** The model's id of the call. */
  readonly id?: string
  /** True where the model's provider executed it. */
  readonly providerExecuted?: boolean
  /** The agent that the tool starts, where the call says whom: for agents whose own spans do not say their names. */
  readonly agentName?: string
  /** False where the span says that the tool did not run (unknown tool, refused arguments). */
  readonly executed?: boolean
}

/** How the work of a span ended. */
export interface SpanOutcome {
  readonly status: 'ok' | 'error' | 'aborted' | 'unknown'
  readonly error?: RunError
}

/** A fact that content capture may have left out. */
export type ContentFact =
  | 'systemInstructions'
  | 'input'
  | 'output'
  | 'toolDefinitions'
  | 'toolCalls'
  | 'toolArguments'
  | 'toolResult'

/** Why a fact is not there, and what would record it. */
export interface Absence {
  readonly why: 'not-captured' | 'redacted' | 'truncated' | 'not-recorded' | 'limit'
  /** The exact setting of the instrumentation. */
  readonly switch?: string
}

/**
 * How one instrumentation writes spans. A dialect is an object of pure functions over one span: what its library writes,
 * nothing guessed, `undefined` for what the span does not hold.
 *
 * `recognises` and `roleOf` run on every span of the process, at its start with few attributes or none, and again at its
 * end: string and key comparisons only. All other functions run when a fact is asked for, at most once a span for the
 * content ones. They may throw on hostile input: `SpanFacts` turns that into `undefined`.
 *
 * To add a dialect: a file in `dialects/`, a line in `dialects/all.ts`.
 */
export interface Dialect {
  /** `gen-ai`, `ai-sdk`, `openinference`, … as `AgentRun.dialect` shows it. */
  readonly name: string
  /**
   * The beginnings of every attribute key that `recognises` looks at, with what separates them from the rest: `gen_ai.`,
   * `genkit:`. A span of an unknown scope, none of whose keys begins so, is not asked about.
   */
  readonly namespaces?: readonly string[]
  /** The beginnings of the span names by which `recognises` knows a span of an unknown scope that has no attributes yet. */
  readonly names?: readonly string[]
  /** The attributes that say what a span is, so that its role is final once one of them is there. */
  readonly kindKeys?: readonly string[]
  /**
   * Asked of an open span that has one of the `kindKeys`: true where the library may still write on it, at its end, that it is
   * an agent.
   */
  mayBecomeAgent?(span: SourceSpan): boolean
  /** True where the span is this library's, by its scope, its attributes or its name. */
  recognises(scopeName: string, attributes: Readonly<Record<string, unknown>>, spanName: string): boolean
  /** What the span is to its run. */
  roleOf(span: SourceSpan): SpanRole
  /**
   * For roles `agent` and `entry`: true where all agents directly below are one run, handing over to one another (a
   * trace around them, a swarm, a graph). The run is then this span's, under the name of the first agent.
   */
  holdsOneRun?(span: SourceSpan): boolean
  /**
   * `always`: whatever tool runs in this library has a span, so that a call without one was never executed. `sometimes`
   * (the default): calls without a span may have been executed. `unless-failed`: the span of a tool that throws is lost,
   * so that an answer which reads as an error, and has no span, is one.
   */
  readonly toolSpans?: 'always' | 'sometimes' | 'unless-failed'

  /**
   * True where a model's client writes the spans itself, so that an instrumentation of the client may write each call once
   * more, around it or beside it.
   */
  readonly isOfClient?: boolean

  /** Where the library can write each run in two forms at the same time, in traces of their own, which of them this is. */
  readonly formOfTwo?: 'newer' | 'older'

  /**
   * True for spans whose parents do not show where they belong, because the library writes the spans of a run side by side:
   * the agents' `input` and `transcript`, the models' `input` and the tools' ids then do.
   */
  isFlat?(span: SourceSpan): boolean

  /**
   * Agent spans: true where the library writes an agent that a tool starts below the trace, beside the agent whose tool that is.
   * The tool that was at work as long as the agent was, and that was given its question, is the one that started it.
   */
  startsBesideItsTool?(span: SourceSpan): boolean

  /** The agent of an agent or entry span; of any other span the agent on whose behalf it ran, where it says so. */
  agent?(span: SourceSpan): AgentIdentity | undefined
  /** The conversation or session, where the span names it. */
  conversationId?(span: SourceSpan): string | undefined
  /** The user on whose behalf the agent ran, where the span names them. */
  userId?(span: SourceSpan): string | undefined
  /** Default: the span's status, then its exception event (see `outcomeOf`). */
  outcome?(span: SourceSpan): SpanOutcome

  /** Agent and model spans: where they are apart from the messages. System messages of `input` are found without this. */
  systemInstructions?(span: SourceSpan, logs: readonly SourceLog[]): string | undefined
  /** Agent and model spans: what went in, history included. System messages may stay in; the run takes them out. */
  input?(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined
  /** Agent spans: the final answer. Model spans: what the model said, tool calls included. */
  output?(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined
  /**
   * Agent spans: true where `output` is the answer in the form that the library hands to its caller, which the words of the
   * last model call are not. Otherwise those words come first.
   */
  hasFinalForm?(span: SourceSpan): boolean
  /** Model spans: the tool calls of `output`, where they can be had without parsing all of it; `undefined` if not. */
  toolCalls?(span: SourceSpan, logs: readonly SourceLog[]): readonly ToolCallPart[] | undefined
  /** Agent spans: all messages of the run in order, where the library lists them (input, calls, results, answer). */
  transcript?(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined
  /** Agent and model spans: the tools that were offered. */
  toolDefinitions?(span: SourceSpan, logs: readonly SourceLog[]): readonly ToolDefinition[] | undefined

  /** Model spans. */
  model?(span: SourceSpan): ModelIdentity | undefined
  /**
   * Given where an agent span carries the sum of the tokens whenever it came to its end: one without, that ended on tool calls
   * whose tokens were counted, ended in a model call of which there is no span, and this is how.
   */
  readonly endsWithoutSum?: 'error' | 'aborted'
  /** Model spans, and agent spans that carry the sum. */
  usage?(span: SourceSpan): Usage | undefined

  /** Tool and hand-off spans. */
  tool?(span: SourceSpan): ToolIdentity | undefined
  /** Tool spans: the parsed JSON value, or the text as written. */
  toolArguments?(span: SourceSpan, logs: readonly SourceLog[]): unknown
  /** Tool spans: as the tool returned it, the library's envelope removed. `null` is a result, `undefined` is none. */
  toolResult?(span: SourceSpan, logs: readonly SourceLog[]): unknown

  /**
   * Asked when a content fact is `undefined`. Default: `not-recorded`, no switch. Of system instructions and tool
   * definitions, which a run need not have, `undefined` says that there were none.
   */
  absence?(span: SourceSpan, fact: ContentFact, logs: readonly SourceLog[]): Absence | undefined
  /** Attribute keys with message or tool content; a key ending in `*` means all that begin with what is before it. */
  readonly contentKeys?: readonly string[]
  /** Keys that hold content on spans of this dialect, and are too common to be taken for it on others'. */
  readonly ownContentKeys?: readonly string[]
}
