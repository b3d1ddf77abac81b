import type { ServiceScorer } from './service-scorer.ts'

/** How often judges are looked at. */
const EVERY_MS = 1000

/** Says once when a judge begins to fail, as its server refuses it or it gives no scores, and when that is over. */
export class JudgeTroubles {
  readonly #scorer: () => Pick<ServiceScorer, 'troubledJudges'>
  readonly #report: (line: string) => void
  readonly #timer: NodeJS.Timeout
  #known: ReadonlySet<string> = new Set()

  constructor(scorer: () => Pick<ServiceScorer, 'troubledJudges'>, report: (line: string) => void) {
    this.#scorer = scorer
    this.#report = report
    this.#timer = setInterval(() => this.check(), EVERY_MS).unref()
  }

  /** What is wrong now, a sentence or two for each judge. */
  get now(): readonly string[] {
    return this.#scorer().troubledJudges.map(({ id, why }) => `${id}: ${why}`)
  }

  check(): void {
    const { now } = this
    for (const trouble of now) if (!this.#known.has(trouble)) this.#report(trouble)
    for (const trouble of this.#known)
      if (!now.includes(trouble)) this.#report(`${trouble.split(':', 1)[0]}: its judge is no longer in trouble.`)
    this.#known = new Set(now)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** What operators should know about the judges of a configuration. */
export function describeJudges({
  unavailableJudges,
  unpricedJudges,
}: Pick<ServiceScorer, 'unavailableJudges' | 'unpricedJudges'>): readonly string[] {
  return [
    ...unavailableJudges.map(({ id, why }) => `${id} will give no score. ${why}`),
    ...unpricedJudges.map(
      (id) =>
        `${id}: the price of its model is not known, so budget.usdPerDay does not hold it back: set options.judge.price.`,
    ),
  ]
}
