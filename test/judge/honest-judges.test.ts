import { describe, expect, it, vi } from 'vitest'

import type { JudgeSettings } from '../../src/judge/settings.ts'
import type { Score } from '../../src/model/score.ts'
import { createAnswerRelevancyScorer } from '../../src/scorers/judge/items/answer-relevancy.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { createRandom } from '../fuzz/random.ts'
import type { Random } from '../fuzz/random.ts'
import { measuredTable, onJudgesPage } from './judges-page.ts'
import { seedRandomness } from './seeded-randomness.ts'

// The key of the judge's hashes is the same in every measurement.
await vi.hoisted(async () => {
  const { TEST_KEY_VARIABLE } = await import('../../src/judge/randomness.ts')
  process.env[TEST_KEY_VARIABLE] = 'measured'
})

/** The sentences of an answer, with the truth about each and the claims in it. */
const SENTENCES = [
  {
    good: true,
    claims: ['Rain is expected in Oslo', 'The rain begins in the morning'],
    text: 'Rain is expected in Oslo tomorrow, and it begins in the morning.',
  },
  {
    good: true,
    claims: ['The wind comes from the west'],
    text: 'The wind will come from the west during the whole of the day.',
  },
  {
    good: false,
    claims: ['Bergen is dry all week', 'Nobody needs an umbrella in Bergen'],
    text: 'Bergen stays dry all week long, so nobody needs an umbrella there.',
  },
  {
    good: false,
    claims: ['The harbour has been closed'],
    text: 'The harbour of the town has been closed because of the snow.',
  },
  {
    good: true,
    claims: ['The institute publishes a forecast'],
    text: 'The institute publishes a new forecast for the region every evening.',
  },
] as const

const context = ['The forecast of the institute speaks of rain in Oslo from the morning on, with wind from the west.']

/** Whether a sentence or claim is true; `undefined` for nonsense. */
function truthOf(text: string): boolean | undefined {
  return SENTENCES.find((one) => one.text === text || one.claims.some((claim) => claim === text))?.good
}

/** An honest judge: it errs on each text independently, so that it may contradict itself, and never praises nonsense. */
function createErringJudge(
  random: Random,
  errors: number,
  isGood: (text: string) => boolean | undefined = truthOf,
): TextModel {
  const verdictOn = (text: string, verdicts: readonly string[]): string => {
    const good = isGood(text)
    const worst = verdicts.at(-1) ?? ''
    if (good === undefined) return worst
    return (good !== random.chance(errors) ? verdicts[0] : worst) ?? ''
  }
  return createTextModel({ provider: 'test', modelId: 'erring' }, ({ prompt }) => {
    const { lists, questions, sections } = readJudgePrompt(prompt)
    const lines = [...sections.values()].flatMap((section) => section.split('\n'))
    const textOf = (id: string): string => lines.find((line) => line.startsWith(`${id}: `))?.slice(id.length + 2) ?? ''
    const items = lists.map(({ name, prefix, sentences }) => {
      const found = sentences.flatMap((sentence, index) =>
        (SENTENCES.find(({ text }) => text === sentence)?.claims ?? []).map((text) => ({ sentence: index + 1, text })),
      )
      return { name, items: found.map((item, index) => ({ id: `${prefix}${index + 1}`, ...item })) }
    })
    return {
      text: JSON.stringify({
        ...Object.fromEntries(items.map(({ name, items: found }) => [name, found])),
        ...Object.fromEntries(lists.map(({ name }) => [`${name}_none`, []])),
        answers: [
          ...questions.map(({ shownId, verdicts }) => ({
            id: shownId,
            reasoning: '',
            verdict: verdictOn(textOf(shownId), verdicts),
          })),
          ...lists.flatMap(({ given, givenSentences, verdicts, name }) =>
            verdicts.length === 0
              ? []
              : [
                  ...given.map((id) => ({
                    id,
                    reasoning: '',
                    verdict: verdictOn(givenSentences.get(id) ?? '', verdicts),
                  })),
                  ...(items.find((one) => one.name === name)?.items ?? []).map(({ id, text }) => ({
                    id,
                    reasoning: '',
                    verdict: verdictOn(text, verdicts),
                  })),
                ],
          ),
        ],
        notes: {},
      }),
    }
  })
}

type Maker = (model: TextModel, judge: JudgeSettings) => Scorer

const makers: Record<string, Maker> = {
  answer_relevancy: (model, judge) => createAnswerRelevancyScorer({ model, judge }),
  faithfulness: (model, judge) => createFaithfulnessScorer({ model, judge, options: { context } }),
  hallucination: (model, judge) => createHallucinationScorer({ model, judge, options: { context } }),
}

const scoreOf = (scorer: Scorer, output: string): Promise<Score> =>
  scorer.run({ input: 'How is the weather?', output }).then(
    ({ evaluation }) => evaluation.score,
    (error: { evaluation: { score: Score } }) => error.evaluation.score,
  )

const TRIALS = 200
/** Of a share of 5 % in the trials of three scorers. */
const STANDARD_ERROR = Math.sqrt((0.05 * 0.95) / (3 * TRIALS))

/** The share of scores that fail: of answers of one to five of the sentences. */
async function shareOfVoid(make: Maker, hardening: 'basic' | 'strong', errors: number): Promise<number> {
  seedRandomness(3)
  const random = createRandom(7)
  let voided = 0
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const drawn = SENTENCES.filter(() => random.chance(0.7))
    const answer = (drawn.length === 0 ? SENTENCES : drawn).map(({ text }) => text).join(' ')
    const score = await scoreOf(make(createErringJudge(random, errors), { hardening }), answer)
    if (score.status !== 'scored') voided += 1
  }
  return voided / TRIALS
}

const percent = (part: number) => `${(100 * part).toFixed(0)} %`

/** The mean share of the three scorers. */
async function meanShare(hardening: 'basic' | 'strong', errors: number): Promise<number> {
  let sum = 0
  for (const make of Object.values(makers)) sum += await shareOfVoid(make, hardening, errors)
  return sum / Object.values(makers).length
}

describe('an honest judge that errs on single texts, and so contradicts itself', () => {
  it('keeps its score with strong hardening, and nearly always with basic', async () => {
    const rows: string[][] = []
    for (const errors of [0.02, 0.05, 0.1, 0.2]) {
      const [basic, strong] = [await meanShare('basic', errors), await meanShare('strong', errors)]
      expect([errors, strong]).toEqual([errors, 0])
      expect(basic).toBeLessThanOrEqual(0.05 + STANDARD_ERROR)
      rows.push([percent(errors), percent(basic), percent(strong)])
    }
    const written = measuredTable(['texts on which the judge errs', 'void with `basic`', 'with `strong`'], rows)
    expect(onJudgesPage('honest judges', written)).toBe(written)
  }, 300_000)

  it('is never scored better than its verdict on the sentences', async () => {
    const answer = SENTENCES.map(({ text }) => text).join(' ')
    const bad = 'Bergen stays dry all week long, so nobody needs an umbrella there.'
    seedRandomness(5)
    // It praises the claims of a sentence that it calls bad: its verdicts on the five sentences count.
    const model = createErringJudge(
      createRandom(1),
      0,
      (text) =>
        text !== bad && SENTENCES.some((one) => one.text === text || one.claims.some((claim) => claim === text)),
    )
    const score = await scoreOf(
      createFaithfulnessScorer({ model, judge: { hardening: 'strong' }, options: { context } }),
      answer,
    )
    expect(score).toMatchObject({ status: 'scored', value: 0.8 })
  })
})
