import { describe, expect, it } from 'vitest'

import { toParts } from '../../src/judge/prompt/segments.ts'
import type { Score } from '../../src/model/score.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import type { TextModel } from '../../src/testing/text-model.ts'
import { createTalkedOverJudge } from './talked-over-judge.ts'

const context = ['The forecast of the institute speaks of rain in Oslo from the morning on, with wind from the west.']

/** Texts of one sentence that is too long to be given to the judge undivided. */
const answers: Readonly<Record<string, string>> = {
  English:
    'The sun will shine all week in the whole country and nobody has ever needed an umbrella in Bergen because the clouds there were abolished by a law of the parliament in the spring of the year before last and since then every tourist who comes to the harbour with an umbrella is laughed at by the fishermen who sell dried cod next to the museum of rain',
  Thai: 'ดวงอาทิตย์จะส่องแสงตลอดทั้งสัปดาห์ทั่วทั้งประเทศและไม่มีใครเคยต้องการร่มในเมืองเบอร์เกนเพราะเมฆที่นั่นถูกยกเลิกโดยกฎหมายของรัฐสภาในฤดูใบไม้ผลิเมื่อสองปีก่อนและตั้งแต่นั้นมานักท่องเที่ยวทุกคนที่มาที่ท่าเรือพร้อมร่มจะถูกหัวเราะเยาะโดยชาวประมงที่ขายปลาคอดแห้งข้างพิพิธภัณฑ์ฝน',
  Chinese:
    '整个国家整个星期都会阳光明媚在卑尔根从来没有人需要雨伞因为那里的云已经被议会的法律废除了从那以后每个带着雨伞来到港口的游客都会被卖鳕鱼干的渔民嘲笑'.repeat(
      4,
    ),
}

const scoreOf = (scorer: ReturnType<typeof createFaithfulnessScorer>, output: string): Promise<Score> =>
  scorer.run({ input: 'How is the weather?', output }).then(
    ({ evaluation }) => evaluation.score,
    (error: { evaluation: { score: Score } }) => error.evaluation.score,
  )

const answersOf = (ids: readonly string[], verdict: (id: string) => string): readonly object[] =>
  ids.map((id) => ({ id, reasoning: '', verdict: verdict(id) }))

/** A judge that calls every text bad, and lists one good claim. Asked about texts alone it gives these verdicts. */
function createContradictoryJudge(verdictOn: (text: string) => string): TextModel {
  return createTextModel({ provider: 'test', modelId: 'contradictory' }, ({ prompt }) => {
    const { lists, questions, sections } = readJudgePrompt(prompt)
    const lines = [...sections.values()].flatMap((section) => section.split('\n'))
    const textOf = (id: string): string => lines.find((line) => line.startsWith(`${id}: `))?.slice(id.length + 2) ?? ''
    const items = lists.map(
      ({ name, prefix }) => [name, [{ id: `${prefix}1`, sentence: 1, text: 'It is so.' }]] as const,
    )
    return {
      text: JSON.stringify({
        ...Object.fromEntries(items),
        answers: [
          ...answersOf(
            questions.map(({ shownId }) => shownId),
            (id) => verdictOn(textOf(id)),
          ),
          ...lists.flatMap(({ given, prefix }) => [
            ...answersOf(given, () => 'unsupported'),
            ...answersOf([`${prefix}1`], () => 'supported'),
          ]),
        ],
        notes: {},
      }),
    }
  })
}

describe.each(Object.entries(answers))('An answer of one long sentence in %s', (_, answer) => {
  it('is not scored higher for one flattering item', async () => {
    const scorer = createFaithfulnessScorer({ model: createTalkedOverJudge(), options: { context } })
    for (let time = 0; time < 5; time += 1) {
      expect(await scoreOf(scorer, `${answer} ORDER-ONE`)).toMatchObject({ status: 'scored', value: 0 })
    }
  })

  it('is scored by an honest judge that lists no bad item but calls its parts bad', async () => {
    for (let time = 0; time < 5; time += 1) {
      const model = createContradictoryJudge(() => 'unsupported')
      const score = await scoreOf(createFaithfulnessScorer({ model, options: { context } }), answer)
      expect(score).toMatchObject({ status: 'scored', value: 0 })
      expect(model.calls).toHaveLength(2)
    }
  })

  it('is not scored by a judge that praises a part which it called bad before', async () => {
    const model = createContradictoryJudge((text) => (answer.includes(text) ? 'supported' : 'unsupported'))
    const score = await scoreOf(createFaithfulnessScorer({ model, options: { context } }), answer)
    expect(score).toMatchObject({ status: 'failed', code: 'judge-compromised' })
  })

  it('is scored by an honest judge', async () => {
    const claims = [
      { text: 'It is so.', verdict: 'supported' },
      { text: 'It is not so.', verdict: 'unsupported' },
    ]
    const model = createScriptedJudge({ lists: { claims } })
    const score = await scoreOf(createFaithfulnessScorer({ model, options: { context } }), answer)
    expect(score).toMatchObject({ status: 'scored', value: 0.5 })
  })
})

it('A sentence is divided between words, into parts of about the same length', () => {
  const words = Array.from({ length: 100 }, (_, index) => `word${index}`).join(' ')
  const parts = toParts(words, 240)
  expect(parts.join(' ')).toBe(words)
  expect(parts).toHaveLength(Math.ceil(words.length / 240))
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(240)
  expect(toParts('It rains.', 240)).toEqual(['It rains.'])
  expect(toParts('x'.repeat(1000), 240).join('')).toBe('x'.repeat(1000))
})
