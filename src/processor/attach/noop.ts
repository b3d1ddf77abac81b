import { diag } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'

import type { Feedback } from '../../emit/feedback.ts'
import { globalSlot } from '../../scoring/global-slot.ts'
import type { LedgerSnapshot } from '../../scoring/ledger.ts'
import type { AttachedScoring } from './attach.ts'
import type { LogRecordProcessorLike } from '../deliver/log-capture.ts'
import type { ScoringOptions } from '../../engine/config/scoring-options.ts'
import type { EndedSpan, OpenSpan, SpanProcessorLike } from '../../spans/sdk-types.ts'

const NOTHING: LedgerSnapshot = {
  runs: { seen: 0, closed: 0, open: 0, evicted: 0, late: 0, duplicates: 0 },
  scorers: {},
}

const UNREAD: LogRecordProcessorLike = {
  onEmit: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}

/** Next.js loads a copy of this module for each route. */
const said = globalSlot('unscored', () => new Set<string>(), isSet)

function sayOnce(): void {
  if (said.size > 0) return
  said.add('unscored')
  diag
    .createComponentLogger({ namespace: 'spanscore' })
    .warn(
      'Nothing is scored in this runtime: spanscore needs Node.js. Spans go their way; attach it where Node.js runs.',
    )
}

function isSet(value: unknown): value is Set<string> {
  return value instanceof Set
}

/** `ScoringSpanProcessor` for edge runtimes and browsers: hands spans on to `next` and scores nothing. */
export class NoopSpanProcessor implements SpanProcessorLike {
  readonly #next: SpanProcessorLike | undefined
  readonly logRecordProcessor: LogRecordProcessorLike = UNREAD

  constructor(options: ScoringOptions) {
    this.#next = options.next
    sayOnce()
  }

  onStart(span: OpenSpan, parentContext: Context): void {
    this.#next?.onStart(span, parentContext)
  }

  onEnding(span: OpenSpan): void {
    this.#next?.onEnding?.(span)
  }

  onEnd(span: EndedSpan): void {
    this.#next?.onEnd(span)
  }

  async forceFlush(): Promise<void> {
    await this.#next?.forceFlush()
  }

  async shutdown(): Promise<void> {
    await this.#next?.shutdown()
  }

  stopScoring(): Promise<void> {
    return Promise.resolve()
  }

  feedback(_feedback: Feedback): boolean {
    return false
  }

  ledger(): LedgerSnapshot {
    return NOTHING
  }
}

/** `attachScoring` for edge runtimes and browsers: does not change the provider. */
export function attachNothing(_options: ScoringOptions): AttachedScoring {
  sayOnce()
  return {
    ledger: () => NOTHING,
    feedback: () => false,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    detach: () => Promise.resolve(),
  }
}

/**
 * Replaces scorers, factories and metrics in runtimes that cannot score. Calling, constructing or reading a property of it returns it
 * again, so that a configuration for both runtimes loads here too. It can be awaited.
 */
export const noopValue: unknown = new Proxy(function noopValue() {}, {
  get: (target, name) =>
    name === 'then' ? undefined : name === Symbol.toPrimitive ? () => '' : (Reflect.get(target, name) ?? noopValue),
  apply: () => noopValue,
  construct: (target) => target,
})
