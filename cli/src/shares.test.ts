import { expect, it } from 'vitest'
import { barOf, shareText } from './shares.ts'

it('a share is 0 % only if it is nothing, and 100 % only if it is everything', () => {
  expect([0, 1 / 617, 0.08, 0.5, 616 / 617, 1].map(shareText)).toEqual(['0 %', '<1 %', '8 %', '50 %', '>99 %', '100 %'])
})

it('a bar is empty only for nothing, and as wide for every share', () => {
  expect([0, 1 / 617, 0.5, 0.95, 1].map((share) => barOf(share, 8))).toEqual([
    '        ',
    '▏       ',
    '████    ',
    '███████▋',
    '████████',
  ])
})
