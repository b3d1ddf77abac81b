// oxlint-disable unicorn/no-thenable -- a thenable that misbehaves is a fault worth trying
import { setTimeout } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace'
import { ScoringSpanProcessor } from 'spanscore'

import { rawScorer } from './raw-scorer.ts'

const boom = (): never => {
  throw new Error('boom')
}
const rejects = (): Promise<never> => Promise.reject(new Error('boom'))
const never = (): Promise<never> => new Promise(() => undefined)
/** A value that cannot be printed: it has no prototype, and its `toJSON` throws. */
const unshowable: unknown = Object.assign(Object.create(null), { toJSON: boom, toString: boom })

const good = { status: 'scored', value: 1, explanation: 'because' }
const judged = (judge: unknown) => (): Promise<unknown> => Promise.resolve({ ...good, judge })

/** What a scorer may do instead of scoring. */
const assessments: Readonly<Record<string, () => unknown>> = {
  scores: () => good,
  throws: boom,
  'throws what cannot be shown': () => {
    throw unshowable
  },
  rejects: rejects,
  'rejects with what cannot be shown': () => Promise.reject(unshowable),
  'never answers': never,
  'gives NaN': () => ({ status: 'scored', value: Number.NaN }),
  'gives infinity': () => Promise.resolve({ status: 'scored', value: Infinity }),
  'gives nothing': () => undefined,
  'gives a reason that there is not': () => ({ status: 'skipped', reason: { a: 1 }, message: 5 }),
  'gives a status that there is not': () => ({ status: '__proto__' }),
  'gives a verdict that throws': () => ({
    get status(): never {
      return boom()
    },
  }),
  'gives a thenable that throws': () => ({ then: boom }),
  'gives a very long explanation': () => ({ ...good, explanation: 'x'.repeat(1_000_000) }),
  'reports absurd spending': judged({ model: 'm', calls: Number.NaN, usage: { inputTokens: 1e308 }, costUsd: -1 }),
  'reports spending that throws': judged({
    get usage(): never {
      return boom()
    },
  }),
}

/** What may go wrong in the processor behind. */
const processorFaults: Readonly<Record<string, Partial<SpanProcessor>>> = {
  good: {},
  'its start throws': { onStart: boom },
  'its end throws': { onEnd: boom },
  'its flush never ends': { forceFlush: never },
  'its flush rejects': { forceFlush: rejects },
  'its shutdown throws': { shutdown: boom },
}

const instrumentsThatThrow = { record: boom, add: boom, addCallback: boom }
const meterOf = (instrument: object) => ({
  createHistogram: () => instrument,
  createCounter: () => instrument,
  createObservableGauge: () => instrument,
})

/** What may go wrong in what the application configures beside. */
const optionFaults: Readonly<Record<string, object>> = {
  good: {},
  'logger throws': { loggerProvider: { getLogger: () => ({ emit: boom }) } },
  'logger provider throws': { loggerProvider: { getLogger: boom } },
  'instruments throw': { meterProvider: { getMeter: () => meterOf(instrumentsThatThrow) } },
  'meter provider throws': { meterProvider: { getMeter: boom } },
  'tracer provider throws': { tracerProvider: { getTracer: boom }, emit: { lateSpans: 'always' } },
  'onScore throws': { onScore: boom },
  'onScore rejects with what cannot be shown': { onScore: () => Promise.reject(unshowable) },
  'onJudgeCall throws': { onJudgeCall: boom },
  'redact throws': { redact: boom },
  'redact rejects': { redact: rejects },
  'redact gives nothing': { redact: () => undefined },
  'sample throws': { sample: boom },
  'sample gives NaN': { sample: () => Number.NaN },
  'sample gives what cannot be shown': { sample: () => unshowable },
  'content is stripped': { stripContent: true },
  'nothing is held': { holdMs: 0, queueSize: 0 },
}

/** Counts the spans that come, and then does what the fault says. */
class Behind implements SpanProcessor {
  readonly seen: string[] = []
  readonly #fault: Partial<SpanProcessor>
  constructor(fault: Partial<SpanProcessor>) {
    this.#fault = fault
  }
  onStart(...given: Parameters<SpanProcessor['onStart']>): void {
    this.#fault.onStart?.(...given)
  }
  onEnd(span: ReadableSpan): void {
    this.seen.push(span.spanContext().spanId)
    this.#fault.onEnd?.(span)
  }
  async forceFlush(): Promise<void> {
    await this.#fault.forceFlush?.()
  }
  async shutdown(): Promise<void> {
    await this.#fault.shutdown?.()
  }
}

const textOf = (role: string, content: string): string => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** Plays one run of two spans with the three faults, and returns the rules that were broken. */
async function tryCombination(
  assess: () => unknown,
  processorFault: Partial<SpanProcessor>,
  options: object,
): Promise<string[]> {
  const wrong: string[] = []
  const behind = new Behind(processorFault)
  const scorers = [
    rawScorer({ id: 'inline', kind: 'code', inline: true, assess }),
    rawScorer({ id: 'later', kind: 'code', inline: false, assess }),
    rawScorer({ id: 'judged', kind: 'judge', inline: false, assess }),
    rawScorer({ id: 'good', kind: 'code', inline: true, assess: () => good }),
  ]
  const limits = { timeoutMs: 30, flushTimeoutMs: 60, shutdownTimeoutMs: 60, settleMs: 0 }
  const scoring = new ScoringSpanProcessor({ scorers, ...limits, ...options, next: behind })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  let ended = 0
  try {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.input.messages': textOf('user', 'Is it good?'),
      'gen_ai.output.messages': textOf('assistant', 'It is.'),
    }
    const agent = tracer.startSpan('invoke_agent a', { attributes }, ROOT_CONTEXT)
    const inside = trace.setSpan(ROOT_CONTEXT, agent)
    const call = tracer.startSpan('execute_tool t', { attributes: { 'gen_ai.operation.name': 'execute_tool' } }, inside)
    for (const span of [call, agent]) {
      ended += 1
      span.end()
    }
  } catch {
    wrong.push('thrown into the application')
  }
  // A flush waits for that of the processor behind, however long that takes; a shutdown does not.
  const flush = Promise.race([scoring.forceFlush(), setTimeout(200)])
  const shutdown = Promise.race([scoring.shutdown(), setTimeout(SHUTDOWN_MS, 'late')])
  const settled = await Promise.allSettled([flush, shutdown])
  if (settled.some(({ status }) => status === 'rejected')) wrong.push('a flush or a shutdown rejected')
  if (settled.some((one) => one.status === 'fulfilled' && one.value === 'late'))
    wrong.push('a shutdown that does not end')
  if (behind.seen.length !== ended || new Set(behind.seen).size !== ended) wrong.push('a span was lost or doubled')
  const { runs, scorers: rows } = scoring.ledger()
  if (runs.seen !== runs.closed + runs.open + runs.evicted) wrong.push(`runs ${JSON.stringify(runs)}`)
  for (const [id, row] of Object.entries(rows)) {
    const isExact = row.offered === row.scored + row.skipped + row.failed + row.pending
    if (!isExact || row.pending !== 0) wrong.push(`${id} ${JSON.stringify(row)}`)
  }
  return wrong
}

/** A shutdown is bounded by `shutdownTimeoutMs`, which is 60 here; this is far more, for machines that are busy. */
const SHUTDOWN_MS = 10_000

/** The number of pipelines that run at the same time: most of their time is spent waiting. */
const SIDE_BY_SIDE = 64

/** Tries every fault of a scorer with every one of the processor behind and every one of the options. */
export async function tryCombinations(): Promise<{ readonly count: number; readonly wrong: readonly string[] }> {
  const all = Object.entries(assessments).flatMap(([assessName, assess]) =>
    Object.entries(processorFaults).flatMap(([faultName, fault]) =>
      Object.entries(optionFaults).map(([optionName, options]) => ({
        name: `a scorer that ${assessName}, next: ${faultName}, options: ${optionName}`,
        play: () => tryCombination(assess, fault, options),
      })),
    ),
  )
  const wrong: string[] = []
  // Timers of spanscore keep no process alive.
  const alive = setInterval(() => undefined, 1000)
  for (let from = 0; from < all.length; from += SIDE_BY_SIDE) {
    const found = await Promise.all(
      all
        .slice(from, from + SIDE_BY_SIDE)
        .map(async ({ name, play }) => (await play()).map((what) => `${name}: ${what}`)),
    )
    wrong.push(...found.flat())
  }
  clearInterval(alive)
  return { count: all.length, wrong }
}
