import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Evaluation } from '../../../src/model/score.ts'
import { tryParse } from '../../../src/otlp/pending-document.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { sizeOf } from '../read-files.ts'
import { UsageError } from '../usage-error.ts'
import { MeanDifferenceSums } from './mean-difference.ts'
import type { MeanDifference } from './mean-difference.ts'
import type { ReportedEvaluation } from './reported-evaluation.ts'
import { inputKeyOf } from '../../../src/cases/input-key.ts'
import type { EvaluatedRun } from './run-scorers.ts'

/** The difference of a scorer's results from the baseline. */
export interface BaselineComparison {
  readonly scorer: string
  /** Absent if no pair has two scores. */
  readonly difference?: MeanDifference
  /** Whether the scorer itself has changed, so that the agent alone does not explain the difference. */
  readonly scorerChanged: boolean
  /** Runs that passed before and fail now; the first of them by id. */
  readonly newFailures: number
  readonly newFailureIds: readonly string[]
  /** Runs that failed before and pass now. */
  readonly fixed: number
  /** Pairs in which one run has no score. */
  readonly unscoredPairs: number
  /** How many runs only the files have, and how many only the baseline has. */
  readonly onlyNow: number
  readonly onlyBefore: number
}

interface Before {
  readonly runId: string
  readonly value?: number
  readonly label?: string
  readonly version: string
  isPaired: boolean
}

const MAX_LISTED = 10

/** The evaluations of one scorer in the baseline, and the pairs that were found. */
class ScorerBaseline {
  readonly #byRun = new Map<string, Before>()
  readonly #byInput = new Map<string, { readonly runs: Before[]; next: number }>()
  readonly #newFailureIds: string[] = []
  #difference: MeanDifferenceSums | undefined
  #counts = { newFailures: 0, fixed: 0, unscoredPairs: 0, onlyNow: 0 }
  #scorerChanged = false

  keep(reported: ReportedEvaluation): void {
    const { runId, inputKey, value, label, version } = reported
    const before: Before = {
      runId,
      version,
      ...(value !== undefined && { value }),
      ...(label !== undefined && { label }),
      isPaired: false,
    }
    this.#byRun.set(runId, before)
    if (inputKey === undefined) return
    const sameInput = this.#byInput.get(inputKey)
    if (sameInput === undefined) this.#byInput.set(inputKey, { runs: [before], next: 0 })
    else sameInput.runs.push(before)
  }

  /** Whether the run passed before, and fails now. */
  add(runId: string, inputKey: string | undefined, { scorer, score }: Evaluation): boolean {
    const before = this.#partnerOf(runId, inputKey)
    if (before === undefined) {
      this.#counts.onlyNow++
      return false
    }
    before.isPaired = true
    this.#scorerChanged ||= !scorer.version.startsWith(before.version)
    if (score.status !== 'scored' || before.value === undefined) {
      this.#counts.unscoredPairs++
      return false
    }
    this.#difference ??= new MeanDifferenceSums(scorer.range)
    this.#difference.add(before.value, score.value)
    const isNew = before.label === 'pass' && score.label === 'fail'
    if (isNew) {
      this.#counts.newFailures++
      if (this.#newFailureIds.length < MAX_LISTED) this.#newFailureIds.push(runId)
    }
    if (before.label === 'fail' && score.label === 'pass') this.#counts.fixed++
    return isNew
  }

  result(scorer: string): BaselineComparison {
    const difference = this.#difference?.result()
    const onlyBefore = [...this.#byRun.values()].filter(({ isPaired }) => !isPaired).length
    return {
      scorer,
      ...(difference !== undefined && { difference }),
      scorerChanged: this.#scorerChanged,
      ...this.#counts,
      onlyBefore,
      newFailureIds: this.#newFailureIds,
    }
  }

  /** Finds the same run, or else the first run without a partner of the same agent with the same input. */
  #partnerOf(runId: string, inputKey: string | undefined): Before | undefined {
    const same = this.#byRun.get(runId)
    if (same !== undefined) return same.isPaired ? undefined : same
    const sameInput = this.#byInput.get(inputKey ?? '')
    while (sameInput?.runs[sameInput.next]?.isPaired === true) sameInput.next++
    return sameInput?.runs[sameInput.next]
  }
}

/** An earlier report for comparison. Uses a few hundred bytes of memory per evaluation. */
export class Baseline {
  readonly #scorers = new Map<string, ScorerBaseline>()

  /** @param matches Which of its evaluations are compared. */
  static async read(file: string, matches: (reported: ReportedEvaluation) => boolean): Promise<Baseline> {
    sizeOf(file)
    const baseline = new Baseline()
    let count = 0
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (!line.startsWith('{"runId":')) continue
      const reported = toReported(tryParse(line.endsWith(',') ? line.slice(0, -1) : line))
      if (reported === undefined) continue
      count++
      if (matches(reported)) baseline.#of(reported.scorer).keep(reported)
    }
    if (count > 0) return baseline
    throw new UsageError(
      `--baseline: expected a report as spanscore score --json writes it, got no evaluation in ${file}`,
    )
  }

  /** Compares a run. Returns the ids of the scorers that it passed before and fails now. */
  add({ run, evaluations }: EvaluatedRun): ReadonlySet<string> {
    const inputKey = inputKeyOf(run)
    const newFailures = evaluations.filter((one) => this.#of(one.scorer.id).add(run.id, inputKey, one))
    return new Set(newFailures.map(({ scorer }) => scorer.id))
  }

  /** The comparisons, by scorer. */
  results(): readonly BaselineComparison[] {
    return [...this.#scorers].map(([id, scorer]) => scorer.result(id))
  }

  #of(id: string): ScorerBaseline {
    const known = this.#scorers.get(id) ?? new ScorerBaseline()
    this.#scorers.set(id, known)
    return known
  }
}

function toReported(value: unknown): ReportedEvaluation | undefined {
  if (!isRecord(value)) return undefined
  const { runId, agent, inputKey, scorer, version, status, value: score, label } = value
  if (typeof runId !== 'string' || typeof scorer !== 'string' || typeof version !== 'string') return undefined
  if (status !== 'scored' && status !== 'skipped' && status !== 'failed') return undefined
  return {
    runId,
    scorer,
    version,
    status,
    ...(typeof agent === 'string' && { agent }),
    ...(typeof inputKey === 'string' && { inputKey }),
    ...(typeof score === 'number' && { value: score }),
    ...((label === 'pass' || label === 'fail') && { label }),
  }
}
