import type {
  Absence,
  AgentIdentity,
  ContentFact,
  Dialect,
  ModelIdentity,
  SpanOutcome,
  SpanRole,
  ToolIdentity,
} from './dialect.ts'
import { isCutJson, MAX_PARSED_LENGTH } from './json.ts'
import { plausibleUsage } from './outside-number.ts'
import type { Message, ToolCallPart, ToolDefinition, Usage } from '../model/message.ts'
import { systemTextOf, toolCallsIn } from './content/messages.ts'
import { withMovedContent } from './content/moved-content.ts'
import { outcomeOf } from './outcome.ts'
import type { SourceLog, SourceSpan } from './source-span.ts'

/** Where each fact is kept once it is read: an array is several times faster than a map here. */
const SLOT = {
  agent: 0,
  outcome: 1,
  systemInstructions: 2,
  systemMessages: 3,
  input: 4,
  output: 5,
  toolCalls: 6,
  transcript: 7,
  toolDefinitions: 8,
  model: 9,
  usage: 10,
  tool: 11,
  toolArguments: 12,
  toolResult: 13,
} as const

const NOTHING: unique symbol = Symbol('nothing')

/**
 * The neutral facts of one span, read through its dialect when they are asked for, each once. Never throws: what a
 * dialect cannot read is `undefined`.
 */
export class SpanFacts {
  /** The span, with the content that was moved from it to log records. */
  span: SourceSpan
  dialect: Dialect
  role: SpanRole
  logs: readonly SourceLog[]
  /** By slot; `NOTHING` where a fact was read and is not there. */
  readonly #read: unknown[] = []

  constructor(span: SourceSpan, dialect: Dialect, role: SpanRole, logs: readonly SourceLog[] = NO_LOGS) {
    this.span = logs.length === 0 ? span : withMovedContent(span, logs)
    this.dialect = dialect
    this.role = role
    this.logs = logs
  }

  /** To be called when further log records of the span have come, with all of them in order of time. */
  takeLogs(logs: readonly SourceLog[]): void {
    // Where there were some before, what they moved to the span is there already, and is written over.
    this.span = withMovedContent(this.span, logs)
    this.logs = logs
    this.forget()
  }

  /** To be called when the span says something else than before: what was read of it is read again. */
  forget(): void {
    this.#read.length = 0
  }

  get agent(): AgentIdentity | undefined {
    return this.#once(SLOT.agent, () => this.dialect.agent?.(this.span))
  }

  get conversationId(): string | undefined {
    return guarded(() => this.dialect.conversationId?.(this.span))
  }

  get userId(): string | undefined {
    return guarded(() => this.dialect.userId?.(this.span))
  }

  get outcome(): SpanOutcome {
    return (
      this.#once(SLOT.outcome, () =>
        this.dialect.outcome === undefined ? outcomeOf(this.span) : this.dialect.outcome(this.span),
      ) ?? { status: 'unknown' }
    )
  }

  /** From where the library keeps them apart, else the system messages of the input. */
  get systemInstructions(): string | undefined {
    const own = this.#once(SLOT.systemInstructions, () => this.dialect.systemInstructions?.(this.span, this.logs))
    return own ?? this.#once(SLOT.systemMessages, () => systemTextOf(this.input))
  }

  get input(): readonly Message[] | undefined {
    return this.#once(SLOT.input, () => unlessCut(this.dialect.input?.(this.span, this.logs)))
  }

  get output(): readonly Message[] | undefined {
    return this.#once(SLOT.output, () => unlessCut(this.dialect.output?.(this.span, this.logs)))
  }

  /** The calls that the model asked for; empty where it asked for none, or where that is not recorded. */
  get toolCalls(): readonly ToolCallPart[] {
    const calls = this.#once(
      SLOT.toolCalls,
      () => this.dialect.toolCalls?.(this.span, this.logs) ?? toolCallsIn(this.output),
    )
    return calls ?? NO_CALLS
  }

  get transcript(): readonly Message[] | undefined {
    return this.#once(SLOT.transcript, () => this.dialect.transcript?.(this.span, this.logs))
  }

  get toolDefinitions(): readonly ToolDefinition[] | undefined {
    return this.#once(SLOT.toolDefinitions, () => this.dialect.toolDefinitions?.(this.span, this.logs))
  }

  get model(): ModelIdentity | undefined {
    return this.#once(SLOT.model, () => this.dialect.model?.(this.span))
  }

  get usage(): Usage {
    return this.#once(SLOT.usage, () => plausibleUsage(this.dialect.usage?.(this.span) ?? NO_USAGE)) ?? NO_USAGE
  }

  get tool(): ToolIdentity | undefined {
    return this.#once(SLOT.tool, () => this.dialect.tool?.(this.span))
  }

  get toolArguments(): unknown {
    return this.#once(SLOT.toolArguments, () => unlessLong(this.dialect.toolArguments?.(this.span, this.logs)))
  }

  get toolResult(): unknown {
    return this.#once(SLOT.toolResult, () => unlessLong(this.dialect.toolResult?.(this.span, this.logs)))
  }

  /** Why a fact that ought to be there is not. */
  absence(fact: ContentFact): Absence {
    return guarded(() => this.dialect.absence?.(this.span, fact, this.logs)) ?? { why: 'not-recorded' }
  }

  /** As `absence`, for facts that a run need not have: `undefined` if there were none. */
  optionalAbsence(fact: ContentFact): Absence | undefined {
    return guarded(() => this.dialect.absence?.(this.span, fact, this.logs))
  }

  get holdsOneRun(): boolean {
    return guarded(() => this.dialect.holdsOneRun?.(this.span)) ?? false
  }

  get hasFinalForm(): boolean {
    return guarded(() => this.dialect.hasFinalForm?.(this.span)) ?? false
  }

  #once<T>(slot: number, read: () => T): T | undefined {
    const known = this.#read[slot]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot is read by the getter of its name alone
    if (known !== undefined) return known === NOTHING ? undefined : (known as T)
    const value = guarded(read)
    this.#read[slot] = value === undefined ? NOTHING : value
    return value
  }
}

/** A single text that begins as JSON and is none is the record of messages, cut off, and not what was said. */
function unlessCut(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const text = messages?.length === 1 ? messages[0]?.text : undefined
  return text !== undefined && isCutJson(text) ? undefined : messages
}

/** What is too long to be parsed and looks as if it had to be is no value. */
function unlessLong(value: unknown): unknown {
  const isLong = typeof value === 'string' && value.length > MAX_PARSED_LENGTH
  return isLong && /^\s*[{[]/.test(value) ? undefined : value
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
