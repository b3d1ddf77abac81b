import { buildRuns } from '../src/runs/build-runs.ts'
import { libraryNames, loadLibrary, readScenario } from '../test/corpus/load.ts'
import type { Row } from './row.ts'

/**
 * What it costs to put runs together, per library of recordings: all of every run, printed as JSON text, beside
 * `JSON.parse` of the same OTLP text in the same rounds; and the names alone (agents, tools, answers), which is what code
 * scorers ask for. Then the cost per trace with few and with many traces together.
 */
export function benchReconstruction(rounds = 15): Promise<Row[]> {
  // Recordings of one library also warm up the code for the next, so all are played before any is measured.
  for (const name of libraryNames()) measure(name, 3)
  const measured = libraryNames().map((name) => measure(name, rounds * 4))
  return Promise.resolve([...measured.flatMap(toRows), ofAll(measured), benchManyTraces(rounds)])
}

/** A library with a few kilobytes of recordings shows the fixed cost of a run, 20 to 40 µs, not that of its content: it has no threshold. */
const MIN_BYTES = 100_000

interface Measured {
  readonly name: string
  readonly bytes: number
  readonly runs: number
  readonly parseMs: number
  readonly fullMs: number
  readonly namesMs: number
}

function measure(name: string, rounds: number): Measured {
  const scenarios = loadLibrary(name)
  const texts = scenarios.flatMap(({ traces, logs }) =>
    [traces, logs].flatMap((part) => (part === undefined ? [] : JSON.stringify(part))),
  )
  const recorded = scenarios.map(readScenario)
  const times: Record<'parse' | 'full' | 'names', number[]> = { parse: [], full: [], names: [] }
  for (let round = 0; round < rounds; round++) {
    times.parse.push(timed(() => texts.map((text) => typeof JSON.parse(text))))
    times.full.push(timed(() => recorded.map(({ spans, logs }) => JSON.stringify(buildRuns(spans, { logs })).length)))
    times.names.push(timed(() => recorded.map(({ spans, logs }) => buildRuns(spans, { logs }).map(namesOf))))
  }
  return {
    name,
    bytes: sum(texts.map((text) => text.length)),
    runs: sum(recorded.map(({ spans, logs }) => buildRuns(spans, { logs }).length)),
    parseMs: quartile(times.parse),
    fullMs: quartile(times.full),
    namesMs: quartile(times.names),
  }
}

function toRows(library: Measured): Row[] {
  const { name, bytes, runs, parseMs, fullMs, namesMs } = library
  const baseline = `JSON.parse ${parseMs.toFixed(2)} ms`
  const perRun = (ms: number): string => `${ms.toFixed(2)} ms, ${((ms * 1000) / runs).toFixed(0)} µs a run`
  return [
    {
      title: `runs of ${name}`,
      baseline,
      measured: perRun(fullMs),
      value: fullMs / parseMs,
      unit: '×',
      ...(bytes >= MIN_BYTES && { atMost: 2 }),
    },
    { title: `names in ${name}`, baseline, measured: perRun(namesMs), value: namesMs / parseMs, unit: '×' },
  ]
}

/** All recordings, as the traces of one file. */
function ofAll(libraries: readonly Measured[]): Row {
  const [parseMs, fullMs] = [sum(libraries.map((one) => one.parseMs)), sum(libraries.map((one) => one.fullMs))]
  return {
    title: 'runs of all recordings',
    baseline: `JSON.parse ${parseMs.toFixed(1)} ms`,
    measured: `${fullMs.toFixed(1)} ms`,
    value: fullMs / parseMs,
    unit: '×',
    atMost: 2,
  }
}

/** One recorded trace a hundred and ten thousand times, each under an id of its own, all mixed. */
function benchManyTraces(rounds: number): Row {
  const [scenario] = loadLibrary('ai-7.0.173-otel')
  const spans = scenario === undefined ? [] : readScenario(scenario).spans
  const perTraceUs = (traces: number): number => {
    const many = Array.from({ length: traces }, (_, index) => {
      const traceId = index.toString(16).padStart(32, '0')
      return spans.map((span) => ({ ...span, traceId }))
    })
    const mixed = many.flat().toSorted((left, right) => left.startTimeMs - right.startTimeMs)
    const times = Array.from({ length: Math.max(5, rounds / 3) }, () => {
      collectGarbage()
      return timed(() => buildRuns(mixed).map(namesOf))
    })
    return (quartile(times) * 1000) / traces
  }
  const [few, many] = [perTraceUs(100), perTraceUs(10_000)]
  return {
    title: 'a trace among 10,000',
    baseline: `among 100: ${few.toFixed(1)} µs`,
    measured: `${many.toFixed(1)} µs`,
    value: many / few,
    unit: '×',
    atMost: 2,
  }
}

function namesOf(run: ReturnType<typeof buildRuns>[number]): unknown {
  return [run.agent.name, run.output, run.toolCalls.map((call) => call.name)]
}

/** This needs `--expose-gc`: the garbage of one round must not be collected during another. */
function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void }
  gc?.()
}

/** The lower quartile: rounds of a few milliseconds in which another process had the core say nothing about this one. */
function quartile(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 2] ?? Number.NaN
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function timed(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}
