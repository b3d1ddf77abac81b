import { randomBytes } from 'node:crypto'

import { libraryNames, loadLibrary } from '../../../test/corpus/load.ts'
import type { Scenario } from '../../../test/corpus/load.ts'
import { makeRun, shifted, toRequest } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import type { KafkaCollector } from './collector.ts'
import type { Truth } from './truth.ts'

/** Traffic of one service. The model's span of each run is sent first, and those of tool and agent half a second later. */
export class ServiceTraffic {
  readonly #service: string
  readonly #truth: Truth
  /** The error of the clock that gives spans their times. */
  clockOffsetMs = 0
  #isOver = false
  #running: Promise<void> | undefined

  constructor(service: string, truth: Truth) {
    this.#service = service
    this.#truth = truth
  }

  start(collector: KafkaCollector, runsPerSecond: number): void {
    this.#running = this.#run(collector, runsPerSecond)
  }

  /** Resolves when all spans of the started runs are sent. */
  async finish(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** Sends whole runs at one time. @returns Their keys */
  async sendWhole(collector: KafkaCollector, count: number): Promise<readonly string[]> {
    const runs = this.#make(count)
    await this.#send(
      collector,
      runs.map(({ run }) => run),
      [0, 1, 2],
    )
    return runs.flatMap(({ keys }) => keys)
  }

  async #run(collector: KafkaCollector, runsPerSecond: number): Promise<void> {
    const late: (readonly MadeRun[])[] = []
    const startMs = performance.now()
    for (let count = 0; !this.#isOver;) {
      const batch = this.#make(Math.ceil(runsPerSecond / 10)).map(({ run }) => run)
      count += batch.length
      late.push(batch)
      await this.#send(collector, batch, [0])
      const due = late.length > 5 ? late.shift() : undefined
      if (due !== undefined) await this.#send(collector, due, [1, 2])
      const aheadMs = startMs + (count / runsPerSecond) * 1000 - performance.now()
      if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs))
    }
    for (const batch of late) await this.#send(collector, batch, [1, 2])
  }

  #make(count: number): { readonly run: MadeRun; readonly keys: readonly string[] }[] {
    return Array.from({ length: count }, () => {
      const run = makeRun({ toolFails: Math.random() < 0.3, serviceName: this.#service })
      return { run, keys: this.#truth.note(toRequest(run.spans, this.#service)) }
    })
  }

  async #send(collector: KafkaCollector, runs: readonly MadeRun[], places: readonly number[]): Promise<void> {
    for (const place of places) {
      await collector.send(
        toRequest(
          runs.map((run) => shifted(run.spans[place], this.clockOffsetMs)),
          this.#service,
        ),
      )
    }
  }
}

/** Libraries whose content is in log records. Of the second one, every log record is part of the run. */
const WITH_LOGS = /^(?:claude-code|python-otel-openai-v2-legacy)-\d/

/** One recorded run of each of these libraries. */
export function recordedRuns(): readonly Scenario[] {
  return libraryNames()
    .filter((name) => WITH_LOGS.test(name))
    .map((name) => {
      const scenario = loadLibrary(name).find(({ logs, expected }) => logs !== undefined && expected.runs.length === 1)
      if (scenario === undefined) throw new Error(`Expected a recording of ${name} with log records, found none.`)
      return scenario
    })
}

/** Sends runs whose content is in log records, each with its own ids. */
export async function sendRecorded(
  collector: KafkaCollector,
  truth: Pick<Truth, 'note'>,
  count: number,
): Promise<void> {
  const scenarios = recordedRuns()
  for (let index = 0; index < count; index++) {
    const scenario = scenarios[index % scenarios.length]
    const [traces, logs] = withNewIds([scenario?.traces, scenario?.logs])
    truth.note(traces, logs)
    await collector.send(traces)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await collector.send(logs, '/v1/logs')
  }
}

/** The same requests with other trace and span ids. */
export function withNewIds(requests: readonly unknown[]): unknown[] {
  const known = new Map<string, string>()
  const text = JSON.stringify(requests).replaceAll(/"([0-9a-f]{32}|[0-9a-f]{16})"/g, (_, id: string) => {
    const fresh = known.get(id) ?? randomBytes(id.length / 2).toString('hex')
    known.set(id, fresh)
    return `"${fresh}"`
  })
  return JSON.parse(text) as unknown[]
}
