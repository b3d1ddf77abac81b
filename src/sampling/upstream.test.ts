import { describe, expect, test } from 'vitest'

import { upstreamProbability } from './upstream.ts'

function withOt(ot: string): { get(key: string): string | undefined } {
  return { get: (key) => (key === 'ot' ? ot : undefined) }
}

describe('The probability with which the tracer kept a trace', () => {
  // Thresholds and rates of the specification and of the Collector's pkg/sampling.
  test.each([
    ['th:0', 1],
    ['th:8', 1 / 2],
    ['th:c', 1 / 4],
    ['th:e', 1 / 8],
    ['th:f', 1 / 16],
    ['th:ff', 1 / 256],
    ['th:ffffffffffffff', 2 ** -56],
    ['th:fd70a3d70a3d71', 0.01],
    ['rv:9b8233f7e3a151;th:8', 1 / 2],
    ['th:8;rv:9b8233f7e3a151', 1 / 2],
  ])('is %s → %d', (ot, probability) => {
    expect(upstreamProbability('tracestate', withOt(ot))).toBeCloseTo(probability, 12)
  })

  test.each(['', 'th:', 'th:800000000000000', 'th:xyz', 'rv:9b8233f7e3a151', 'xth:8', 'th:8.'])(
    'is unknown if tracestate has ot=%s',
    (ot) => {
      expect(upstreamProbability('tracestate', withOt(ot))).toBeUndefined()
    },
  )

  test('is the configured value, whatever a caller wrote into tracestate', () => {
    expect(upstreamProbability(0.1, undefined)).toBe(0.1)
    expect(upstreamProbability(0.1, withOt('th:8'))).toBe(0.1)
  })

  test('is not read if the application does not configure it', () => {
    expect(upstreamProbability(undefined, withOt('th:8'))).toBeUndefined()
    expect(upstreamProbability('tracestate', undefined)).toBeUndefined()
  })
})
