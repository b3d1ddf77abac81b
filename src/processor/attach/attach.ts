import type { Feedback } from '../../emit/feedback.ts'
import { globalSlot } from '../../scoring/global-slot.ts'
import { isSuppressed } from '../../scoring/isolation.ts'
import type { LedgerSnapshot } from '../../scoring/ledger.ts'
import { CompositeProcessor } from './composite-processor.ts'
import { resolveOptions } from '../../engine/config/options.ts'
import { refuseConversations } from '../../engine/config/refuse-conversations.ts'
import { notify } from '../../engine/notices/notify.ts'
import { addProcessor, canBeNext, processorsOf, replaceProcessors } from './provider-processors.ts'
import { lookAt } from './look-at.ts'
import { reportOtherOptions, reportWhenRead } from './attach-notices.ts'
import { globalTracerProvider, unwrapped } from './tracer-providers.ts'
import { nameOfClass, wayOfVendor } from './vendors.ts'
import type { ScoringOptions } from '../../engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../scoring-span-processor.ts'
import type { SpanProcessorLike } from '../../spans/sdk-types.ts'

/** Scoring that is attached to a tracer provider. */
export interface AttachedScoring {
  /** The outcome of every run and every score so far. */
  ledger(): LedgerSnapshot
  /**
   * Writes what a user says of an answer, now or days later: a `gen_ai.evaluation.result` event of evaluator type `user`, and a count. It is
   * not in the ledger.
   *
   * @returns whether an event was written; there is none without a logger provider
   * @throws TypeError if the feedback is not in its form
   */
  feedback(feedback: Feedback): boolean
  /** Waits for judges for up to `flushTimeoutMs`, then flushes the provider's processors, loggers and meters. Never rejects. */
  forceFlush(): Promise<void>
  /** Ends scoring, but keeps the provider's processors running. Idempotent; never rejects. */
  shutdown(): Promise<void>
  /** Restores the provider and releases held spans. Where spans of judges cannot be suppressed, a filter for them stays. Never rejects. */
  detach(): Promise<void>
}

/** Shared by every copy of the package, so that a hot reload does not score twice. */
const attached = globalSlot('attached', () => new WeakMap<object, AttachedScoring>(), isWeakMap)

/** The processors behind a scoring processor that was shut down. A new one is put in front of them. */
const behindStopped = new WeakMap<SpanProcessorLike, readonly SpanProcessorLike[]>()

/**
 * Adds scoring to an existing tracer provider: its processors are replaced in place, and become `next`. Processors that can neither be
 * flushed nor shut down, such as New Relic's, stay beside scoring, after it. Call it after the SDK has started. A second call for the same
 * provider returns the result of the first, until that is shut down or detached.
 *
 * If it cannot attach to the provider, one notice says why and what to do, and nothing is scored.
 *
 * @example
 * sdk.start()
 * const scoring = attachScoring({ scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather' })] })
 *
 * @throws TypeError if an option is wrong: `<path>: expected …, got …`
 */
export function attachScoring(options: ScoringOptions): AttachedScoring {
  const resolved = resolveOptions(options, true)
  refuseConversations(resolved, 'The processor')
  const provider = options.tracerProvider === undefined ? globalTracerProvider() : unwrapped(options.tracerProvider)
  const known = provider === undefined ? undefined : attached.get(provider)
  if (provider !== undefined && known) {
    reportOtherOptions(provider, resolved)
    return known
  }
  const processors = provider === undefined ? undefined : processorsOf(provider)
  const listed = lookAt(() => Array.from(processors ?? [])) ?? []
  const all = listed.flatMap((each) => behindStopped.get(each) ?? [each])
  const behind = all.filter(canBeNext)
  const beside = all.filter((each) => !behind.includes(each))
  const processor = createProcessor(options, behind)
  const canStrip = options.stripContent !== true || beside.length === 0
  const isReplaced = canStrip && processors !== undefined && replaceProcessors(processors, [processor, ...beside])
  if (
    provider === undefined ||
    !(isReplaced || (!stripsNothing(options) && listed.length === 0 && addProcessor(provider, processor)))
  ) {
    const code = provider === undefined ? 'SPANSCORE_TOO_EARLY' : 'SPANSCORE_NOT_ATTACHED'
    notify(code, `Nothing is scored: ${whyNot(provider, options, canStrip)}`)
    // It will see no span, so it must not report that there is none.
    void processor.stopScoring()
    return handleOf(processor, ignore, ignore)
  }
  const handle = handleOf(
    processor,
    () => {
      behindStopped.set(processor, behind)
      if (attached.get(provider) === handle) attached.delete(provider)
    },
    () => {
      // Judges that were asked may go on. The processor stays, and drops their spans.
      if (!isSuppressed() && resolved.scorers.some(({ scorer }) => scorer.kind === 'judge')) return
      lookAt(() => {
        const index = processors?.indexOf(processor) ?? -1
        if (index !== -1) processors?.splice(index, 1, ...behind)
      })
    },
  )
  attached.set(provider, handle)
  reportWhenRead(processor, provider, behind.length, resolved)
  return handle
}

function ignore(): void {}

function createProcessor(options: ScoringOptions, behind: readonly SpanProcessorLike[]): ScoringSpanProcessor {
  const all = options.next === undefined ? behind : [...behind, options.next]
  const [only] = all
  // A provider without processors may get some later. Ours is added beside them, so that its scores are not lost.
  if (only === undefined && options.stripContent !== true) return new ScoringSpanProcessor(options)
  return new ScoringSpanProcessor({
    ...options,
    next: all.length === 1 && only !== undefined ? only : new CompositeProcessor(all),
  })
}

function handleOf(processor: ScoringSpanProcessor, stopping: () => void, restore: () => void): AttachedScoring {
  return {
    ledger: () => processor.ledger(),
    feedback: (feedback) => processor.feedback(feedback),
    forceFlush: () => processor.forceFlush(Number.POSITIVE_INFINITY),
    shutdown: () => {
      stopping()
      return processor.stopScoring()
    },
    detach: async () => {
      stopping()
      restore()
      await processor.stopScoring()
    },
  }
}

/** Content is only removed from spans that are handed to `next`. Processors that are added later receive spans unchanged. */
function stripsNothing({ stripContent, next }: ScoringOptions): boolean {
  return stripContent === true && next === undefined
}

function whyNot(provider: object | undefined, options: ScoringOptions, canStrip: boolean): string {
  const way = wayOfVendor(provider)
  if (provider === undefined) {
    const vendor = way === undefined ? '' : `${way} `
    return (
      'no tracer provider is registered. Call attachScoring after the SDK has started (sdk.start()), or pass tracerProvider. ' +
      `${vendor}OTEL_TRACES_EXPORTER=none and OTEL_SDK_DISABLED=true leave none, and Mastra's OtelExporter registers none: use @mastra/otel-bridge.`
    )
  }
  const name = nameOfClass(provider) ?? 'The tracer provider'
  if (!canStrip)
    return `${name} has a span processor without forceFlush or shutdown, from which stripContent cannot take content.`
  if (stripsNothing(options) && lookAt(() => 'addSpanProcessor' in provider) === true) {
    return `${name} has no span processors yet that stripContent could take content from. Attach after they have been added.`
  }
  return `${name} does not show its span processors. ${way ?? 'Put a ScoringSpanProcessor into its spanProcessors where you build it.'}`
}

function isWeakMap(value: unknown): value is WeakMap<object, AttachedScoring> {
  return value instanceof WeakMap
}
