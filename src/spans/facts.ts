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

/** The slot of each cached fact: an array is several times faster here than a map. */
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
 * The neutral facts of one span, read lazily through its dialect, each once. Never throws: a fact that cannot be read is `undefined`.
 */
export class SpanFacts {
  /** The span, with content restored from log records. */
  span: SourceSpan
  dialect: Dialect
  role: SpanRole
  logs: readonly SourceLog[]
  /** By slot; `NOTHING` for a fact that was read and is missing. */
  readonly #read: unknown[] = []

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

  /** The separate system instructions of the library, or else the system messages of the input. */
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

  /** The tool calls that the model requested; empty if there are none, or if they are not recorded. */
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

  /** Why a required fact is missing. */
  absence(fact: ContentFact): Absence {
    return guarded(() => this.dialect.absence?.(this.span, fact, this.logs)) ?? { why: 'not-recorded' }
  }

  /** Like `absence`, for optional facts: `undefined` if there were none. */
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot is only read by the getter of its name
    if (known !== undefined) return known === NOTHING ? undefined : (known as T)
    const value = guarded(read)
    this.#read[slot] = value === undefined ? NOTHING : value
    return value
  }
}

/** A single text that starts like JSON but is invalid is a cut-off record of messages, not their content. */
function unlessCut(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const text = messages?.length === 1 ? messages[0]?.text : undefined
  return text !== undefined && isCutJson(text) ? undefined : messages
}

/** Text that looks like JSON but is too long to parse is not used as a value. */
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
