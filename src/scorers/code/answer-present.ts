import { contentFree, explain } from '../../model/explanation.ts'
import { unicodePattern } from '../../model/unicode-pattern.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { Reads } from '../../scoring/reads.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer, ScoredVerdict } from '../../scoring/scorer.ts'
import { answerOf, listNames } from './code-scorer.ts'
import { callEndingOf } from '../../scoring/call-ending.ts'
import { skip } from '../skip.ts'
import { skipUnfinished } from '../../scoring/absence.ts'
import { expectFlags, expectOption, readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'

/** Why a text is not an answer: `empty`; `boilerplate`, an opening with nothing after it; or `refusal`. */
export type NoAnswer = 'empty' | 'boilerplate' | 'refusal'

/** Options of `createAnswerPresentScorer`. */
export interface AnswerPresentOptions extends ScorerOptions {
  /** Whether refusals count as answers, for example if policy requires them. @default false */
  readonly allowRefusals?: boolean
  /** More openings that make a short answer a refusal, for example in another language. @default none */
  readonly refusals?: readonly RegExp[]
}

const KNOWN: KeysOf<AnswerPresentOptions> = { ...scorerKeys, allowRefusals: true, refusals: true }

/**
 * Answer present, by code: 1 if the run has an answer, 0 if it is empty (only blanks and punctuation), boilerplate (an opening such as
 * "Thought process:" with nothing after it), or a refusal.
 *
 * A refusal is a short answer that starts like one, or says only "I do not know.", in English, German, French, Spanish, Portuguese, Italian,
 * Japanese, Chinese or Korean.
 * A longer answer that declines something and then helps is not a refusal. Such texts win points from careless judges (arXiv 2507.08794),
 * and are found at no cost: 237 of 983 full refusals of [XSTest](https://github.com/paul-rottger/xstest), with 9 false ones among 1,091
 * answers. Runs that failed or wait for somebody are `skipped`.
 *
 * A run without a text that handed the user over to a person, by a tool that `handOver` of the scoring options names, scores 1. One whose last
 * call succeeded is `skipped: no-output`, because it may have ended as it should.
 *
 * @example
 * ```ts
 * const scorer = createAnswerPresentScorer()
 * ```
 *
 * @throws TypeError if an option is invalid or unknown
 */
export function createAnswerPresentScorer(options: AnswerPresentOptions = {}): Scorer {
  const factory = 'createAnswerPresentScorer'
  const { id = 'answer_present', allowRefusals = false, refusals = [], passAt } = readOptions(factory, options, KNOWN)
  expectFlags(factory, { allowRefusals })
  const areRefusals = Array.isArray(refusals) && refusals.every((pattern) => pattern instanceof RegExp)
  expectOption(areRefusals, factory, 'refusals to be a list of RegExp', refusals)
  return defineScorer({
    id,
    description: 'Whether the run gave an answer: not empty, no boilerplate, no refusal.',
    kind: 'code',
    passAt,
    identity: { scorer: 'answer_present', allowRefusals, refusals },
    // The application's patterns may be slow, so they are only applied to short answers, and not while a span is ending.
    inline: refusals.length === 0,
    needs: ['output'],
    readsHandOver: true,
    mayLack: ['toolCalls'],
    assess: (_run, { handOver }, reads) => {
      const wordless = withoutWords(reads, handOver)
      if (wordless !== undefined) return wordless
      const answer = answerOf(reads)
      if (typeof answer !== 'string') return answer
      const kind = kindOf(answer, refusals)
      const isAnswer = kind === undefined || (kind === 'refusal' && allowRefusals)
      const words = contentFree(kind === undefined ? 'an answer' : WORDS[kind])
      const quote =
        kind === undefined || kind === 'empty' ? explain`` : explain`: ${JSON.stringify(answer.trim().slice(0, 120))}`
      return {
        status: 'scored',
        value: isAnswer ? 1 : 0,
        explanation: explain`The run gave ${words}${quote}.`,
        ...(!isAnswer && {
          findings: [
            {
              about: 'answer',
              verdict: kind,
              rating: 'bad',
              text: answer.trim().slice(0, 120),
              places: [{ in: 'answer' }],
            },
          ],
        }),
        details: { kind: kind ?? 'answer' },
      }
    },
  })
}

/** What a run without a text scores that ended in a call; `undefined` for any other run. */
function withoutWords(
  { run, scorerId: id }: Reads,
  handOver: readonly string[] | undefined,
): ScoredVerdict | Skipped | undefined {
  if (run.output !== undefined && meaningful().test(run.output)) return undefined
  // A text that a setting keeps out may have been there.
  if (run.missing.some(({ what, why }) => what === 'output' && why === 'not-captured')) return undefined
  if (skipUnfinished(run, id) !== undefined) return undefined
  const ending = callEndingOf(run, handOver)
  if (ending === undefined) return undefined
  const name = listNames([ending.call.name], new Set(handOver))
  return ending.isHandOver
    ? {
        status: 'scored',
        value: 1,
        explanation: explain`The run gave no text: it handed the user over to a person by ${name}.`,
        details: { kind: 'hand-over' },
      }
    : skip('no-output', explain`${contentFree(id)}: no text; the last call was ${name}, which succeeded.`)
}

const WORDS: Readonly<Record<NoAnswer, string>> = {
  empty: 'an empty answer',
  boilerplate: 'an opening and nothing after it',
  refusal: 'a refusal',
}

/** Longer answers are neither just an opening nor a refusal, and are not even normalised. */
const LONGEST_LOOKED_AT = 2000

/** Longer answers that start like a refusal go on to say something. */
const LONGEST_REFUSAL = 400

/** A letter, a digit, a symbol or an emoji. */
const meaningful = unicodePattern('[\\p{L}\\p{N}\\p{So}\\p{Emoji_Presentation}]', 'u')

function kindOf(answer: string, refusals: readonly RegExp[]): NoAnswer | undefined {
  if (!meaningful().test(answer)) return 'empty'
  const trimmed = answer.trim()
  if (trimmed.length > LONGEST_LOOKED_AT) return undefined
  const text = trimmed.normalize('NFKC').replaceAll('’', "'").trim()
  if (BOILERPLATE.test(text)) return 'boilerplate'
  if (Array.from(text).length > LONGEST_REFUSAL) return undefined
  // Other patterns may have `g` or `y`, whose `test` is stateful; `search` is not.
  return [REFUSAL, ...refusals].some((pattern) => text.search(pattern) === 0) ? 'refusal' : undefined
}

/** The whole text is an opening. */
const BOILERPLATE = new RegExp(
  [
    '(?:thought process|reasoning|solution|answer|final answer|response|output|解|解答|回答|思考過程)',
    "let'?s (?:think|solve)(?: (?:about )?(?:this|the) problem| this)?(?: step[ -]by[ -]step)?",
    '(?:sure|certainly|of course|okay)',
    // An announcement ends with a colon: "Here is your ticket." may be the answer.
    "(?:(?:sure|certainly|of course|okay)[!,. ]*)?(?:here (?:is|are)|let me|i will|i'll)\\b[^.:!?\\n]{0,80}(?=[:：…])",
  ]
    .map((opening) => `^${opening}\\s*[:：.。!！…]*$`)
    .join('|'),
  'iu',
)

const REFUSAL = new RegExp(
  [
    "(?:i'm|i am) (?:very |really |so |truly )?(?:sorry|afraid),? ?(?:but )?(?:that )?(?:i|this|we)\\b.{0,40}(?:can'?t|cannot|unable|not able|won'?t|don'?t)",
    "(?:sorry|apologies|i apologi[sz]e),? (?:but )?(?:i|we) (?:can'?t|cannot|am unable|are unable|am not able|won'?t)",
    "(?:i|we) (?:can'?t|cannot|won'?t|am unable to|am not able to|are unable to|must decline to) (?:help|assist|provide|comply|answer|do that|fulfil|support|share|discuss|create|generate|continue)",
    "as an ai\\b.{0,60}(?:can'?t|cannot|unable|not able|don'?t)",
    '(?:es )?tut mir leid,? (?:aber )?.{0,60}(?:nicht|kein)',
    'ich kann (?:dir|ihnen|dabei|das|diese).{0,60}nicht',
    "(?:je suis )?désolée?,? (?:mais )?.{0,60}(?:ne |n')",
    "je ne (?:peux|suis) pas (?:vous |t'|en mesure)",
    'lo siento,? (?:pero )?.{0,60}no ',
    'no puedo (?:ayudar|proporcionar|responder|hacer)',
    '(?:desculpe|sinto muito|lamento),? (?:mas )?.{0,60}não',
    'mi dispiace,? (?:ma )?.{0,60}non ',
    '(?:申し訳(?:ございません|ありません)|すみません|恐れ入りますが).{0,80}(?:できません|できかねます|お答えできません|致しかねます|いたしかねます)',
    '(?:很?抱歉|对不起|對不起).{0,60}(?:无法|無法|不能|不可以)',
    '我(?:无法|無法|不能)(?:提供|协助|協助|帮助|幫助|回答|满足|滿足)',
    '(?:죄송합니다|죄송하지만).{0,80}(?:수 없|어렵습니다)',
    `(?:${[
      "(?:sorry,? (?:but )?)?i (?:don't|do not) know(?: that| the answer)?",
      '(?:ich weiß (?:es |das )?|das weiß ich )(?:leider )?nicht',
      'je ne (?:le )?sais pas',
      'no (?:lo )?sé',
      '(?:eu )?não sei',
      'non (?:lo )?so',
      '(?:わかり|分かり)ません',
      '我不知道',
      '(?:잘 )?모르겠습니다',
    ].join('|')})[.!。！…]*$`,
  ].join('|'),
  'iu',
)
