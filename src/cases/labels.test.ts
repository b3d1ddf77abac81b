import { describe, expect, it } from 'vitest'
import { labelLineSchema, labelSchema } from './labels.ts'
import type { Label } from './labels.ts'

const label: Label = {
  runId: `${'0a'.repeat(16)}:${'1b'.repeat(8)}`,
  scorer: 'prompt_alignment',
  version: '1a2b3c4d',
  judgeModel: 'judge-1',
  revision: 1,
  label: 'fail',
  note: 'It promises a refund that no tool confirmed.',
  labeller: 'ann',
  labelledAt: '2026-11-22T09:00:00Z',
  drawProbability: 0.25,
}

describe('labels', () => {
  it('are read as they were written', () => {
    expect(labelSchema.parse(JSON.parse(JSON.stringify(label)))).toEqual(label)
    expect(labelLineSchema.parse(label)).toEqual(label)
  })

  it('may be left open in a labelling file, and only there', () => {
    const open = { ...label, label: null, labeller: null, labelledAt: null, run: { input: 'content' } }
    expect(labelLineSchema.safeParse(open).success).toBe(true)
    expect(labelSchema.safeParse(open).success).toBe(false)
    const { label: _, ...misspelt } = { ...open, lable: 'pass' }
    expect(labelLineSchema.safeParse(misspelt).success).toBe(false)
  })

  it('have a draw probability for either verdict, or one for the verdict that the judge gave', () => {
    const both = { ...label, drawProbability: { pass: 0.1, fail: 1 / 3 } }
    expect(labelSchema.parse(JSON.parse(JSON.stringify(both)))).toEqual(both)
    expect(labelLineSchema.parse({ ...both, label: null })).toEqual({ ...both, label: null })
    for (const drawProbability of [{ pass: 0.1 }, { pass: 0, fail: 1 }, { pass: 0.1, fail: 2 }, 'MC4x']) {
      expect(labelSchema.safeParse({ ...label, drawProbability }).success).toBe(false)
      expect(labelLineSchema.safeParse({ ...label, drawProbability }).success).toBe(false)
    }
  })

  it.each([
    ['label', 'Pass'],
    ['drawProbability', 0],
    ['drawProbability', 1.01],
    ['revision', 0],
    ['runId', '0a:1b'],
    ['labelledAt', 'yesterday'],
    ['labeller', ''],
  ])('are refused if %s is %j', (key, value) => {
    const { error } = labelSchema.safeParse({ ...label, [key]: value })
    expect(error?.issues.map(({ path }) => path)).toEqual([[key]])
  })
})
