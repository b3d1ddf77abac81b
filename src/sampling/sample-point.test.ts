import { createHash } from 'node:crypto'

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { SamplePoint } from './sample-point.ts'

const traceIds = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex'))

function randomTraceId(seed: number): string {
  return createHash('sha256').update(`trace ${seed}`).digest('hex').slice(0, 32)
}

describe('A sample point', () => {
  test('is the first 52 bits of SHA-256 over "spanscore:" and the trace id, as fixed vectors say', () => {
    // printf 'spanscore:0af7651916cd43dd8448eb211c80319c' | sha256sum → 45f5ecb1d68ae2846ca5…
    expect(new SamplePoint('0af7651916cd43dd8448eb211c80319c').value).toBe(0x45f5ecb1d68ae / 2 ** 52)
    expect(new SamplePoint('4bf92f3577b34da6a3ce929d0e0e4736').value).toBe(0xf2ca1cc4fec69 / 2 ** 52)
    expect(new SamplePoint('00000000000000000000000000000001').value).toBe(0xf1876d4a5ed68 / 2 ** 52)
    expect(new SamplePoint('ffffffffffffffffffffffffffffffff').value).toBe(0xdc937e24e696b / 2 ** 52)
  })

  test('keeps at a higher rate everything that it keeps at a lower one', () => {
    fc.assert(
      fc.property(
        traceIds,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (id, a, b) => {
          const [low, high] = a < b ? [a, b] : [b, a]
          expect(new SamplePoint(id).isBelow(low) && !new SamplePoint(id).isBelow(high)).toBe(false)
        },
      ),
    )
  })

  test('keeps nothing at 0 and everything at 1', () => {
    fc.assert(
      fc.property(traceIds, (id) => {
        expect([new SamplePoint(id).isBelow(0), new SamplePoint(id).isBelow(1)]).toEqual([false, true])
        expect(new SamplePoint(id).value).toBeGreaterThanOrEqual(0)
        expect(new SamplePoint(id).value).toBeLessThan(1)
      }),
    )
  })

  test('spreads 100,000 trace ids evenly (chi-square over 20 bins, far below its 0.1 % point of 43.8)', () => {
    const bins = Array.from({ length: 20 }, () => 0)
    for (let seed = 0; seed < 100_000; seed += 1) {
      const bin = Math.floor(new SamplePoint(randomTraceId(seed)).value * 20)
      bins[bin] = (bins[bin] ?? 0) + 1
    }
    const chiSquare = bins.reduce((sum, count) => sum + (count - 5_000) ** 2 / 5_000, 0)
    expect(chiSquare).toBeLessThan(43.8)
  })

  test('is independent of a tracer that keeps a tenth by the last 56 bits of the trace id', () => {
    let sampled = 0
    let kept = 0
    for (let seed = 0; seed < 200_000; seed += 1) {
      const id = randomTraceId(seed)
      if (Number.parseInt(id.slice(-14, -1), 16) / 2 ** 52 >= 0.1) continue
      sampled += 1
      if (new SamplePoint(id).isBelow(0.1)) kept += 1
    }
    // Four standard deviations of a binomial around a tenth.
    expect(Math.abs(kept / sampled - 0.1)).toBeLessThan(4 * Math.sqrt(0.09 / sampled))
  })
})

test('A salt makes points that cannot be derived from the trace id, and are the same wherever the salt is', () => {
  const ids = Array.from({ length: 2000 }, (_, index) => randomTraceId(index))
  const evading = ids.filter((id) => new SamplePoint(id).value >= 0.9)
  const kept = evading.filter((id) => new SamplePoint(id, 'a secret of the operator').value < 0.9)
  // Chosen to be above .9 without the salt, nine in ten are below it with the salt.
  expect(kept.length / evading.length).toBeGreaterThan(0.8)
  expect(new SamplePoint('0af7651916cd43dd8448eb211c80319c', 'a').value).toBe(
    new SamplePoint('0af7651916cd43dd8448eb211c80319c', 'a').value,
  )
  expect(new SamplePoint('0af7651916cd43dd8448eb211c80319c', 'a').value).not.toBe(
    new SamplePoint('0af7651916cd43dd8448eb211c80319c', 'b').value,
  )
})
