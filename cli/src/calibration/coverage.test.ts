import { describe, expect, it } from 'vitest'
import { correctedShare } from './corrected-share.ts'
import { createSeededRandom, draw } from './draw.ts'
import { ppiMean } from './ppi-mean.ts'
import type { LabelledScore, UnlabelledSums } from './ppi-mean.ts'
import { ratesOf } from './rates.ts'

/** A judged run of which it is known what people would say. */
interface Judged {
  readonly truth: 0 | 1
  readonly label: 'pass' | 'fail'
  readonly weight: number
  readonly score: number
}

/** A judge: how often it is right about runs that people pass and fail. */
interface Judge {
  readonly sensitivity: number
  readonly specificity: number
}

const TRIALS = 600
const RUNS = 1500

/** Judged runs of such quality; some of them represent three runs where `isSampled`. */
function judged(good: number, judge: Judge, isSampled: boolean, random: () => number): Judged[] {
  return Array.from({ length: RUNS }, () => {
    const truth = random() < good ? 1 : 0
    const passes = random() < (truth === 1 ? judge.sensitivity : 1 - judge.specificity)
    const weight = isSampled && random() < 0.5 ? 3 : 1
    const score = passes ? 0.7 + 0.3 * random() ** (truth === 1 ? 0.5 : 2) : 0.7 * random() ** (truth === 1 ? 0.7 : 1.5)
    return { truth, label: passes ? 'pass' : 'fail', weight, score }
  })
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const kish = (weights: readonly number[]) => sum(weights) ** 2 / sum(weights.map((weight) => weight ** 2))

/** What `count` labels, drawn by verdict, say of the judge and of the share of runs that people pass. */
function labelled(runs: readonly Judged[], count: number, random: () => number) {
  const drawn = draw(runs, count, random)
  const isDrawn = new Set(drawn.map(({ of }) => of))
  const total = sum(runs.map(({ weight }) => weight))
  const groups = (['pass', 'fail'] as const).map((verdict) => {
    const labels: LabelledScore[] = drawn
      .filter(({ of }) => of.label === verdict)
      .map(({ of, drawProbability }) => ({ weight: of.weight / drawProbability, truth: of.truth, score: of.score }))
    const rest = runs.filter((run) => run.label === verdict && !isDrawn.has(run))
    const unlabelled: UnlabelledSums = {
      w: sum(rest.map(({ weight }) => weight)),
      w2: sum(rest.map(({ weight }) => weight ** 2)),
      wf: sum(rest.map(({ weight, score }) => weight * score)),
      wf2: sum(rest.map(({ weight, score }) => weight * score ** 2)),
    }
    const share = sum(runs.filter(({ label }) => label === verdict).map(({ weight }) => weight)) / total
    const weights = labels.map(({ weight }) => weight)
    const passed = sum(labels.map(({ weight, truth }) => weight * truth)) / sum(weights)
    return { share, labelled: labels, unlabelled, passed, n: kish(weights) }
  })
  const [pass, fail] = groups as [(typeof groups)[0], (typeof groups)[0]]
  const n = kish(runs.map(({ weight }) => weight))
  return { rates: ratesOf(pass, fail, n), ppi: ppiMean(groups, n) }
}

const lenient: Judge = { sensitivity: 0.95, specificity: 0.7 }
const very: Judge = { sensitivity: 0.98, specificity: 0.6 }
const strict: Judge = { sensitivity: 0.8, specificity: 0.95 }

describe('what 95 % intervals cover, in trials with a seed', { timeout: 120_000 }, () => {
  it.each([
    ['a lenient judge, few labels', lenient, 0.85, 80, false],
    ['a lenient judge', lenient, 0.85, 200, false],
    ['a very lenient judge', very, 0.9, 150, false],
    ['a strict judge', strict, 0.7, 150, false],
    ['a lenient judge, runs of unequal weight', lenient, 0.85, 200, true],
  ])(
    '%s: the corrected share holds when traffic shifts, and PPI++ where it does not',
    (_, judge, good, count, isSampled) => {
      const random = createSeededRandom(6)
      const covered = { same: 0, shifted: 0, ppi: 0 }
      let bias = 0
      const shifted = 0.55
      for (let trial = 0; trial < TRIALS; trial++) {
        const { rates, ppi } = labelled(judged(good, judge, isSampled, random), count, random)
        const holds = (share: number) => {
          const traffic = judged(share, judge, isSampled, random).slice(0, 500)
          const weights = traffic.map(({ weight }) => weight)
          const passes = sum(traffic.map(({ label, weight }) => (label === 'pass' ? weight : 0)))
          const found = correctedShare(passes / sum(weights), kish(weights), rates)
          if (share === shifted) bias += (found?.share ?? 0) - share
          return found !== undefined && found.interval95[0] <= share && share <= found.interval95[1] ? 1 : 0
        }
        covered.same += holds(good)
        covered.shifted += holds(shifted)
        covered.ppi += ppi.interval95[0] <= good && good <= ppi.interval95[1] ? 1 : 0
      }
      expect(covered.same / TRIALS).toBeGreaterThanOrEqual(0.93)
      expect(covered.shifted / TRIALS).toBeGreaterThanOrEqual(0.93)
      expect(covered.ppi / TRIALS).toBeGreaterThanOrEqual(0.93)
      expect(Math.abs(bias / TRIALS)).toBeLessThan(0.02)
    },
  )

  it('a second draw that leaves out the first does not bias the rates for each verdict', () => {
    const random = createSeededRandom(11)
    const errors = { pass: 0, fail: 0 }
    const trials = 4 * TRIALS
    for (let trial = 0; trial < trials; trial++) {
      const runs = judged(0.85, lenient, false, random)
      const first = draw(runs, 60, random)
      const isFirst = new Set(first.map(({ of }) => of))
      const rest = runs.filter((run) => !isFirst.has(run))
      const both = [...first, ...draw(rest, 140, random)]
      for (const verdict of ['pass', 'fail'] as const) {
        const labels = both.filter(({ of }) => of.label === verdict)
        const weights = labels.map(({ drawProbability }) => 1 / drawProbability)
        const good = sum(labels.map(({ of, drawProbability }) => of.truth / drawProbability))
        const all = runs.filter(({ label }) => label === verdict)
        errors[verdict] += (good / sum(weights) - sum(all.map(({ truth }) => truth)) / all.length) / trials
      }
    }
    // Four standard errors of the average over the trials.
    expect(Math.abs(errors.pass)).toBeLessThan((4 * 0.025) / Math.sqrt(trials))
    expect(Math.abs(errors.fail)).toBeLessThan((4 * 0.05) / Math.sqrt(trials))
  })

  it('the uncorrected share that the judge passes is biased', () => {
    const random = createSeededRandom(7)
    const traffic = judged(0.55, lenient, false, random)
    const passes = traffic.filter(({ label }) => label === 'pass').length / RUNS
    expect(passes - 0.55).toBeGreaterThan(0.08)
  })
})
