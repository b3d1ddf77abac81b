import { buildRuns } from '../src/runs/build-runs.ts'
import { libraryNames, loadLibrary, readScenario, type Scenario } from '../test/corpus/load.ts'

/** What reconstruction costs for the recordings of one library, each figure beside its baseline from the same rounds. */
export interface ReconstructionResult {
  readonly library: string
  readonly spans: number
  readonly megabytes: number
  /** `JSON.parse` of the OTLP text of all scenarios. */
  readonly parseMs: number
  /** From spans to the JSON text of all runs, nothing left out. */
  readonly fullMs: number
  /** From spans to agent names, tool names and answers: what code scorers ask for. */
  readonly namesMs: number
  readonly fullRatio: number
  readonly namesRatio: number
}

/** How the time of one trace grows with the traces that are given beside it. */
export interface InterleavingResult {
  readonly traces: number
  readonly microsecondsPerTrace: number
}

/**
 * Reconstruction per library beside `JSON.parse` of the same OTLP text, in turns, median of the rounds; then the cost per
 * trace with few and with many traces.
 */
export function benchReconstruction(rounds = 15): {
  readonly libraries: readonly ReconstructionResult[]
  readonly interleaving: readonly InterleavingResult[]
} {
  return {
    libraries: libraryNames().map((name) => benchLibrary(name, loadLibrary(name), rounds)),
    interleaving: [10, 1000].map((traces) => benchInterleaving(traces, rounds)),
  }
}

function benchLibrary(library: string, scenarios: readonly Scenario[], rounds: number): ReconstructionResult {
  const texts = scenarios.map(({ traces, logs }) =>
    [traces, logs].flatMap((part) => (part === undefined ? [] : JSON.stringify(part))),
  )
  const recorded = scenarios.map(readScenario)
  const parse: number[] = []
  const full: number[] = []
  const names: number[] = []
  for (let round = 0; round < rounds + 3; round++) {
    parse.push(timed(() => texts.flat().map((text) => typeof JSON.parse(text))))
    full.push(timed(() => recorded.map(({ spans, logs }) => JSON.stringify(buildRuns(spans, { logs })).length)))
    names.push(
      timed(() =>
        recorded.map(({ spans, logs }) =>
          buildRuns(spans, { logs }).map((run) => [run.agent.name, run.output, run.toolCalls.map((call) => call.name)]),
        ),
      ),
    )
  }
  const parseMs = median(parse.slice(3))
  const fullMs = median(full.slice(3))
  const namesMs = median(names.slice(3))
  return {
    library,
    spans: recorded.reduce((sum, { spans }) => sum + spans.length, 0),
    megabytes: texts.flat().reduce((sum, text) => sum + text.length, 0) / 1e6,
    parseMs,
    fullMs,
    namesMs,
    fullRatio: fullMs / parseMs,
    namesRatio: namesMs / parseMs,
  }
}

/** The traces of one library over and over, each under ids of its own. */
function benchInterleaving(traces: number, rounds: number): InterleavingResult {
  const [scenario] = loadLibrary('ai-7.0.173-otel')
  const { spans } = scenario === undefined ? { spans: [] } : readScenario(scenario)
  const many = Array.from({ length: traces }, (_, index) =>
    spans.map((span) => ({ ...span, traceId: index.toString(16).padStart(32, '0') })),
  )
  const mixed = many.flat().toSorted((left, right) => left.startTimeMs - right.startTimeMs)
  const times: number[] = []
  for (let round = 0; round < rounds + 3; round++) times.push(timed(() => JSON.stringify(buildRuns(mixed)).length))
  return { traces, microsecondsPerTrace: (median(times.slice(3)) * 1000) / traces }
}

function timed(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN
}
