import { contentFree, contentOnly, explain, joinExplanations } from '../../model/explanation.ts'
import { unicodePattern } from '../../model/unicode-pattern.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { readOptions } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'
import { twoDecimals } from '../two-decimals.ts'

/** Shorter messages, such as "yes please", are said twice for many reasons. */
const LEAST_LENGTH = 12
/** The share of trigrams that two messages have in common if they ask the same. */
const SAME = 0.8
/** The characters of a message whose trigrams and words are compared. The rest of two messages must be equal. */
const MAX_COMPARED = 500
const MAX_NAMED = 3

const notWord = unicodePattern('[^\\p{L}\\p{N}]+', 'gu')
const number = unicodePattern('\\p{N}', 'u')
/** Shorter words that differ in a letter are often two names. Scripts without cases often have no blanks between words. */
const longWord = unicodePattern('^\\p{Ll}{6,}$', 'u')

/**
 * Repeated questions, by code: the share of the user's messages that say almost the same as an earlier one. Lower is better; passes at 0.
 *
 * Messages of less than 12 characters do not count. Two messages say the same if 80 % of their character trigrams are equal, and no number,
 * id or name differs: words may be added, or mistyped by one letter, but not replaced or put in another order, and numbers must be the same. A
 * conversation without two such messages is `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * const scorer = createRepeatedQuestionScorer()
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createRepeatedQuestionScorer(options: ScorerOptions = {}): Scorer {
  const { id = 'repeated_question', passAt = 0 } = readOptions('createRepeatedQuestionScorer', options, scorerKeys)
  return defineScorer({
    id,
    description: "Share of the user's messages that repeat an earlier one.",
    kind: 'code',
    level: 'conversation',
    better: 'lower',
    passAt,
    identity: { scorer: 'repeated_question' },
    needs: ['input'],
    mayLack: ['input'],
    assess: (_view, _context, { run: { conversation } }) => {
      const turns = conversation?.turns ?? []
      const messages = turns.flatMap(({ user = '' }, turn) => {
        const text = user.toLowerCase().replaceAll(notWord(), ' ').trim()
        return text.length < LEAST_LENGTH ? [] : [{ turn, user, text, trigrams: trigramsOf(text) }]
      })
      if (messages.length < 2) {
        const hasText = turns.some(({ user }) => user !== undefined)
        return hasText
          ? skip(
              'not-applicable',
              contentFree(`${id}: the user wrote no second message of ${LEAST_LENGTH} characters.`),
            )
          : skip('no-content', contentFree(`${id}: the spans hold no message of the user.`))
      }
      const repeated = messages.filter(({ text, trigrams }, index) =>
        messages
          .slice(0, index)
          .some((earlier) => similarity(earlier.trigrams, trigrams) >= SAME && haveSameWords(earlier.text, text)),
      )
      const named = repeated
        .slice(0, MAX_NAMED)
        .map(({ turn, user }) => explain`turn ${turn + 1}${contentOnly(` (${user.slice(0, 100)})`)}`)
      const rest = named.length === 0 ? contentFree('.') : explain`: ${joinExplanations(named, '; ')}.`
      return {
        status: 'scored',
        value: twoDecimals(repeated.length / messages.length),
        explanation: explain`${repeated.length} of ${messages.length} messages repeat an earlier one${rest}`,
        findings: repeated.map(({ turn, user }) => ({
          about: 'message',
          verdict: 'repeats',
          rating: 'bad',
          text: `Turn ${turn + 1}`,
          reason: user.slice(0, 100),
          places: [{ in: 'turn', index: turn }],
        })),
      }
    },
  })
}

function trigramsOf(text: string): ReadonlySet<string> {
  const trigrams = new Set<string>()
  for (let index = 0; index + 3 <= Math.min(text.length, MAX_COMPARED); index++)
    trigrams.add(text.slice(index, index + 3))
  return trigrams
}

/** The share of all trigrams of two texts that both have. */
function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0
  for (const trigram of one) if (other.has(trigram)) shared += 1
  return shared / (one.size + other.size - shared)
}

/** True if the second message has the words of the first, some of them mistyped, and may have more or fewer. */
function haveSameWords(one: string, other: string): boolean {
  const words = one.slice(0, MAX_COMPARED).split(' ')
  const others = other.slice(0, MAX_COMPARED).split(' ')
  const changed = words.filter((word) => !others.includes(word))
  const othersChanged = others.filter((word) => !words.includes(word))
  return (
    one.slice(MAX_COMPARED) === other.slice(MAX_COMPARED) &&
    ![...changed, ...othersChanged].some((word) => number().test(word)) &&
    !(hasNew(changed, othersChanged) && hasNew(othersChanged, changed)) &&
    words.filter((word) => others.includes(word)).join() === others.filter((word) => words.includes(word)).join()
  )
}

/** Whether some word is none of the others, mistyped. */
function hasNew(words: readonly string[], others: readonly string[]): boolean {
  return words.some((word) => !others.some((other) => isMistyped(word, other)))
}

/** Whether a letter is missing or another one, or two are swapped. First letters are rarely mistyped. */
function isMistyped(one: string, other: string): boolean {
  if (one[0] !== other[0] || !longWord().test(one) || !longWord().test(other)) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start += 1
  const rest = one.slice(start)
  const otherRest = other.slice(start)
  const endings = [rest.slice(1), `${rest[1]}${rest[0]}${rest.slice(2)}`]
  return endings.includes(otherRest) || rest === otherRest.slice(1) || rest.slice(1) === otherRest.slice(1)
}
