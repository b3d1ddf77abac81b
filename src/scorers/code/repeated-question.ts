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
/** Characters of a message that are compared. */
const MAX_COMPARED = 500
const MAX_NAMED = 3

const notWord = unicodePattern('[^\\p{L}\\p{N}]+', 'gu')

/**
 * Repeated questions, by code: the share of the user's messages that say almost the same as an earlier one. Lower is better; passes at 0.
 *
 * Messages of less than 12 characters do not count. Two messages say the same if 80 % of their character trigrams are equal. A conversation
 * without two such messages is `skipped: not-applicable`.
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
        return text.length < LEAST_LENGTH ? [] : [{ turn, user, trigrams: trigramsOf(text) }]
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
      const repeated = messages.filter(({ trigrams }, index) =>
        messages.slice(0, index).some((earlier) => similarity(earlier.trigrams, trigrams) >= SAME),
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
