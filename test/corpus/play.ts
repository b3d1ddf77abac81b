import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import type { Attributes, AttributeValue, Context, Span, SpanContext } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { SpanProcessor } from '@opentelemetry/sdk-trace'

import type { AgentRun } from '../../src/model/agent-run.ts'
import type { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { LedgerSnapshot } from '../../src/scoring/ledger.ts'
import type { SdkSpanLike } from '../../src/spans/from-sdk-span.ts'
import { allDialects } from '../../src/spans/dialects/all.ts'
import type { SourceLog, SourceSpan } from '../../src/spans/source-span.ts'
import type { Hooks } from './hooks-order.ts'
import { orderOf } from './hooks-order.ts'
import { readScenario } from './load.ts'
import type { Scenario } from './load.ts'
import type { MovedClock } from './moved-clock.ts'
import type { Product } from './product.ts'

/** How a recording is played. These settings are what differs between instrumentations and between applications. */
export interface Way {
  /** `object`: the context holds the parent's span. `ids`: it holds a span context, as OpenInference's LangChain tracer sets it. */
  readonly parents: 'object' | 'ids'
  /**
   * `recorded`: the attributes that the library sets at the start, or all if that was not recorded. `kind`: none at the
   * start, and right after it those that say what the span is. `none`: all are set when the span ends.
   */
  readonly atStart: 'recorded' | 'kind' | 'none'
  /** Whether a span that no dialect knows is above each root, and between each parent and child. */
  readonly strangers: boolean
}

/** When the hooks come. */
export interface PlayOptions {
  /** @default the recorded order, or one that fits the recorded times */
  readonly order?: Hooks
  /** A clock that is moved to the recorded time of each hook. Without one, all of them come at one moment. */
  readonly clock?: MovedClock
  /** @default 60000 */
  readonly settleMs?: number
}

/** The content of a run, as a scorer saw it. */
export interface SeenRun {
  readonly id: string
  readonly startTimeMs: number
  /** Its JSON, without what only the process or only the file can know. */
  readonly facts: string
  readonly surrounding: AgentRun['surrounding']
  /** In which hook it was given to the scorer: in that of the agent's own end, in another one, later, or in the shutdown. */
  readonly when: 'own end' | 'other hook' | 'later' | 'shutdown'
  readonly run: AgentRun
}

/** The runs that a process makes of a recording, and those that a file of the exported spans gives. */
export interface Played {
  /** Every run that was given to the scorer, in order. One run may be given several times. */
  readonly seen: readonly SeenRun[]
  /** The facts of each run, as it was given last, by their start. */
  readonly live: readonly string[]
  readonly file: readonly string[]
  /** The ids of runs that were given with attributes around them which the file does not have. */
  readonly otherwiseSurrounded: readonly string[]
  /** The same runs. Facts that are read from them only now may be other ones. */
  readonly liveRuns: readonly AgentRun[]
  readonly fileRuns: readonly AgentRun[]
  readonly ledger: LedgerSnapshot
}

/** Plays the hooks of a recording through a real tracer provider. */
export async function play(
  product: Product,
  scenario: Scenario,
  way: Way,
  options: PlayOptions = {},
): Promise<Played> {
  const { clock, settleMs = 60_000 } = options
  const { spans, logs } = readScenario(scenario)
  const order = options.order ?? scenario.order ?? orderOf(spans, way.atStart === 'recorded' ? 'all' : 'none')
  const noting = new Noting(product, settleMs)
  const player = new Player(noting.scoring, [new SimpleSpanProcessor({ exporter: noting.exporter })], way, logs)
  await player.play(spans, order, clock, (hook) => (noting.hook = hook))
  await clock?.moveBy(2 * settleMs)
  return noting.end(logs)
}

/** A hook of one span: its start or its end. */
export interface SpanHook {
  readonly spanId: string
  readonly hook: 's' | 'e'
}

/** A processor with one scorer, which notes every run that it is given. */
export class Noting {
  readonly scoring: ScoringSpanProcessor
  readonly exporter = new InMemorySpanExporter()
  /** The hook that is running, if one is. */
  hook: SpanHook | 'shutdown' | undefined
  readonly #product: Product
  readonly #seen: SeenRun[] = []

  constructor(product: Product, settleMs: number) {
    this.#product = product
    const scorer = product.scorers
      .createScorer({ id: 'seen', description: 'Every run.', version: 1, inline: true })
      .generateScore(({ agentRun }) => {
        this.#note(agentRun)
        // Another score each time, so that a run that is read again is given again.
        return this.#seen.length % 2
      })
    this.scoring = new product.ScoringSpanProcessor({
      scorers: [scorer],
      settleMs,
      maxSyncBytes: Number.MAX_SAFE_INTEGER,
      emit: { attributes: false, events: false, lateSpans: 'never', metrics: false },
    })
  }

  /** Shuts down, and reads the file of the exported spans. */
  async end(logs: readonly SourceLog[] = []): Promise<Played> {
    this.hook = 'shutdown'
    await this.scoring.shutdown()
    const exported: readonly SdkSpanLike[] = this.exporter.getFinishedSpans()
    const last = new Map(this.#seen.map((each) => [each.id, each]))
    const live = [...last.values()].toSorted(byStart)
    const fileRuns = this.#product.reconstructRuns(exported, logs).toSorted(byStart)
    return {
      seen: this.#seen,
      live: live.map(({ facts }) => facts),
      file: fileRuns.map(factsOf),
      otherwiseSurrounded: this.#seen.filter((each) => !isSurrounded(each, fileRuns)).map(({ id }) => id),
      liveRuns: live.map(({ run }) => run),
      fileRuns,
      ledger: this.scoring.ledger(),
    }
  }

  #note(run: AgentRun): void {
    const { id, spanId, startTimeMs } = run
    const { hook } = this
    const when =
      typeof hook !== 'object'
        ? (hook ?? 'later')
        : hook.hook === 'e' && hook.spanId === spanId
          ? 'own end'
          : 'other hook'
    this.#seen.push({ id, startTimeMs, facts: factsOf(run), surrounding: run.surrounding, when, run })
  }
}

/** Spans around a run that are still open get attributes later, so the file may have more. */
function isSurrounded({ id, surrounding = {} }: SeenRun, fileRuns: readonly AgentRun[]): boolean {
  const inFile = fileRuns.find((run) => run.id === id)
  return inFile === undefined || Object.entries(surrounding).every(([key, value]) => inFile.surrounding?.[key] === value)
}

/** The facts of runs by their start, for comparison. */
export function inOrder(runs: Iterable<AgentRun>): string[] {
  return [...runs].toSorted(byStart).map(factsOf)
}

type Started = Pick<AgentRun, 'id' | 'startTimeMs'>

function byStart(left: Started, right: Started): number {
  return left.startTimeMs - right.startTimeMs || (left.id < right.id ? -1 : 1)
}

/** The content of a run as JSON, without what only the process or only the file can know. */
export function factsOf(run: AgentRun): string {
  return JSON.stringify(withoutPlace(run))
}

function withoutPlace(run: AgentRun): unknown {
  // Spans around a run may get attributes after it is final: see `otherwiseSurrounded`.
  const { complete: _, revision: __, surrounding: ___, children, ...facts } = (run as AgentRun & { toJSON(): AgentRun }).toJSON()
  return { ...facts, children: children.map(withoutPlace) }
}

/** The attributes that show what a span is, for all libraries. */
const KIND_KEYS = [...new Set(allDialects.flatMap((dialect) => dialect.kindKeys ?? []))]

/** The tracer provider's way to give new spans the recorded ids. */
class RecordedIds {
  traceId = ''
  spanId = ''
  generateTraceId = (): string => this.traceId
  generateSpanId = (): string => this.spanId
}

/** Passes recorded spans to processors, hook by hook. */
export class Player {
  readonly #ids = new RecordedIds()
  readonly #providers = new Map<string, TracerProvider>()
  readonly #started = new Map<string, { readonly span: Span; readonly stranger: Span | undefined }>()
  readonly #scoring: ScoringSpanProcessor
  readonly #processors: readonly SpanProcessor[]
  readonly #way: Way
  readonly #logs: ReadonlyMap<string, readonly SourceLog[]>
  #strangers = 0

  constructor(
    scoring: ScoringSpanProcessor,
    beside: readonly SpanProcessor[],
    way: Way,
    logs: readonly SourceLog[],
  ) {
    this.#scoring = scoring
    this.#processors = [scoring, ...beside]
    this.#way = way
    this.#logs = Map.groupBy(logs, (log) => log.spanId)
  }

  /** @param onHook called before each hook, and with `undefined` after it */
  async play(
    spans: readonly SourceSpan[],
    order: Hooks,
    clock: MovedClock | undefined,
    onHook: (hook: SpanHook | undefined) => void,
  ): Promise<void> {
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    for (const [spanId, hook, keys] of order) {
      const recorded = byId.get(spanId)
      if (recorded === undefined) continue
      await clock?.moveTo(hook === 's' ? recorded.startTimeMs : recorded.endTimeMs)
      onHook({ spanId, hook })
      if (hook === 's') this.#start(recorded, this.#way.atStart === 'recorded' ? keys : [])
      else this.#end(recorded)
      onHook(undefined)
    }
  }

  #start(recorded: SourceSpan, keys: readonly string[]): void {
    let parent = this.#parentOf(recorded)
    let stranger: Span | undefined
    if (this.#way.strangers) {
      this.#strangers += 1
      this.#ids.traceId = recorded.traceId
      this.#ids.spanId = this.#strangers.toString(16).padStart(16, '0')
      stranger = this.#tracerOf(recorded, 'shop').startSpan('step', { startTime: toTime(recorded.startTimeMs) }, parent)
      parent = this.#below(stranger)
    }
    this.#ids.traceId = recorded.traceId
    this.#ids.spanId = recorded.spanId
    const span = this.#tracerOf(recorded, recorded.scope.name).startSpan(
      recorded.name,
      { kind: recorded.kind - 1, startTime: toTime(recorded.startTimeMs), attributes: attributesOf(recorded, keys) },
      parent,
    )
    if (this.#way.atStart === 'kind') span.setAttributes(attributesOf(recorded, KIND_KEYS.filter((key) => key in recorded.attributes)))
    this.#started.set(recorded.spanId, { span, stranger })
    for (const log of this.#logs.get(recorded.spanId) ?? []) this.#log(log)
  }

  #end(recorded: SourceSpan): void {
    const started = this.#started.get(recorded.spanId)
    if (started === undefined) return
    const { span, stranger } = started
    // Bypasses the SDK's own checks: a recording may come from an SDK line that accepts objects, and from a longer list of attributes.
    Object.assign((span as Span & { attributes: Attributes }).attributes, recorded.attributes)
    for (const event of recorded.events) span.addEvent(event.name, event.attributes as Attributes, toTime(event.timeMs))
    const { code, message } = recorded.status
    if (code !== 'unset') span.setStatus({ code: code === 'ok' ? 1 : 2, ...(message !== undefined && { message }) })
    Reflect.set(span, '_droppedAttributesCount', recorded.droppedAttributesCount)
    span.end(toTime(recorded.endTimeMs))
    stranger?.end(toTime(recorded.endTimeMs))
  }

  #parentOf({ traceId, parentSpanId, parentIsRemote }: SourceSpan): Context {
    if (parentSpanId === undefined) return ROOT_CONTEXT
    const parent = this.#started.get(parentSpanId)
    if (parent !== undefined) return this.#below(parent.span)
    const isRemote = parentIsRemote === true
    const unseen: SpanContext = { traceId, spanId: parentSpanId, traceFlags: TraceFlags.SAMPLED, isRemote }
    return trace.setSpanContext(ROOT_CONTEXT, unseen)
  }

  #below(parent: Span): Context {
    return this.#way.parents === 'object'
      ? trace.setSpan(ROOT_CONTEXT, parent)
      : trace.setSpanContext(ROOT_CONTEXT, parent.spanContext())
  }

  #tracerOf({ resource, scope }: SourceSpan, scopeName: string) {
    const key = JSON.stringify(resource)
    let provider = this.#providers.get(key)
    if (provider === undefined) {
      provider = new TracerProvider({
        idGenerator: this.#ids,
        resource: resourceFromAttributes(resource as Attributes),
        spanLimits: { attributeCountLimit: 100_000, eventCountLimit: 100_000 },
        spanProcessors: [...this.#processors],
      })
      this.#providers.set(key, provider)
    }
    return provider.getTracer(scopeName, scope.version)
  }

  #log({ traceId, spanId, eventName, timeMs, attributes, body, scope }: SourceLog): void {
    this.#scoring.logRecordProcessor.onEmit({
      spanContext: { traceId, spanId },
      eventName,
      hrTime: toTime(timeMs),
      attributes,
      body,
      instrumentationScope: scope,
    })
  }
}

function attributesOf({ attributes }: SourceSpan, keys: readonly string[]): Attributes {
  return Object.fromEntries(keys.map((key) => [key, attributes[key] as AttributeValue]))
}

function toTime(timeMs: number): [number, number] {
  return [Math.floor(timeMs / 1000), Math.round((timeMs % 1000) * 1e6)]
}
