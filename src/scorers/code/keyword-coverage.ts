import { contentFree, explain } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { unicodePattern } from '../../model/unicode-pattern.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { answerOf, list } from './code-scorer.ts'
import { expectReturned } from '../expect-returned.ts'
import { expectFlags, expectOption, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'

/** A word or phrase, or a list of alternatives. */
export type Keyword = string | readonly string[]

/** Options of `createKeywordCoverageScorer`. */
export interface KeywordCoverageOptions extends ScorerOptions {
  /** What the answer should mention, or a function that returns it for each run. */
  readonly keywords: readonly Keyword[] | ((run: AgentRun) => readonly Keyword[] | undefined)
  /** Whether `Oslo` differs from `oslo`. @default false */
  readonly caseSensitive?: boolean
  /** Whether `cat` matches `cat.` but not `catalogue`. Has no effect in scripts without blanks between words. @default true */
  readonly wholeWords?: boolean
}

const KNOWN: KeysOf<KeywordCoverageOptions> = { ...scorerKeys, keywords: true, caseSensitive: true, wholeWords: true }

/**
 * Keyword coverage, by code: the share of the given words and phrases that the answer mentions. Passes at 1.
 *
 * Character widths, composed characters (Unicode NFKC), and the kind and number of blanks do not matter. Runs without keywords are
 * `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * const scorer = createKeywordCoverageScorer({ keywords: ['refund', ['14 days', 'two weeks']] })
 * ```
 *
 * @throws TypeError if a keyword is not a string or is blank, or an option is invalid or unknown
 */
export function createKeywordCoverageScorer(options: KeywordCoverageOptions): Scorer {
  const factory = 'createKeywordCoverageScorer'
  const { id = 'keyword_coverage', keywords, ...more } = readOptions(factory, options, KNOWN)
  const { caseSensitive = false, wholeWords = true, passAt } = more
  const expected = 'keywords to be words, phrases or lists of alternatives'
  if (typeof keywords !== 'function') expectOption(areKeywords(keywords), factory, expected, keywords)
  expectFlags(factory, { caseSensitive, wholeWords })
  return defineScorer({
    id,
    description: 'Share of the expected words and phrases that the answer mentions.',
    kind: 'code',
    passAt,
    identity: { scorer: 'keyword_coverage', keywords, caseSensitive, wholeWords },
    inline: true,
    needs: ['output'],
    assess: (run, _context, reads) => {
      const wanted =
        typeof keywords === 'function' ? expectReturned(keywords(run), id, expected, areKeywords) : keywords
      if (wanted === undefined || wanted.length === 0) {
        return skip(
          'not-applicable',
          explain`${contentFree(id)}: nothing that the answer must mention is expected of this run.`,
        )
      }
      const answer = answerOf(reads)
      if (typeof answer !== 'string') return answer
      const text = plain(answer, caseSensitive)
      const missing = wanted.filter(
        (keyword) => !alternatives(keyword).some((phrase) => mentions(text, plain(phrase, caseSensitive), wholeWords)),
      )
      const names = missing.map((keyword) => alternatives(keyword).join(' or '))
      // Keywords from a function may be content of the run.
      const shown = list(typeof keywords === 'function' ? names : names.map(contentFree))
      const which = names.length === 0 ? explain`` : explain`; missing: ${shown}`
      return {
        status: 'scored',
        value: (wanted.length - missing.length) / wanted.length,
        explanation: explain`The answer mentions ${wanted.length - missing.length} of ${wanted.length} expected texts${which}.`,
        findings: names.map((name) => ({
          about: 'keyword',
          verdict: 'missing',
          rating: 'bad',
          text: name,
          places: [{ in: 'answer' }],
        })),
      }
    },
  })
}

function alternatives(keyword: Keyword): readonly string[] {
  return typeof keyword === 'string' ? [keyword] : keyword
}

function areKeywords(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (keyword) => isPhrase(keyword) || (Array.isArray(keyword) && keyword.length > 0 && keyword.every(isPhrase)),
    )
  )
}

function isPhrase(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

/** Sequences of blanks, and blanks other than the space. Single spaces, which are the most frequent, stay as they are. */
const OTHER_BLANKS = /[^\S ]\s*| \s+/g

function plain(text: string, caseSensitive: boolean): string {
  const normal = text.normalize('NFKC').replaceAll(OTHER_BLANKS, ' ').trim()
  return caseSensitive ? normal : normal.toLowerCase()
}

function mentions(text: string, phrase: string, wholeWords: boolean): boolean {
  const characters = Array.from(phrase)
  const [first = '', last = ''] = [characters[0], characters.at(-1)]
  let at = text.indexOf(phrase)
  while (at !== -1) {
    if (!wholeWords) return true
    const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? ''
    const after = Array.from(text.slice(at + phrase.length, at + phrase.length + 2))[0] ?? ''
    if (!joins(before, first) && !joins(last, after)) return true
    at = text.indexOf(phrase, nextStart(text, at))
  }
  return false
}

/** Where the phrase can begin next. Not within the same word, which may have a million letters. */
function nextStart(text: string, at: number): number {
  const restOfWord = restOfWordPattern()
  restOfWord.lastIndex = at
  return Math.max(at + 1, at + (restOfWord.exec(text)?.[0].length ?? 0))
}

/** Whether two neighbours belong to one word: both are letters or digits of a script with blanks between words. */
function joins(one: string, other: string): boolean {
  return letter().test(one) && letter().test(other) && !unspaced().test(one) && !unspaced().test(other)
}

/** Scripts without blanks between words. */
const UNSPACED = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー]'
const LETTER = '[\\p{L}\\p{N}\\p{M}_]'
const letter = unicodePattern(`^${LETTER}$`, 'u')
const unspaced = unicodePattern(`^${UNSPACED}$`, 'u')
const restOfWordPattern = unicodePattern(`(?:(?!${UNSPACED})${LETTER})*`, 'uy')
