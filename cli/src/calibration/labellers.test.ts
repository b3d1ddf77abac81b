import { describe, expect, it } from 'vitest'
import { labellerAgreement, truthOf } from './labellers.ts'
import type { Label } from '../../../src/cases/labels.ts'

const label = (value: 0 | 1, labeller: string): Label => ({
  runId: `${'0a'.repeat(16)}:${'1b'.repeat(8)}`,
  scorer: 'prompt_alignment',
  version: '1a2b3c4d',
  revision: 1,
  label: value === 1 ? 'pass' : 'fail',
  labeller,
  labelledAt: '2026-11-22T09:00:00Z',
  drawProbability: 1,
})

describe('what several people say', () => {
  it('gives the α of .095 of Krippendorff’s example with two people and two values', () => {
    const ann = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0] as const
    const bob = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0] as const
    const found = labellerAgreement(ann.map((value, index) => [label(value, 'ann'), label(bob[index] ?? 0, 'bob')]))
    expect(found?.alpha).toBeCloseTo(0.095, 3)
    expect(found).toMatchObject({ scores: 10, agreed: 0.6, labellers: ['ann', 'bob'] })
  })

  it('accepts scores with one label and with three', () => {
    const three = [label(1, 'ann'), label(1, 'bob'), label(0, 'eve')]
    expect(labellerAgreement([[label(1, 'ann')]])).toBeUndefined()
    expect(labellerAgreement([[label(1, 'ann')], three])).toMatchObject({ scores: 1, agreed: 1 / 3 })
    expect(labellerAgreement([[label(1, 'ann'), label(1, 'bob')]])).toMatchObject({ agreed: 1, alpha: undefined })
  })

  it('is decided by the majority, or counts as a half', () => {
    expect(truthOf([label(1, 'ann'), label(1, 'bob'), label(0, 'eve')])).toBe(1)
    expect(truthOf([label(1, 'ann'), label(0, 'bob')])).toBe(0.5)
    expect(truthOf([label(0, 'ann')])).toBe(0)
  })
})
