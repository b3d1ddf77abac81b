import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import type { Attributes, AttributeValue, Context, Span, SpanContext } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

import type { AgentRun } from '../../src/model/agent-run.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { defineScorer } from '../../src/scoring/define-scorer.ts'
import { toSourceSpan } from '../../src/spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../src/spans/from-sdk-span.ts'
import { allDialects } from '../../src/spans/dialects/all.ts'
import type { SourceLog, SourceSpan } from '../../src/spans/source-span.ts'
import { orderOf } from './hooks-order.ts'
import { readScenario } from './load.ts'
import type { Scenario } from './load.ts'

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

/** The runs that a process makes of a recording, and those that a file of the exported spans gives. */
export interface Played {
  readonly live: readonly AgentRun[]
  readonly file: readonly AgentRun[]
}

/** Plays the hooks of a recording through a real tracer provider. */
export async function play(scenario: Scenario, way: Way): Promise<Played> {
  const { spans, logs } = readScenario(scenario)
  const live = new Map<string, AgentRun>()
  const exporter = new InMemorySpanExporter()
  const scoring = new ScoringSpanProcessor({
    scorers: [createSeenScorer()],
    settleMs: 60_000,
    emit: { attributes: false, events: false, lateSpans: 'never', metrics: false },
    onScore: (_, run) => live.set(run.id, run),
  })
  const player = new Player(scoring, exporter, way, logs)
  player.play(spans, scenario.order ?? orderOf(spans, way.atStart === 'recorded' ? 'all' : 'none'))
  await scoring.shutdown()
  const exported: readonly SdkSpanLike[] = exporter.getFinishedSpans()
  return { live: [...live.values()], file: buildRuns(exported.map((span) => toSourceSpan(span)), { logs }) }
}

/** The attributes that show what a span is, for all libraries. */
const KIND_KEYS = [...new Set(allDialects.flatMap((dialect) => dialect.kindKeys ?? []))]

/** Its score changes each time, so that a run that is read again after it has settled is reported again. */
function createSeenScorer() {
  let times = 0
  return defineScorer({
    id: 'seen',
    description: 'Every run.',
    kind: 'code',
    assess: () => ({ status: 'scored', value: (times += 1) % 2 }),
  })
}

/** The tracer provider's way to give new spans the recorded ids. */
class RecordedIds {
  traceId = ''
  spanId = ''
  generateTraceId = (): string => this.traceId
  generateSpanId = (): string => this.spanId
}

class Player {
  readonly #ids = new RecordedIds()
  readonly #providers = new Map<string, NodeTracerProvider>()
  readonly #started = new Map<string, { readonly span: Span; readonly stranger: Span | undefined }>()
  readonly #scoring: ScoringSpanProcessor
  readonly #exporter: InMemorySpanExporter
  readonly #way: Way
  readonly #logs: ReadonlyMap<string, readonly SourceLog[]>
  #strangers = 0

  constructor(scoring: ScoringSpanProcessor, exporter: InMemorySpanExporter, way: Way, logs: readonly SourceLog[]) {
    this.#scoring = scoring
    this.#exporter = exporter
    this.#way = way
    this.#logs = Map.groupBy(logs, (log) => log.spanId)
  }

  play(spans: readonly SourceSpan[], order: NonNullable<Scenario['order']>): void {
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    for (const [spanId, hook, keys] of order) {
      const recorded = byId.get(spanId)
      if (recorded === undefined) continue
      if (hook === 's') this.#start(recorded, this.#way.atStart === 'recorded' ? keys : [])
      else this.#end(recorded)
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
      provider = new NodeTracerProvider({
        idGenerator: this.#ids,
        resource: resourceFromAttributes(resource as Attributes),
        spanLimits: { attributeCountLimit: 100_000, eventCountLimit: 100_000 },
        spanProcessors: [this.#scoring, new SimpleSpanProcessor(this.#exporter)],
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
