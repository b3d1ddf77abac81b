import type {
  Absence,
  AgentIdentity,
  ContentFact,
  Dialect,
  ModelIdentity,
  Outcome,
  SpanRole,
  ToolIdentity,
} from './dialect.ts'
import type { Message, ToolCallPart, ToolDefinition, Usage } from './message.ts'
import { systemTextOf, toolCallsIn } from './messages.ts'
import { outcomeOf } from './outcome.ts'
import type { SourceLog, SourceSpan } from './source-span.ts'

/**
 * The neutral facts of one span, read through its dialect when they are asked for, each once. Never throws: what a
 * dialect cannot read is `undefined`.
 */
export class SpanFacts {
  readonly span: SourceSpan
  readonly dialect: Dialect
  readonly role: SpanRole
  readonly logs: readonly SourceLog[]
  readonly #read = new Map<string, unknown>()

  constructor(span: SourceSpan, dialect: Dialect, role: SpanRole, logs: readonly SourceLog[] = NO_LOGS) {
    this.span = span
    this.dialect = dialect
    this.role = role
    this.logs = logs
  }

  get agent(): AgentIdentity | undefined {
    return this.#once('agent', () => this.dialect.agent?.(this.span))
  }

  get conversationId(): string | undefined {
    return guarded(() => this.dialect.conversationId?.(this.span))
  }

  get userId(): string | undefined {
    return guarded(() => this.dialect.userId?.(this.span))
  }

  get outcome(): Outcome {
    return (
      this.#once('outcome', () =>
        this.dialect.outcome === undefined ? outcomeOf(this.span) : this.dialect.outcome(this.span),
      ) ?? { status: 'unknown' }
    )
  }

  /** From where the library keeps them apart, else the system messages of the input. */
  get systemInstructions(): string | undefined {
    const own = this.#once('systemInstructions', () => this.dialect.systemInstructions?.(this.span, this.logs))
    return own ?? this.#once('systemMessages', () => systemTextOf(this.input))
  }

  get input(): readonly Message[] | undefined {
    return this.#once('input', () => this.dialect.input?.(this.span, this.logs))
  }

  get output(): readonly Message[] | undefined {
    return this.#once('output', () => this.dialect.output?.(this.span, this.logs))
  }

  /** The calls that the model asked for; empty where it asked for none, or where that is not recorded. */
  get toolCalls(): readonly ToolCallPart[] {
    const { dialect } = this
    const calls = this.#once('toolCalls', () =>
      dialect.toolCalls === undefined ? toolCallsIn(this.output) : dialect.toolCalls(this.span, this.logs),
    )
    return calls ?? NO_CALLS
  }

  get transcript(): readonly Message[] | undefined {
    return this.#once('transcript', () => this.dialect.transcript?.(this.span, this.logs))
  }

  get toolDefinitions(): readonly ToolDefinition[] | undefined {
    return this.#once('toolDefinitions', () => this.dialect.toolDefinitions?.(this.span, this.logs))
  }

  get model(): ModelIdentity | undefined {
    return this.#once('model', () => this.dialect.model?.(this.span))
  }

  get usage(): Usage {
    return this.#once('usage', () => this.dialect.usage?.(this.span)) ?? NO_USAGE
  }

  get tool(): ToolIdentity | undefined {
    return this.#once('tool', () => this.dialect.tool?.(this.span))
  }

  get toolArguments(): unknown {
    return this.#once('toolArguments', () => this.dialect.toolArguments?.(this.span, this.logs))
  }

  get toolResult(): unknown {
    return this.#once('toolResult', () => this.dialect.toolResult?.(this.span, this.logs))
  }

  /** Why a fact that ought to be there is not. */
  absence(fact: ContentFact): Absence {
    return guarded(() => this.dialect.absence?.(this.span, fact)) ?? { why: 'not-recorded' }
  }

  get holdsOneRun(): boolean {
    return guarded(() => this.dialect.holdsOneRun?.(this.span)) ?? false
  }

  #once<T>(key: string, read: () => T): T | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each key is read by the getter of its name alone
    if (this.#read.has(key)) return this.#read.get(key) as T | undefined
    const value = guarded(read)
    this.#read.set(key, value)
    return value
  }
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
