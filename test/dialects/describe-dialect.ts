import { context, ROOT_CONTEXT, trace, type Attributes, type Context } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { createScorer } from '../../src/entries/scorers.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import type { Dialect } from '../../src/spans/dialect.ts'
import { SpanFacts } from '../../src/spans/facts.ts'
import { isRecord } from '../../src/spans/json.ts'
import { recognise, roleOf } from '../../src/spans/recognise.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import { readScenario, type Scenario } from '../corpus/load.ts'

/** The recordings of its library that a dialect is tested with. */
export interface DialectExamples {
  /** Recordings of the library's spans; the first one is also played live. */
  readonly recordings: readonly Scenario[]
}

/**
 * The rules for every dialect: everything by which it recognises spans is declared, its functions change nothing
 * and give the same answer twice, hostile values neither throw nor take long, and a live run is the run that a file holds.
 */
export function describeDialect(dialect: Dialect, { recordings }: DialectExamples): void {
  const spans = recordings.flatMap((recording) => readScenario(recording).spans)
  const own = spans.filter((span) => recognise(span.scope.name, span.attributes, span.name) === dialect)

  describe(`the dialect ${dialect.name}`, () => {
    it('declares every key and name by which it recognises spans of an unknown scope', () => {
      const keys = keysRead(dialect)
      const undeclared = keys.filter((key) => dialect.namespaces?.some((start) => key.startsWith(start)) !== true)
      expect(undeclared).toEqual([])
    })

    it('has spans of its own among its recordings', () => {
      expect(own.length).toBeGreaterThan(0)
    })

    it('treats spans without attributes as what they may still become', () => {
      for (const span of own) {
        const begun = { ...span, attributes: {}, events: [] }
        expect(() => roleOf(dialect, begun)).not.toThrow()
        factsOf(new SpanFacts(begun, dialect, roleOf(dialect, begun)))
      }
    })

    it('changes nothing that it reads, and reads the same twice', () => {
      for (const span of own) {
        const frozen = deepFreeze(structuredClone(span))
        const role = roleOf(dialect, frozen)
        expect(roleOf(dialect, frozen)).toBe(role)
        const first = JSON.stringify(factsOf(new SpanFacts(frozen, dialect, role)))
        expect(JSON.stringify(factsOf(new SpanFacts(frozen, dialect, role)))).toBe(first)
      }
    })

    it.each(HOSTILE)(
      'reads %j, a hundred thousand characters of it, in time that grows with the length',
      (piece) => {
        const text = piece.repeat(Math.ceil(100_000 / piece.length))
        for (const span of oneOfEachKind(own)) {
          const started = performance.now()
          const attributes = Object.fromEntries(
            Object.entries(span.attributes).map(([key, value]) => {
              const isText = typeof value === 'string' && value.length > 20
              return [key, isText ? value.slice(0, 10) + text : value]
            }),
          )
          const status = { code: 'error', message: text } as const
          const hostile = { ...span, name: `${span.name} ${text}`, attributes, status }
          const role = roleOf(dialect, span)
          factsOf(new SpanFacts(hostile, dialect, role))
          roleOf(dialect, hostile)
          // Quadratic patterns take minutes at this length.
          expect(performance.now() - started).toBeLessThan(10_000)
        }
      },
      60_000,
    )

    const scenario = recordings.map(readScenario).find((candidate) => isPlayable(candidate, dialect))
    it.runIf(scenario !== undefined)('gives the run of a file live too', async () => {
      if (scenario === undefined) throw new Error('expected a recording that can be played, got none')
      const stored = buildRuns(scenario.spans)
      for (const when of ['start', 'end'] as const) {
        const seen = await playLive(scenario.spans, when)
        expect(seen.map(essence)).toEqual(stored.map(essence))
      }
    })
  })
}

/** Prefixes that hostile text repeats: each of them makes some regular expression slow. */
const HOSTILE: readonly string[] = [
  '\n',
  ' ',
  '{"',
  '[',
  '\\"',
  'a',
  '"',
  "'",
  'Error: ',
  '\n    at ',
  'user: \n',
  '0',
  '(',
]

/** The keys that `recognises` reads on a span of an unknown scope. */
function keysRead(dialect: Dialect): readonly string[] {
  const keys = new Set<string>()
  const attributes = new Proxy<Record<string, unknown>>({}, { get: (_, key) => void keys.add(String(key)) })
  dialect.recognises('my-app', attributes, 'some-span')
  return [...keys]
}

function factsOf(facts: SpanFacts): unknown {
  const { agent, outcome, systemInstructions, input, output, toolCalls, transcript, toolDefinitions } = facts
  const { model, usage, tool, toolArguments, toolResult, ids, holdsOneRun, hasFinalForm } = facts
  const said = { systemInstructions, input, output, toolCalls, transcript, toolDefinitions, toolArguments, toolResult }
  return { agent, outcome, ...said, model, usage, tool, ids, holdsOneRun, hasFinalForm }
}

/** One span of each name and role: hostile values on all of them would take minutes. */
function oneOfEachKind(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  const kinds = new Map(
    spans.map((span) => [`${span.name.split(' ', 1)[0]} ${Object.keys(span.attributes).length}`, span]),
  )
  return [...kinds.values()].slice(0, 12)
}

/**
 * A recording that can be played unchanged: it has every span, all are of one trace and none were written in parallel, with values that the
 * SDK accepts, and it holds nothing but spans.
 */
function isPlayable({ spans, logs }: ReturnType<typeof readScenario>, dialect: Dialect): boolean {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  return (
    logs.length === 0 &&
    spans.every((span) => span.traceId === spans[0]?.traceId && dialect.isFlat?.(span) !== true) &&
    spans.every(({ attributes }) => Object.values(attributes).every((value) => !isRecord(value))) &&
    spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId)).length === 1 &&
    spans.some((span) => recognise(span.scope.name, span.attributes, span.name) === dialect)
  )
}

/** Plays spans through a real provider, parents first and ends in their order, and collects the runs that are scored. */
async function playLive(spans: readonly SourceSpan[], when: 'start' | 'end'): Promise<readonly AgentRun[]> {
  const seen = new Map<string, AgentRun>()
  const scorer = createScorer({ id: 'probe', description: 'Keeps the runs that it sees.', version: '1' }).generateScore(
    ({ agentRun }) => {
      seen.set(agentRun.spanId, agentRun)
      return 1
    },
  )
  const processor = new ScoringSpanProcessor({ scorers: [{ scorer }], settleMs: 20 })
  const provider = new BasicTracerProvider({ spanProcessors: [processor] })
  const children = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId)
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const play = (source: SourceSpan, parent: Context): void => {
    const attributes = source.attributes as Attributes
    const tracer = provider.getTracer(source.scope.name, source.scope.version)
    const options = { startTime: source.startTimeMs, ...(when === 'start' && { attributes }) }
    const span = tracer.startSpan(source.name, options, parent)
    const inside = trace.setSpan(parent, span)
    const below = (children.get(source.spanId) ?? []).toSorted((left, right) => left.startTimeMs - right.startTimeMs)
    for (const child of below) context.with(inside, () => play(child, inside))
    if (when === 'end') span.setAttributes(attributes)
    for (const event of source.events) span.addEvent(event.name, event.attributes as Attributes, event.timeMs)
    const code = { unset: 0, ok: 1, error: 2 }[source.status.code]
    if (code !== 0)
      span.setStatus({ code, ...(source.status.message !== undefined && { message: source.status.message }) })
    span.end(source.endTimeMs)
  }
  for (const root of spans.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''))) play(root, ROOT_CONTEXT)
  await processor.forceFlush()
  await processor.shutdown()
  return [...seen.values()]
}

/** The content of a run, without its ids and times. */
function essence(run: AgentRun): unknown {
  const { agent, userInput, systemInstructions, output, status, availableTools, models, usage } = run
  const toolCalls = run.toolCalls.map(({ name, id, arguments: given, result, error, step }) => {
    return { name, id, given, result, error: error?.message, step }
  })
  return { agent, userInput, systemInstructions, output, status, availableTools, models, usage, toolCalls }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner)
    Object.freeze(value)
  }
  return value
}
