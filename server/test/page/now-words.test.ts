import { expect, it } from 'vitest'

import type { Now, NowRow } from '../../src/page/store/now.ts'
import { headline, moreScorers, silences } from '../../page/src/parts/now-words.ts'

const figures = { runs: 26, judged: 26, failed: 0, errors: 0, p95Ms: 10, usd: 0, dislikes: 0, opinions: 0 }

const cellOf = (scorer: string, runs: number, mean: number): NowRow['cells'][number] => ({
  scorer,
  runs,
  failing: { mean, standardError: 0, n: runs, interval95: [0, 1] },
  change: undefined,
  state: 'same',
  spark: [],
  sinceMs: undefined,
  failingSince: undefined,
})

const row: NowRow = {
  agent: 'weather',
  agents: 1,
  runs: 26,
  usd: 0,
  dislikes: 0,
  opinions: 0,
  cells: [cellOf('tool_errors', 26, 0), cellOf('user_friction', 1, 1)],
}

const nowWith = (...unknown: Now['unknown']): Now => ({
  fromMs: 0,
  toMs: 86_400_000,
  now: figures,
  before: undefined,
  rows: [row],
  scorers: ['tool_errors'],
  attacks: [],
  unknown,
})

const drawn = { kind: 'drawn', scorer: 'tool_errors', runs: 20 } as const
const noKey = {
  kind: 'silent-scorer',
  scorer: 'pa_nokey',
  agents: ['weather'],
  reason: 'judge-unavailable',
  gaveBefore: false,
} as const
const ended = {
  kind: 'silent-scorer',
  scorer: 'tone',
  agents: ['weather', 'trip'],
  reason: undefined,
  gaveBefore: true,
} as const
const few = { kind: 'few-runs', agents: ['trip'], fewerThan: 20 } as const

it('names the scorers that one cause silences together', () => {
  const silent = [noKey, ended, { ...noKey, scorer: 'tone_nokey' }]
  expect(silences(nowWith(few, ...silent, { ...ended, scorer: 'kind' }), undefined, false)).toEqual([
    'pa_nokey, tone_nokey gave no score of weather: judge-unavailable',
    'tone, kind give no scores of 2 agents any more',
  ])
})

it('says that all is well only if no scorer was silent, and no runs are left out', () => {
  expect(headline(nowWith(drawn), undefined, false)).toBe(
    'Not all is known: 20 runs of tool_errors were drawn to be labelled',
  )
  expect(headline(nowWith(), undefined, false)).toMatch(/^✓ All well since /)
  const { unknown } = nowWith(noKey, ended, few)
  expect(headline(nowWith(...unknown), undefined, false)).toMatch(
    /^Not all is known: pa_nokey gave no score of weather: judge-unavailable$/,
  )
  expect(headline({ ...nowWith(...unknown), before: figures }, undefined, false)).toMatch(
    /^Nothing got worse since .*, but not all is known: pa_nokey gave no score of weather: judge-unavailable$/,
  )
  expect(headline(nowWith({ kind: 'nothing-before' }), undefined, false)).toBe(
    'Not all is known: there are no earlier runs to compare with',
  )
  expect(headline(nowWith({ ...noKey, gaveBefore: true }), undefined, false)).toBe(
    'Not all is known: pa_nokey gives no scores of weather any more: judge-unavailable',
  )
})

it('names every silent scorer, below the headline if that is about something else', () => {
  const now = nowWith(noKey, ended, few)
  const [first, second] = [
    'pa_nokey gave no score of weather: judge-unavailable',
    'tone gives no scores of 2 agents any more',
  ]
  expect(silences(now, undefined, false)).toEqual([second])
  expect(silences(now, { row, cell: cellOf('tool_errors', 26, 0.5) }, false)).toEqual([first, second])
  expect(silences(now, undefined, true)).toEqual([first, second])
})

it('says how many of the scorers without a column fail runs', () => {
  const shown = { rows: [row], unknown: [] }
  expect(moreScorers(['tool_errors', 'user_friction'], shown)).toBe('2 scorers more, 1 with failures')
  expect(moreScorers(['tool_errors'], shown)).toBe('1 scorer more, without failures')
  expect(moreScorers(['tool_errors'], { rows: [row], unknown: [drawn] })).toBe('1 scorer more')
})
