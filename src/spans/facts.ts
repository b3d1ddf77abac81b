import type {
  Absence,
  AgentIdentity,
  ContentFact,
  Dialect,
  ModelIdentity,
  Resumption,
  RetrievalRequest,
  SpanOutcome,
  SpanRole,
  ToolIdentity,
  ToolRunner,
} from './dialect.ts'
import { idsOf } from './ids.ts'
import type { IdsOnSpan } from './ids.ts'
import { endOfString } from './cut-json.ts'
import { isCutJson, isHalfJson, MAX_PARSED_LENGTH } from './json.ts'
import { plausibleUsage } from './outside-number.ts'
import type { RetrievedDocument } from '../model/agent-run.ts'
import type { Message, ToolCallPart, ToolDefinition, Usage } from '../model/message.ts'
import { systemTextOf, toolCallsIn } from './content/messages.ts'
import { isStoredElsewhere, withMovedContent } from './content/moved-content.ts'
import { notingReads } from './noting-reads.ts'
import { outcomeOf } from './outcome.ts'
import { isRedactionMark } from './redaction-mark.ts'
import type { SourceLog, SourceSpan } from './source-span.ts'

/** One fact: the slot in which it is cached, and how it is read. */
interface Fact<T> {
  readonly slot: number
  readonly read: (facts: SpanFacts) => T | undefined
}

/** The facts that a span may lack. They are defined once, because a function for each span and fact would cost more than most readings. */
const FACT = {
  agent: defineFact(0, ({ dialect, span }) => dialect.agent?.(span)),
  systemInstructions: defineFact(1, ({ dialect, span, logs }) => dialect.systemInstructions?.(span, logs)),
  systemMessages: defineFact(2, ({ input }) => systemTextOf(input)),
  input: defineFact(3, ({ dialect, span, logs }) => unlessHidden(dialect.input?.(span, logs))),
  output: defineFact(4, ({ dialect, span, logs }) => unlessHidden(dialect.output?.(span, logs))),
  transcript: defineFact(5, ({ dialect, span, logs }) => dialect.transcript?.(span, logs)),
  toolDefinitions: defineFact(6, ({ dialect, span, logs }) => dialect.toolDefinitions?.(span, logs)),
  model: defineFact(7, ({ dialect, span }) => dialect.model?.(span)),
  tool: defineFact(8, ({ dialect, span }) => dialect.tool?.(span)),
  toolArguments: defineFact(9, ({ dialect, span, logs }) => unlessUnread(dialect.toolArguments?.(span, logs))),
  toolResult: defineFact(10, ({ dialect, span, logs }) => unlessUnread(dialect.toolResult?.(span, logs))),
  retrieval: defineFact(11, ({ dialect, span, logs }) => dialect.retrieval?.(span, logs)),
  documents: defineFact(12, ({ dialect, span, logs }) => dialect.documents?.(span, logs)),
  resumption: defineFact(13, ({ dialect, span, logs }) => dialect.resumption?.(span, logs)),
} as const

function defineFact<T>(slot: number, read: (facts: SpanFacts) => T | undefined): Fact<T> {
  return { slot, read }
}

function readOutcome({ dialect, span }: SpanFacts): SpanOutcome {
  return dialect.outcome === undefined ? outcomeOf(span) : dialect.outcome(span)
}

function readToolCalls(facts: SpanFacts): readonly ToolCallPart[] {
  return facts.dialect.toolCalls?.(facts.span, facts.logs) ?? toolCallsIn(facts.output)
}

function readUsage({ dialect, span }: SpanFacts): Usage | undefined {
  return plausibleUsage(dialect.usage?.(span) ?? NO_USAGE)
}

const NOTHING: unique symbol = Symbol('nothing')

/** A list that grows by itself gets three times as many slots as there are facts. */
const NOTHING_READ: readonly unknown[] = Object.keys(FACT).map(() => undefined)

/**
 * The neutral facts of one span, read lazily through its dialect, each once. Never throws: a fact that cannot be read is `undefined`.
 */
export class SpanFacts {
  /** The span, with content restored from log records. */
  span: SourceSpan
  dialect: Dialect
  role: SpanRole
  logs: readonly SourceLog[]
  /** By slot; `NOTHING` for a fact that was read and is missing. An array is several times faster here than a map. */
  #read: unknown[] | undefined
  #outcome: SpanOutcome | undefined
  #toolCalls: readonly ToolCallPart[] | undefined
  #usage: Usage | undefined

  constructor(span: SourceSpan, dialect: Dialect, role: SpanRole, logs: readonly SourceLog[] = NO_LOGS) {
    this.span = logs.length === 0 ? span : withMovedContent(span, logs)
    this.dialect = dialect
    this.role = role
    this.logs = logs
  }

  /** Must be called when more log records of the span have arrived, with all of them ordered by time. */
  takeLogs(logs: readonly SourceLog[]): void {
    // Content from earlier log records is already on the span, and is overwritten.
    this.span = withMovedContent(this.span, logs)
    this.logs = logs
    this.forget()
  }

  /** Must be called when the span has changed. Facts are then read again. */
  forget(): void {
    this.#read = undefined
    this.#outcome = undefined
    this.#toolCalls = undefined
    this.#usage = undefined
  }

  get agent(): AgentIdentity | undefined {
    return this.#once(FACT.agent)
  }

  get ids(): IdsOnSpan | undefined {
    return guarded(() => idsOf(this.span.attributes, this.dialect))
  }

  get requestId(): string | undefined {
    return guarded(() => this.dialect.quirks?.requestId?.(this.span))
  }

  get outcome(): SpanOutcome {
    return (this.#outcome ??= factOrNone(this, readOutcome) ?? { status: 'unknown' })
  }

  /** The separate system instructions of the library, or else the system messages of the input. */
  get systemInstructions(): string | undefined {
    return this.#once(FACT.systemInstructions) ?? this.#once(FACT.systemMessages)
  }

  get input(): readonly Message[] | undefined {
    return this.#once(FACT.input)
  }

  get output(): readonly Message[] | undefined {
    return this.#once(FACT.output)
  }

  /** The tool calls that the model requested; empty if there are none, or if they are not recorded. */
  get toolCalls(): readonly ToolCallPart[] {
    return (this.#toolCalls ??= factOrNone(this, readToolCalls) ?? NO_CALLS)
  }

  /** At most how many tool calls the input has, if they can be counted without parsing it. */
  get callsInInput(): number | undefined {
    return guarded(() => this.dialect.callsInInput?.(this.span))
  }

  get transcript(): readonly Message[] | undefined {
    return this.#once(FACT.transcript)
  }

  get toolDefinitions(): readonly ToolDefinition[] | undefined {
    return this.#once(FACT.toolDefinitions)
  }

  get model(): ModelIdentity | undefined {
    return this.#once(FACT.model)
  }

  get usage(): Usage {
    return (this.#usage ??= factOrNone(this, readUsage) ?? NO_USAGE)
  }

  get tool(): ToolIdentity | undefined {
    return this.#once(FACT.tool)
  }

  get toolArguments(): unknown {
    return this.#once(FACT.toolArguments)
  }

  get toolResult(): unknown {
    return this.#once(FACT.toolResult)
  }

  get retrieval(): RetrievalRequest | undefined {
    return this.#once(FACT.retrieval)
  }

  get documents(): readonly RetrievedDocument[] | undefined {
    return this.#once(FACT.documents)
  }

  get resumption(): Resumption | undefined {
    return this.#once(FACT.resumption)
  }

  /** Who runs a tool that a model call of the run was offered. */
  runnerIn(model: SpanFacts, toolName: string): ToolRunner | undefined {
    return guarded(() => this.dialect.runnerOf?.(model.span, toolName))
  }

  /** Why a required fact is missing. */
  absence(fact: ContentFact): Absence {
    return this.optionalAbsence(fact) ?? { why: 'not-recorded' }
  }

  /** Like `absence`, for optional facts: `undefined` if there were none. */
  optionalAbsence(fact: ContentFact): Absence | undefined {
    if (isStoredElsewhere(this.span, fact, this.logs)) return { why: 'stored-elsewhere' }
    return guarded(() => this.dialect.absence?.(this.span, fact, this.logs))
  }

  /** The values of the attributes from which its dialect reads a fact. It is read again, so that no list of its keys is needed. */
  valuesOf(fact: ContentFact): readonly unknown[] {
    const values: unknown[] = []
    const facts = new SpanFacts(notingReads(this.span, values), this.dialect, this.role)
    facts.logs = this.logs
    void facts[fact]
    return values
  }

  get isSingleRun(): boolean {
    return guarded(() => this.dialect.isSingleRun?.(this.span)) ?? false
  }

  get resumedFrom(): string | undefined {
    return guarded(() => this.dialect.quirks?.resumedFrom?.(this.span))
  }

  get hasFinalForm(): boolean {
    return guarded(() => this.dialect.hasFinalForm?.(this.span)) ?? false
  }

  #once<T>({ slot, read }: Fact<T>): T | undefined {
    const all = (this.#read ??= NOTHING_READ.slice())
    const known = all[slot]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot only holds the fact of its number
    if (known !== undefined) return known === NOTHING ? undefined : (known as T)
    const value = factOrNone(this, read)
    all[slot] = value === undefined ? NOTHING : value
    return value
  }
}

function factOrNone<T>(facts: SpanFacts, read: (facts: SpanFacts) => T | undefined): T | undefined {
  try {
    return read(facts)
  } catch {
    return undefined
  }
}

/** A single text that is cut-off JSON, or a mark in place of messages, is not their content. */
function unlessHidden(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const text = messages?.length === 1 ? messages[0]?.text : undefined
  return text !== undefined && (isCutJson(text) || isRedactionMark(text)) ? undefined : messages
}

/** Not used as values: text that looks like JSON but is too long to parse, or was cut off by a length limit, and a mark in place of a value. */
function unlessUnread(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (isRedactionMark(value)) return undefined
  if (value.startsWith('"')) return endOfString(value, 0) === -1 ? undefined : value
  if (!/^\s*[{[]/.test(value)) return value
  return value.length > MAX_PARSED_LENGTH || (isHalfJson(value) && isCutJson(value)) ? undefined : value
}

const NO_LOGS: readonly SourceLog[] = []
const NO_CALLS: readonly ToolCallPart[] = []
const NO_USAGE: Usage = {}

function guarded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
