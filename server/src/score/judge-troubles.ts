import type { ServiceScorer } from './service-scorer.ts'

/** How often judges are looked at. */
const EVERY_MS = 1000

type Judged = Pick<ServiceScorer, 'troubledJudges' | 'unavailableJudges'>

/** Says once when a judge begins to fail, as its server refuses it or it gives no scores, and when that is over. */
export class JudgeTroubles {
  readonly #scorer: () => Judged
  readonly #report: (line: string) => void
  readonly #timer: NodeJS.Timeout
  #known: ReadonlySet<string> = new Set()

  constructor(scorer: () => Judged, report: (line: string) => void) {
    this.#scorer = scorer
    this.#report = report
    this.#timer = setInterval(() => this.check(), EVERY_MS).unref()
  }

  /** What is wrong now, a sentence or two for each judge. */
  get now(): readonly string[] {
    return [...withoutScore(this.#scorer()), ...this.#troubles]
  }

  get #troubles(): readonly string[] {
    return this.#scorer().troubledJudges.map(({ id, why }) => `${id}: ${why}`)
  }

  /** Judges that can give no score are not said here: `describeJudges` says them when a configuration is taken. */
  check(): void {
    const now = this.#troubles
    for (const trouble of now) if (!this.#known.has(trouble)) this.#report(trouble)
    for (const trouble of this.#known)
      if (!now.includes(trouble)) this.#report(`${trouble.split(':', 1)[0]}: its judge is no longer in trouble.`)
    this.#known = new Set(now)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Judges without a key or a package. */
function withoutScore({ unavailableJudges }: Pick<ServiceScorer, 'unavailableJudges'>): readonly string[] {
  return unavailableJudges.map(({ id, why }) => `${id}: it will give no score. ${why}`)
}

/** What operators should know about the judges of a configuration. */
export function describeJudges({
  unavailableJudges,
  unpricedJudges,
}: Pick<ServiceScorer, 'unavailableJudges' | 'unpricedJudges'>): readonly string[] {
  return [
    ...withoutScore({ unavailableJudges }),
    ...unpricedJudges.map(
      (id) =>
        `${id}: the price of its model is not known, so budget.usdPerDay does not hold it back: set options.judge.price.`,
    ),
  ]
}
