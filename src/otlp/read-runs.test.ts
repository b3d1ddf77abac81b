import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { OtlpInput, OtlpSummary, ReadRunsOptions } from './read-runs.ts'
import { readRuns } from './read-runs.ts'
import { reconstructRuns } from '../runs/build-runs.ts'

const scenarios = [
  'ai-6.0.326',
  'otel-instrumentation-openai-0.22.0',
  'strands-agents-legacy-1.19.0',
  // Runs that are spread over traces.
  'traceloop-langchain-createAgent-0.27.0',
  'langfuse-openai-only-5.11.1',
]
  .flatMap((name) => loadLibrary(name))
  .filter((scenario) => !scenario.id.startsWith('16-long'))

function toInput(records: readonly unknown[]): OtlpInput {
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  return { name: 'test', bytes: ReadableStream.from([Buffer.from(lines)]) }
}

async function read(records: readonly unknown[], options: ReadRunsOptions = {}): Promise<unknown[]> {
  return asJson(await collect(toInput(records), options))
}

async function collect(input: OtlpInput, options: ReadRunsOptions = {}): Promise<AgentRun[]> {
  const runs: AgentRun[] = []
  for await (const run of readRuns(input, options)) runs.push(run)
  return runs
}

function asJson(runs: readonly AgentRun[]): unknown[] {
  return runs.map((run): unknown => JSON.parse(JSON.stringify(run)))
}

interface Request {
  resourceSpans: { resource: unknown; scopeSpans: { scope: unknown; spans: unknown[] }[] }[]
}

/** Each span as a record of its own. */
function splitSpans(traces: unknown): unknown[] {
  const request: Request = JSON.parse(JSON.stringify(traces))
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] })),
    ),
  )
}

function recordsOf(chosen: readonly (typeof scenarios)[number][]): unknown[] {
  return chosen.flatMap((scenario) => [
    ...splitSpans(scenario.traces),
    ...(scenario.logs === undefined ? [] : [scenario.logs]),
  ])
}

describe('reading runs from OTLP', () => {
  it('gives the runs that the same spans give in memory, traces and logs together', async () => {
    for (const scenario of scenarios) {
      const { spans, logs } = readScenario(scenario)
      const records = scenario.logs === undefined ? [scenario.traces] : [scenario.traces, scenario.logs]
      expect(await read(records)).toEqual(asJson(reconstructRuns(spans, logs)))
    }
  })

  it('gives the same runs wherever in the file the spans are, in memory and from the temporary database', async () => {
    const some = fc.shuffledSubarray(scenarios, { minLength: 2, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(some, fc.func(fc.nat()), fc.constantFrom(0, 20_000), async (chosen, rank, maxHeldBytes) => {
        const records = recordsOf(chosen)
        const shuffled = records.toSorted((left, right) => rank(left) - rank(right))
        expect(await read(shuffled, { maxHeldBytes })).toEqual(await read(records))
      }),
      { numRuns: 10 },
    )
  })

  it('gives top-level runs by start time', async () => {
    const starts = (await collect(toInput(recordsOf(scenarios.toReversed())))).map((run) => run.startTimeMs)
    expect(starts).toEqual(starts.toSorted((left, right) => left - right))
    expect(starts.length).toBeGreaterThan(scenarios.length / 2)
  })

  it('counts what it read, and names what it could not read', async () => {
    let summary: OtlpSummary | undefined
    const damages: string[] = []
    const record = splitSpans(scenarios.at(0)?.traces)[0]
    const bad = { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'none' }] }] }] }
    await read([record, bad, { what: 1 }], {
      onRead: (held) => (summary = held),
      onDamage: ({ input, place, reason }) => damages.push(`${input} ${place}: ${reason}`),
    })
    expect(summary).toEqual({
      spans: 1,
      recognisedSpans: 1,
      dialects: ['ai-sdk'],
      firstFailed: undefined,
      logRecords: 0,
      metricRequests: 0,
      damagedRecords: 2,
    })
    expect(damages).toEqual([
      'test line 2: 1 spans or log records without a valid trace and span id',
      'test line 3: JSON in an unsupported format: expected OTLP (resourceSpans), Jaeger (data) or Tempo (batches)',
    ])
  })

  it('names Codex, whose log records cannot be read', async () => {
    const reasons: string[] = []
    const result = { attributes: [{ key: 'event.name', value: { stringValue: 'codex.tool_result' } }] }
    const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [result, result] }] }] }
    expect(await read([logs], { onDamage: ({ reason }) => reasons.push(reason) })).toEqual([])
    expect(reasons).toEqual([expect.stringContaining('log records of Codex are not read')])
  })

  it('rejects if a file cannot be opened', async () => {
    await expect(collect('no/such/file.json')).rejects.toThrow(/ENOENT/)
  })

  it('knows every recorded library', () => {
    expect(libraryNames().length).toBeGreaterThan(20)
  })
})
