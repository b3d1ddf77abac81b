import { expect, test } from 'vitest'

import { conversationKey } from '../src/conversations/conversation-key.ts'
import { SamplePoint } from '../src/sampling/sample-point.ts'
import { addWeighted, weightedMean } from '../src/sampling/weighted-mean.ts'
import type { WeightedSums } from '../src/sampling/weighted-mean.ts'

const NOTHING: WeightedSums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
const DAYS = 400
const RUNS_PER_DAY = 5_000

const traceIdBytes = Buffer.alloc(16)

/** Mulberry32: a small generator with a seed, so that the days are the same in every run of the test. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** 4 % of the runs are errors, which score badly; the others score well. Scores are positions in the range, 0..1. */
function draw(random: () => number): { traceId: string; isError: boolean; y: number } {
  for (let offset = 0; offset < 16; offset += 4) traceIdBytes.writeUInt32BE(Math.floor(random() * 2 ** 32), offset)
  const isError = random() < 0.04
  const y = isError ? random() * 0.4 : 1 - random() ** 3
  return { traceId: traceIdBytes.toString('hex'), isError, y: Math.round(y * 10) / 10 }
}

test('With all errors and 5 % of the rest scored, the weighted interval holds the true mean on over 93 % of 400 days', () => {
  const random = generator(20_261_121)
  let covered = 0
  let naiveCovered = 0
  let width = 0
  let bias = 0
  let naiveBias = 0
  for (let day = 0; day < DAYS; day += 1) {
    let truth = 0
    let sums = NOTHING
    let count = 0
    let naive = 0
    let naiveSquares = 0
    for (let n = 0; n < RUNS_PER_DAY; n += 1) {
      const { traceId, isError, y } = draw(random)
      truth += y / RUNS_PER_DAY
      const rate = isError ? 1 : 0.05
      if (!new SamplePoint(traceId).isBelow(rate)) continue
      sums = addWeighted(sums, rate, y)
      count += 1
      naive += y
      naiveSquares += y * y
    }
    const { mean, interval95 } = weightedMean(sums)!
    if (interval95[0] <= truth && truth <= interval95[1]) covered += 1
    bias += (mean - truth) / DAYS
    width += (interval95[1] - interval95[0]) / DAYS
    const naiveMean = naive / count
    const half = 1.96 * Math.sqrt((naiveSquares / count - naiveMean ** 2) / count)
    if (Math.abs(naiveMean - truth) <= half) naiveCovered += 1
    naiveBias += (naiveMean - truth) / DAYS
  }
  console.info(
    `weighted: covers ${covered} of ${DAYS} days, width ${width.toFixed(3)}, bias ${bias.toFixed(4)}; ` +
      `naive: covers ${naiveCovered}, bias ${naiveBias.toFixed(4)}`,
  )
  expect(covered / DAYS).toBeGreaterThanOrEqual(0.93)
  // Wilson's interval assumes scores of 0 or 1, which is conservative, but it must not be so wide that it is useless.
  expect(width).toBeLessThan(0.12)
  expect(Math.abs(bias)).toBeLessThan(0.002)
  // The mean on a dashboard that averages scores without weights.
  expect(naiveCovered / DAYS).toBeLessThan(0.01)
  expect(naiveBias).toBeLessThan(-0.2)
}, 60_000)

test('The interval of a scorer of calls holds the true mean on 95 % of days, and one that treats each call alone does not', () => {
  const random = generator(20_261_128)
  let [covered, coveredAlone] = [0, 0]
  for (let day = 0; day < DAYS; day += 1) {
    let [sums, alone] = [NOTHING, NOTHING]
    for (let run = 0; run < 300; run += 1) {
      // One to nine calls. In six of ten runs they share their outcome: 80 % of all calls pass.
      const count = 1 + Math.floor(random() * 9)
      const shared = random() < 0.6 ? Number(random() < 0.8) : undefined
      const ys = Array.from({ length: count }, () => shared ?? Number(random() < 0.8))
      sums = addWeighted(sums, 0.5, ...ys)
      for (const y of ys) alone = addWeighted(alone, 0.5, y)
    }
    const [inAll, inAlone] = [sums, alone].map((each) => {
      const { interval95 } = weightedMean(each)!
      return interval95[0] <= 0.8 && 0.8 <= interval95[1]
    })
    if (inAll === true) covered += 1
    if (inAlone === true) coveredAlone += 1
  }
  expect(covered / DAYS).toBeGreaterThanOrEqual(0.95)
  expect(coveredAlone / DAYS).toBeLessThan(0.85)
})

test('Conversations are chosen by service and id as often as the rate says, and their mean is that of all conversations', () => {
  const random = generator(20_261_129)
  const rate = 0.1
  const days = 100
  const perDay = 1_000
  const resource = { 'service.name': 'shop' }
  let [chosen, covered, bias] = [0, 0, 0]
  for (let day = 0; day < days; day += 1) {
    let [sums, truth] = [NOTHING, 0]
    for (let each = 0; each < perDay; each += 1) {
      // Long conversations score worse: a sample of runs would have too many of them.
      const runs = 1 + Math.floor(random() * 9)
      const y = Number(random() < 1 - runs / 10)
      truth += y / perDay
      const key = conversationKey({ conversationId: `chat-${day}-${each}`, resource }) ?? ''
      if (!new SamplePoint(key).isBelow(rate)) continue
      chosen += 1
      sums = addWeighted(sums, rate, y)
    }
    const { mean, interval95 } = weightedMean(sums)!
    if (interval95[0] <= truth && truth <= interval95[1]) covered += 1
    bias += (mean - truth) / days
  }
  expect(Math.abs(chosen / (days * perDay) - rate)).toBeLessThan(0.003)
  expect(covered / days).toBeGreaterThanOrEqual(0.93)
  expect(Math.abs(bias)).toBeLessThan(0.01)
})
