import { Background, redactInSteps } from 'spanscore/engine'
import type { AgentRun, Evaluation, ScoringOptions } from 'spanscore/engine'

import { loadServiceConfig } from '../config/load-config.ts'
import type { RunToTry } from './run-page.ts'

/** Runs may be large, and the page answers other requests meanwhile. */
const background = new Background()

type Entry = Exclude<ScoringOptions['scorers'][number], { readonly assess: unknown }>
type Scorer = Entry['scorer']

/** A configured scorer, as shown on the page. */
export interface ShownScorer {
  readonly id: string
  readonly description: string
  readonly kind: 'code' | 'judge'
  readonly version: string
  readonly range: readonly [number, number]
  readonly better: 'higher' | 'lower'
  readonly passAt: number
  /** `<provider>/<model>`, for judges. */
  readonly model: string | undefined
  /** The alerts that the configuration sets. @default those that every scorer has */
  readonly alerts?: NonNullable<Entry['alerts']> | undefined
}

/** The most that trying a scorer costs. */
export interface TrialEstimate {
  readonly runs: number
  readonly calls: number
  /** `undefined` if the model's price is unknown. */
  readonly costUsd: number | undefined
  /** Why the judge cannot be asked. */
  readonly unavailable: string | undefined
}

/** A scorer's new result for a run. */
export type TrialResult =
  | { readonly runId: string; readonly evaluation: Evaluation }
  | { readonly runId: string; readonly unavailable: string }

/** Maximum number of judges that are asked at the same time. */
const CONCURRENCY = 4

/** Runs configured scorers again, in the page's thread. Nothing is stored or sent. */
export class Trials {
  readonly #configPath: string | undefined
  readonly #announce: (line: string) => void
  #text: string | undefined
  #loaded: ScoringOptions | undefined

  /** @param text the text of the configuration in effect; a module has none */
  constructor(configPath: string | undefined, announce: (line: string) => void, text?: string) {
    this.#configPath = configPath
    this.#announce = announce
    this.#text = text
  }

  /** The configuration has changed to this text. */
  change(text: string): void {
    this.#text = text
    this.#loaded = undefined
  }

  /** The configured scorers of runs. A configuration that is a program is executed in this thread at first use. */
  scorers(): readonly ShownScorer[] {
    const ofRuns = this.#entries().filter(({ scorer }) => scorer.level !== 'conversation')
    return ofRuns.map(({ id, scorer, passAt, alerts }) => ({
      id: id ?? scorer.id,
      description: scorer.description,
      kind: scorer.kind,
      version: scorer.version.slice(0, 8),
      range: scorer.range,
      better: scorer.better,
      passAt: passAt ?? scorer.passAt,
      model: scorer.judge?.model,
      alerts,
    }))
  }

  /** The cost of scoring runs again. Those with a withheld verdict are not scored. */
  estimate(scorerId: string, chosen: readonly RunToTry[]): TrialEstimate | undefined {
    const runs = chosen.flatMap(({ run, isWithheld }) => (isWithheld ? [] : [run]))
    const judge = this.#entry(scorerId)?.scorer
    if (judge === undefined) return undefined
    const estimates = runs.map((run) => judge.judge?.estimate(run) ?? { calls: 0, costUsd: 0 })
    return {
      runs: runs.length,
      calls: estimates.reduce((sum, { calls }) => sum + calls, 0),
      costUsd: estimates.every(({ costUsd }) => costUsd !== undefined)
        ? estimates.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0)
        : undefined,
      unavailable: judge.judge?.unavailable(),
    }
  }

  /**
   * Scores runs again, until the next one might exceed the cap.
   *
   * @param capUsd US dollars; judges with an unknown price are not capped
   */
  async run(
    scorerId: string,
    chosen: readonly RunToTry[],
    capUsd: number,
    onResult: (result: TrialResult) => void,
  ): Promise<void> {
    const entry = this.#entry(scorerId)
    if (entry === undefined) return
    const waiting = chosen.flatMap(({ run, isWithheld }) => (isWithheld ? [] : [run]))
    for (const { run, isWithheld } of chosen) {
      if (isWithheld)
        onResult({
          runId: run.id,
          unavailable: 'Hidden until you have labelled it: this run was drawn to be labelled.',
        })
    }
    let reservedUsd = 0
    const work = async (): Promise<void> => {
      for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
        const mostUsd = entry.scorer.judge?.estimate(run).costUsd ?? 0
        if (reservedUsd + mostUsd > capUsd) {
          onResult({
            runId: run.id,
            unavailable: 'The judge was not asked, because the cost could have exceeded the cap.',
          })
          continue
        }
        reservedUsd += mostUsd
        const result = await this.#score(entry, run)
        if ('evaluation' in result) reservedUsd += (result.evaluation.judge?.costUsd ?? mostUsd) - mostUsd
        onResult(result)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
  }

  async #score({ scorer, id, passAt }: Entry, run: AgentRun): Promise<TrialResult> {
    try {
      const { redact, timeoutMs } = this.#options()
      // Applies `redact`, as when runs are scored.
      const seen =
        scorer.kind === 'judge' && redact !== undefined ? await background.run(redactInSteps(redact, run)) : run
      const { evaluation } = await scorer.run(seen, timeoutMs === undefined ? {} : { timeoutMs })
      return { runId: run.id, evaluation: withPassMark(evaluation, id, passAt) }
    } catch (error) {
      return { runId: run.id, unavailable: error instanceof Error ? error.message : String(error) }
    }
  }

  #entry(scorerId: string): Entry | undefined {
    return this.#entries().find(({ id, scorer }) => (id ?? scorer.id) === scorerId)
  }

  #entries(): readonly Entry[] {
    return this.#options().scorers.map((each) => (isEntry(each) ? each : { scorer: each }))
  }

  #options(): ScoringOptions {
    this.#loaded ??= loadServiceConfig(this.#configPath, this.#announce, this.#text).options
    return this.#loaded
  }
}

function isEntry(each: Scorer | Entry): each is Entry {
  return 'scorer' in each
}

/** Applies the configuration's scorer id and pass mark. */
function withPassMark(evaluation: Evaluation, id: string | undefined, passAt: number | undefined): Evaluation {
  const { score, scorer } = evaluation
  const named = { ...scorer, ...(id !== undefined && { id }), ...(passAt !== undefined && { passAt }) }
  if (score.status !== 'scored' || passAt === undefined) return { ...evaluation, scorer: named }
  const isPass = scorer.better === 'higher' ? score.value >= passAt : score.value <= passAt
  return { ...evaluation, scorer: named, score: { ...score, label: isPass ? 'pass' : 'fail' } }
}
