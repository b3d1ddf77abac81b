import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calibrationFileSchema } from './calibration.ts'
import { Calibrator } from './calibrator.ts'
import type { JudgedRun } from './calibrator.ts'
import type { Label } from '../../../src/cases/labels.ts'

const idOf = (index: number): string => `${index.toString(16).padStart(32, '0')}:${'1b'.repeat(8)}`

const judged = (index: number, label: 'pass' | 'fail', weight = 1): JudgedRun => ({
  runId: idOf(index),
  scorer: 'prompt_alignment',
  version: '1a2b3c4d',
  judgeModel: 'judge-1',
  revision: 1,
  label,
  score: label === 'pass' ? 0.9 : 0.2,
  weight,
  timeMs: Date.UTC(2026, 10, 1 + (index % 10)),
})

const labelOf = (run: JudgedRun, label: 'pass' | 'fail', more: Partial<Label> = {}): Label => ({
  runId: run.runId,
  scorer: run.scorer,
  version: run.version,
  judgeModel: run.judgeModel,
  revision: run.revision,
  label,
  labeller: 'ann',
  labelledAt: '2026-11-22T09:00:00Z',
  drawProbability: 1,
  ...more,
})

function calibrated(runs: readonly JudgedRun[], labels: readonly (readonly Label[])[]): Calibrator {
  const calibrator = new Calibrator(labels)
  for (const run of runs) {
    calibrator.addRun(run.runId)
    calibrator.add(run)
  }
  return calibrator
}

const other = (label: 'pass' | 'fail') => (label === 'pass' ? 'fail' : 'pass')

/** Runs of each of the four kinds: what people say, and what the judge says. */
const kinds = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 10, max: 40 })))

describe('a calibration', () => {
  it('counts runs by their weight if all runs are labelled', () => {
    fc.assert(
      fc.property(kinds, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (counts, weights) => {
        let index = 0
        const sums = { tp: 0, fn: 0, tn: 0, fp: 0 }
        const runs: JudgedRun[] = []
        const labels: Label[][] = []
        for (const [place, kind] of (['tp', 'fn', 'tn', 'fp'] as const).entries()) {
          for (let count = 0; count < (counts[place] ?? 0); count++) {
            const run = judged(index, kind === 'tp' || kind === 'fp' ? 'pass' : 'fail', weights[index % weights.length])
            sums[kind] += run.weight
            runs.push(run)
            labels.push([labelOf(run, kind === 'tp' || kind === 'fn' ? 'pass' : 'fail')])
            index++
          }
        }
        const [found] = calibrated(runs, labels).results().calibrations
        expect(found?.sensitivity).toBeCloseTo(sums.tp / (sums.tp + sums.fn), 9)
        expect(found?.specificity).toBeCloseTo(sums.tn / (sums.tn + sums.fp), 9)
        const all = sums.tp + sums.fn + sums.tn + sums.fp
        expect(found?.confusion.fp).toBeCloseTo(sums.fp / all, 9)
        expect(found?.ppi.mean).toBeCloseTo((sums.tp + sums.fn) / all, 9)
        expect(calibrationFileSchema.safeParse({ calibrations: [found] }).success).toBe(true)
      }),
      { seed: 10, numRuns: 50 },
    )
  })

  it('estimates the rates of all runs from a part of them: rare failures that were drawn more often count for less', () => {
    const runs = Array.from({ length: 1000 }, (_, index) => judged(index, index < 40 ? 'fail' : 'pass'))
    // All that the judge fails were labelled, and a twentieth of what it passes.
    const labels = runs.flatMap((run, index) => {
      if (index < 40) return [[labelOf(run, index < 10 ? 'pass' : 'fail')]]
      return index % 20 === 0 ? [[labelOf(run, index % 80 === 0 ? 'fail' : 'pass', { drawProbability: 0.05 })]] : []
    })
    const [found] = calibrated(runs, labels).results().calibrations
    // A labelling file does not show which of the probabilities is that of the run.
    const blind = labels.map((each) => each.map((label) => ({ ...label, drawProbability: { pass: 0.05, fail: 1 } })))
    expect(calibrated(runs, blind).results().calibrations).toEqual([found])
    expect(found?.judgePassed).toBe(0.96)
    // Of 48 labelled passes 12 are bad: 240 of 960 runs, beside 30 that the judge fails.
    expect(found?.specificity).toBeCloseTo(30 / 270, 9)
    expect(found?.sensitivity).toBeCloseTo(720 / 730, 9)
  })

  it('follows the majority of several people, and counts a run on which they are divided as half of each kind', () => {
    const runs = Array.from({ length: 40 }, (_, index) => judged(index, index < 20 ? 'pass' : 'fail'))
    const labels = runs.map((run, index) => [
      labelOf(run, run.label),
      labelOf(run, index === 0 ? other(run.label) : run.label, { labeller: 'bob', labelledAt: '2026-11-23T09:00:00Z' }),
    ])
    const [found] = calibrated(runs, labels).results().calibrations
    expect(found).toMatchObject({
      labelledPass: 19,
      labelledFail: 20,
      labelledAt: '2026-11-23T09:00:00Z',
      sensitivity: 1,
    })
    expect(found?.confusion.fp).toBeCloseTo(0.5 / 40, 12)
  })

  it('leaves labels of an older revision out, and reports them', () => {
    const runs = Array.from({ length: 40 }, (_, index) => judged(index, index < 20 ? 'pass' : 'fail'))
    const labels = runs.map((run) => [labelOf(run, run.label)])
    const newer = runs.map((run, index) => (index === 0 ? { ...run, revision: 2 } : run))
    const calibrator = calibrated(newer, labels)
    expect(calibrator.misplaced()).toMatchObject([{ problem: 'older-revision', found: '2' }])
    expect(calibrator.results().calibrations).toMatchObject([{ labelledPass: 19, labelledFail: 20 }])
  })
})
