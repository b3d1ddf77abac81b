import { readComparisonKey } from '../comparison-key.ts'
import { frozen } from '../view/frozen.ts'
import { readHoldsUnparsed } from '../view/unparsed.ts'
import { readLogMessage } from '../../spans/content/semconv-content.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import type { LiveSpan } from './live-span.ts'

/** More log records of a span are read with pauses. */
const MANY_LOGS = 200

/**
 * Reads the content of a large run's spans before the run is put together, one span at a time. Each span caches its facts. A model's input
 * is only read if the run needs it: few scorers do, but it may be the only place with the results of tool calls.
 */
export class ReadAhead {
  readonly #unread: LiveSpan[]
  /** Log records of a span with many of them, which are read before the span. */
  #logs: SourceLog[] = []
  readonly #withLogs = new Set<LiveSpan>()
  /** Model spans whose input was not read. */
  readonly #models: LiveSpan[] = []
  #asked = 0
  #answered = 0
  /** Models without tool calls; the next model's input may contain their calls. */
  #silent = 0

  constructor(spans: readonly LiveSpan[]) {
    this.#unread = [...spans]
  }

  /** Reads until the time is up. Returns whether everything was read. */
  readOn(isTimeUp: () => boolean): boolean {
    for (;;) {
      const log = this.#logs.pop()
      const span = log === undefined ? this.#unread.pop() : undefined
      if (log !== undefined) guarded(log, (each) => frozen(readLogMessage(each)))
      else if (span === undefined) break
      else if (!span.isOpen) this.#readSpan(span)
      if (isTimeUp()) return false
    }
    if (this.#asked <= this.#answered && this.#silent <= 1) return true
    for (let span = this.#models.pop(); span !== undefined; span = this.#models.pop()) {
      guarded(span, ({ input }) => frozen(input))
      if (isTimeUp()) return this.#models.length === 0
    }
    return true
  }

  #readSpan(span: LiveSpan): void {
    guarded(span, (each) => each.sortLogs())
    if (span.logs.length <= MANY_LOGS || this.#withLogs.has(span)) {
      guarded(span, (each) => this.#read(each))
      return
    }
    this.#withLogs.add(span)
    this.#unread.push(span)
    this.#logs = [...span.logs]
  }

  #read(span: LiveSpan): void {
    readContent(span)
    if (span.toolResult !== undefined) this.#answered += 1
    if (span.role !== 'model') return
    this.#models.push(span)
    this.#asked += span.toolCalls.length
    if (span.toolCalls.length === 0) this.#silent += 1
  }
}

/** Reads everything in a large span. Never throws. */
export function readWhole(span: LiveSpan): void {
  guarded(span, (each) => {
    each.sortLogs()
    readContent(each)
    frozen(each.input)
  })
}

function readContent(span: LiveSpan): void {
  readHoldsUnparsed(span.span)
  frozen(span.output)
  for (const call of frozen(span.toolCalls)) readComparisonKey(call.arguments)
  readComparisonKey(frozen(span.toolArguments))
  frozen(span.toolResult)
}

function guarded<T>(value: T, read: (value: T) => void): void {
  try {
    read(value)
  } catch {
    // The value cannot be read. Whoever reads it from the run gets the error.
  }
}
