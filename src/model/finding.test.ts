import { describe, expect, it } from 'vitest'

import { findingLine, readFindings } from './finding.ts'
import type { Finding } from './finding.ts'

const finding: Finding = {
  about: 'claim',
  verdict: 'not_stated',
  rating: 'bad',
  text: 'It is warm.',
  reason: 'no tool says so',
  places: [{ in: 'answer' }, { in: 'result', index: 2, runId: 'nested', quote: '14 degrees' }],
}

describe('findings', () => {
  it('are the same after JSON', () => {
    expect(readFindings(JSON.parse(JSON.stringify([finding])))).toEqual([finding])
  })

  it.each([
    undefined,
    'claim',
    {},
    [null, 1, 'claim', {}, { ...finding, rating: 'fine' }, { ...finding, text: 1 }, { ...finding, about: undefined }],
  ])('are none in a value that is no list of findings: %j', (value) => {
    expect(readFindings(value)).toEqual([])
  })

  it('are kept without places and reasons that cannot be read', () => {
    const places = [null, { in: 'nowhere' }, { in: 'call', index: -1, path: '' }, { in: 'turn', index: 1.5 }]
    expect(readFindings([{ ...finding, reason: '', places }])).toEqual([
      {
        about: 'claim',
        verdict: 'not_stated',
        rating: 'bad',
        text: 'It is warm.',
        places: [{ in: 'call' }, { in: 'turn' }],
      },
    ])
  })

  it('are bounded, and so are their texts and places', () => {
    const places = Array.from({ length: 1000 }, () => ({ in: 'answer' }))
    const found = readFindings(Array.from({ length: 1000 }, () => ({ ...finding, text: 'x'.repeat(5000), places })))
    expect(found.length).toBe(100)
    expect(found[0]?.text.length).toBe(1000)
    expect(found[0]?.places?.length).toBe(20)
  })

  it('are a line each in messages', () => {
    expect(findingLine(finding)).toBe('not stated: It is warm. (no tool says so)')
    const { reason: _reason, ...without } = finding
    expect(findingLine(without)).toBe('not stated: It is warm.')
  })
})
