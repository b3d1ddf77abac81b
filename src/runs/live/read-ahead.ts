import { readComparisonKey } from '../comparison-key.ts'
import { frozen } from '../view/frozen.ts'
import { readHoldsUnparsed } from '../view/unparsed.ts'
import type { LiveSpan } from './live-span.ts'

/**
 * Reads what the spans of a large run hold before the run is put together, a span at a time: each fact is kept with its span. What
 * models were given is read where the run will look into it: few scorers do, but the answers to tool calls may be there alone.
 */
export class ReadAhead {
  readonly #unread: LiveSpan[]
  /** Spans of models, whose inputs are unread. */
  readonly #models: LiveSpan[] = []
  #asked = 0
  #answered = 0
  /** Models that asked for nothing: their calls may be in what the next model was given. */
  #silent = 0

  constructor(spans: readonly LiveSpan[]) {
    this.#unread = [...spans]
  }

  /** Reads until time is up. Gives whether there is nothing more to read. */
  readOn(isTimeUp: () => boolean): boolean {
    for (let span = this.#unread.pop(); span !== undefined; span = this.#unread.pop()) {
      if (!span.isOpen) guarded(span, (each) => this.#read(each))
      if (isTimeUp()) return false
    }
    if (this.#asked <= this.#answered && this.#silent <= 1) return true
    for (let span = this.#models.pop(); span !== undefined; span = this.#models.pop()) {
      guarded(span, ({ input }) => frozen(input))
      if (isTimeUp()) return this.#models.length === 0
    }
    return true
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

/** Reads everything that a large span holds. Never throws. */
export function readWhole(span: LiveSpan): void {
  guarded(span, (each) => {
    readContent(each)
    frozen(each.input)
  })
}

function readContent(span: LiveSpan): void {
  span.sortLogs()
  readHoldsUnparsed(span.span)
  frozen(span.output)
  for (const call of frozen(span.toolCalls)) readComparisonKey(call.arguments)
  readComparisonKey(frozen(span.toolArguments))
  frozen(span.toolResult)
}

function guarded(span: LiveSpan, read: (span: LiveSpan) => void): void {
  try {
    read(span)
  } catch {
    // The value cannot be looked at. What asks the run for it gets the error.
  }
}
