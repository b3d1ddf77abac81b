import { buildRuns, readOtlpJson } from 'spanscore/engine'
import type { AgentRun, SourceLog } from 'spanscore/engine'

/** The expected score of a run. */
interface TrueRun {
  readonly run: AgentRun
  readonly spans: number
}

/** The runs that were sent, built by `buildRuns` from all of their spans. */
export class Truth {
  readonly #runs = new Map<string, TrueRun>()

  get size(): number {
    return this.#runs.size
  }

  /** @returns The keys of the runs in these requests */
  note(traces: unknown, logs?: unknown): readonly string[] {
    const spans = readOtlpJson(traces)?.spans ?? []
    const runs = buildRuns(spans, { logs: logs === undefined ? [] : (readOtlpJson(logs)?.logs ?? []) })
    for (const run of runs) this.#runs.set(keyOf(run), { run, spans: spans.length })
    return runs.map(keyOf)
  }

  has(key: string): boolean {
    return this.#runs.has(key)
  }

  keys(): Iterable<string> {
    return this.#runs.keys()
  }

  /** True if the latest revision among a run's scores of tool errors was computed from all of its spans. */
  isRight(ofRun: readonly SourceLog[]): boolean {
    const latest = ofRun.toSorted((left, right) => revisionOf(right) - revisionOf(left))[0]
    const known = latest && this.#runs.get(keyOf(latest))
    if (latest === undefined || known === undefined) return false
    const label = hasFailed(known.run) ? 'fail' : 'pass'
    return revisionOf(latest) === known.spans && (latest.attributes['gen_ai.evaluation.score.label'] ?? label) === label
  }

  /** The share of a service's runs with tool calls in which none failed. */
  passedOf(service: string): number {
    const runs = [...this.#runs.values()].filter(
      ({ run }) => run.resource['service.name'] === service && run.toolCalls.length > 0,
    )
    return runs.filter(({ run }) => !hasFailed(run)).length / runs.length
  }
}

export function keyOf({ traceId, spanId }: Pick<SourceLog, 'traceId' | 'spanId'>): string {
  return `${traceId}:${spanId}`
}

/** The number of spans from which a score was computed. */
export function revisionOf({ attributes }: SourceLog): number {
  return Number(attributes['spanscore.revision'])
}

function hasFailed({ toolCalls }: AgentRun): boolean {
  return toolCalls.some((call) => call.error !== undefined)
}
