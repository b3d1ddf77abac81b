import type { BaselineComparison, NewFailure } from './baseline.ts'
import { numberText } from './number-text.ts'
import type { Tries } from './tries.ts'

/** `1 → 0`, or with several tries `5 of 5 → 1 of 5 passed (mean 1 → 0.2)`. */
export function changeText({ before, now }: Pick<NewFailure, 'before' | 'now'>): string {
  const means = `${meanText(before)} → ${meanText(now)}`
  if (before.tries === 1 && now.tries === 1) return means
  return `${triesText(before)} → ${triesText(now)} passed (mean ${means})`
}

/** How many questions passed every try (pass^k); empty if each was asked once. */
export function everyTry({ questions, passedEveryTry, tries }: BaselineComparison): string {
  if (Math.max(tries.before, tries.now) < 2) return ''
  const side = (which: 'before' | 'now') => {
    const share = `${Math.round((100 * passedEveryTry[which]) / questions)} %`
    return `${share} (${tries[which] === 1 ? '1 try' : `${tries[which]} tries`})`
  }
  return `questions that passed every try: ${side('now')}, before ${side('before')}`
}

const triesText = ({ passed, tries }: Tries): string => `${passed} of ${tries}`

const meanText = ({ mean }: Tries): string => (mean === undefined ? 'no score' : numberText(mean))
