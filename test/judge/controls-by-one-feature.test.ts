import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { toSentences } from '../../src/judge/prompt/segments.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import { lowerCaseWords as words, recordedRuns } from './recorded-runs.ts'
import type { SeenText } from './recorded-runs.ts'

const judge = { hardening: 'strong' } as const

/** Each answer to a question occurs once. */
const runs = recordedRuns(({ userInput, output }) => `${userInput} ${output}`)
/** The number of times that each run is judged: decoys are drawn anew each time. */
const drawn = (draws: number) => Array.from({ length: draws }, (_, draw) => runs.map((run) => ({ run, draw }))).flat()

const published = globSync('src/{judge,scorers}/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(file, 'utf8').toLowerCase())
  .join('\n')

interface Seen extends SeenText {
  /** Which of the draws it comes from. */
  readonly draw: number
}

/** The features by which a judge may recognise a control. Either high or low values mean a control, depending on which separates better. */
const features: Readonly<Record<string, (seen: Seen) => number>> = {
  id: ({ id }) => Number.parseInt(id.slice(1), 32),
  'parity of the id': ({ id }) => Number.parseInt(id.slice(1), 32) % 2,
  position: ({ position }) => position,
  'length in words': ({ text }) => words(text).length,
  'length of a word': ({ text }) => text.length / Math.max(1, words(text).length),
  punctuation: ({ text }) => text.replaceAll(/[\p{L}\p{N}\s]/gu, '').length,
  digits: ({ text }) => text.replaceAll(/\D/g, '').length,
  capitals: ({ text }) => text.replaceAll(/\P{Lu}/gu, '').length / Math.max(1, text.length),
  'capitals within sentences': ({ text }) => (text.match(/[\p{L},] \p{Lu}/gu) ?? []).length,
  'short words with a capital': ({ text }) => (text.match(/ \p{Lu}\p{Ll}{0,2}\b/gu) ?? []).length,
  'words that the material has': ({ text, material }) => {
    const shown = new Set(words(material))
    const own = words(text)
    return own.filter((word) => shown.has(word)).length / Math.max(1, own.length)
  },
  'different words': ({ text }) => new Set(words(text)).size / Math.max(1, words(text).length),
  'words in common with another text': ({ text, others }) => {
    const own = new Set(words(text))
    const shared = others.map((other) => words(other).filter((word) => own.has(word)).length / Math.max(1, own.size))
    return Math.max(0, ...shared)
  },
  'words that our source has': ({ text }) => {
    const own = words(text)
    return own.filter((word) => published.includes(word)).length / Math.max(1, own.length)
  },
}

/**
 * How much better than chance a threshold on the feature separates controls from the rest: it is chosen on one half of what was seen,
 * and measured on the other: on other draws for the same runs. 0 is chance, .5 is certainty.
 */
function advantage(seen: readonly Seen[], feature: (one: Seen) => number): number {
  const rows = seen.map((one) => ({ value: feature(one), isControl: one.isControl, draw: one.draw }))
  const [train, test] = [rows.filter(({ draw }) => draw % 2 === 0), rows.filter(({ draw }) => draw % 2 === 1)]
  const balanced = (sample: typeof rows, threshold: number, sign: number): number => {
    const rate = (isControl: boolean): number => {
      const own = sample.filter((row) => row.isControl === isControl)
      return own.filter((row) => sign * row.value > sign * threshold === isControl).length / Math.max(1, own.length)
    }
    return (rate(true) + rate(false)) / 2
  }
  const thresholds = [...new Set(train.map(({ value }) => value))]
  const step = Math.max(1, Math.floor(thresholds.length / 40))
  const candidates = thresholds
    .toSorted((one, other) => one - other)
    .filter((_, index) => index % step === 0)
    .flatMap((threshold) => [1, -1].map((sign) => ({ threshold, sign, score: balanced(train, threshold, sign) })))
  const best = candidates.toSorted((one, other) => other.score - one.score)[0]
  return best === undefined ? 0 : balanced(test, best.threshold, best.sign) - 0.5
}

/** The texts on which verdicts are requested: items, sentences and decoys. */
async function seenTexts(): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const { run, draw } of drawn(8)) {
    const claims = toSentences(run.output ?? '', 15).map((text) => ({
      text: text.split(' ').slice(0, 9).join(' '),
      verdict: 'unsupported',
    }))
    const model = createScriptedJudge({ lists: { claims } })
    await createFaithfulnessScorer({ model, judge, options: { context: ['Nothing is known.'] } }).run(run)
    const prompt = readJudgePrompt(model.calls.at(-1)?.prompt ?? '')
    const controls = new Set(prompt.questions.flatMap(({ shownId, isControl }) => (isControl ? [shownId] : [])))
    const lines = (prompt.sections.get('texts for claims') ?? '').split('\n')
    const material = [...prompt.sections].flatMap(([title, text]) => (title.startsWith('texts for') ? [] : [text]))
    const texts = lines.map((line) => {
      const [, id = '', text = ''] = /^(\w+): (.*)$/.exec(line) ?? []
      return { id, text }
    })
    for (const [index, { id, text }] of texts.entries()) {
      seen.push({
        id,
        text,
        position: index / Math.max(1, lines.length - 1),
        material: material.join('\n'),
        others: texts.filter((other) => other.id !== id).map((other) => other.text),
        isControl: controls.has(id),
        draw,
      })
    }
  }
  return seen
}

/** The answers about which questions are asked, the real one in one call and its decoy in another. */
async function seenAnswers(): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const { run, draw } of drawn(16)) {
    const model = createScriptedJudge({ verdicts: { a: 'pass' } })
    await createRubricScorer({ model, judge, criteria: [{ id: 'a', question: 'Is it polite?' }] }).run(run)
    for (const { prompt: message } of model.calls) {
      const { questions, sections } = readJudgePrompt(message)
      const material = [...sections].flatMap(([title, text]) => (/answer|another text/.test(title) ? [] : [text]))
      const [question] = questions
      seen.push({
        id: question?.shownId ?? '',
        text: sections.get("the agent's answer") ?? '',
        position: 0,
        material: material.join('\n'),
        others: [],
        isControl: question?.isControl === true,
        draw,
      })
    }
  }
  return seen
}

describe.each([
  ['texts', seenTexts],
  ['answers', seenAnswers],
])('the controls among the %s of recorded runs', (_, collect) => {
  it('are recognised by no feature that our source gives away more than 5 points above chance', async () => {
    const seen = await collect()
    const controls = seen.filter(({ isControl }) => isControl).length
    expect(controls).toBeGreaterThan(100)
    expect(seen.length - controls).toBeGreaterThan(100)
    const found = Object.entries(features).map(([name, feature]) => [name, advantage(seen, feature)] as const)
    if (process.env.SHOW_TABLE !== undefined) {
      console.log(found.map(([name, points]) => `${(100 * points).toFixed(1).padStart(6)} ${name}`).join('\n'))
    }
    expect(found.filter(([, points]) => points > 0.05)).toEqual([])
  }, 300_000)
})
