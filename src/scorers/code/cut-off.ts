import { contentFree, explain } from '../../model/explanation.ts'
import { skipUnfinished } from '../../scoring/absence.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { readOptions } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'

/** Reasons by which a provider ends a reply at its limit of tokens, without blanks and marks: OpenAI's, Anthropic's, Google's, xAI's, … */
const LENGTH =
  'incomplete length maxlength maxoutputtokens maxtokens modelcontextwindowexceeded modellength reasonmaxcontext reasonmaxlen tokenlimit'

/** Reasons by which a filter ends a reply. */
const FILTER =
  'blocklist contentfilter contentfiltered errortoxic guardrailintervened imagesafety prohibitedcontent recitation refusal safety spii'

/**
 * Cut off, by code: 1 if the last model call ended at a limit of tokens or by the provider's filter, so that the answer is a part of one; else
 * 0. Lower is better; passes at 0.
 *
 * The reason is that of the provider, in the spellings of all dialects. `skipped: no-content` if the spans hold none.
 *
 * @example
 * ```ts
 * const scorer = createCutOffScorer()
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createCutOffScorer(options: ScorerOptions = {}): Scorer {
  const { id = 'cut_off', passAt } = readOptions('createCutOffScorer', options, scorerKeys)
  return defineScorer({
    id,
    description: 'Whether the answer ended at a limit of tokens or by a filter.',
    kind: 'code',
    better: 'lower',
    passAt,
    identity: { scorer: 'cut_off', reasons: [LENGTH, FILTER] },
    inline: true,
    needs: ['steps'],
    assess: (_view, _context, { run }) => {
      const unfinished = skipUnfinished(run, id)
      if (unfinished !== undefined) return unfinished
      const reasons = run.steps.at(-1)?.finishReasons ?? []
      if (reasons.length === 0) {
        return skip('no-content', contentFree(`${id}: the spans do not hold why the last model call ended.`))
      }
      const cut = reasons.map(kindOf).find((kind) => kind !== undefined)
      if (cut === undefined) {
        return { status: 'scored', value: 0, explanation: explain`The last model call ended by ${reasons.join(', ')}.` }
      }
      return {
        status: 'scored',
        value: 1,
        explanation: explain`The answer was cut off ${contentFree(WORDS[cut])} (${reasons.join(', ')}).`,
        findings: [
          { about: 'answer', verdict: cut, rating: 'bad', text: reasons.join(', '), places: [{ in: 'answer' }] },
        ],
      }
    },
  })
}

const WORDS = { length: 'at a limit of tokens', filter: 'by a filter' } as const

/** `FinishReason.MAX_TOKENS`, `max_tokens` and `max-tokens` are one. */
function kindOf(reason: string): keyof typeof WORDS | undefined {
  const last = reason.slice(reason.lastIndexOf('.') + 1)
  const plain = last.replaceAll(/[^a-z]/gi, '').toLowerCase()
  return LENGTH.split(' ').includes(plain) ? 'length' : FILTER.split(' ').includes(plain) ? 'filter' : undefined
}
