import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import { LongTurns } from '../fuzz/long-turns.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

/** Milliseconds of the clock, for slow machines. */
const timeout = 60_000

/** Its reply is refused, so that nearly all of the time goes into prompts. */
const model = () => createTextModel({ provider: 'test', modelId: 'refused' }, () => ({ text: '{}' }))

const makers: Readonly<Record<string, (context: string) => Scorer>> = {
  prompt_alignment: () => createPromptAlignmentScorerLLM({ model: model() }),
  rubric: () => createRubricScorer({ model: model(), criteria: [{ id: 'a', question: 'Is it good?' }] }),
  faithfulness: (context) => createFaithfulnessScorer({ model: model(), options: { context: [context] } }),
}

const texts: Readonly<Record<string, string>> = {
  'long words': Array.from({ length: 150_000 }, (_, index) => `w${((index * 7919) % 99_991).toString(36)}`).join(' '),
  backticks: '`'.repeat(1_000_000),
  'Chinese text': '今天天气很好我们去公园散步吧'.repeat(70_000),
  'short sentences': 'Ok. No. Yes. '.repeat(80_000),
}

async function longTurns(scorer: Scorer, text: string): Promise<readonly string[]> {
  const turns = new LongTurns(LONGEST_MS)
  const state = { isDone: false }
  const asked = scorer
    .run({ input: text.slice(0, 20_000), output: text })
    .catch(() => undefined)
    .then(() => {
      state.isDone = true
    })
  while (!state.isDone) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  await asked
  return turns.report().own.map((turn) => turn.text)
}

it.each(
  Object.entries(makers).flatMap(([id, make]) =>
    Object.entries(texts).map(([what, text]) => ({ id, make, what, text })),
  ),
)('$id writes prompts with a megabyte of $what in short turns', { timeout }, async (given) => {
  const { make, text } = given
  const scorer = make(text)
  // The first call loads the AI SDK and compiles, and on a busy machine a single turn may take long.
  await longTurns(scorer, 'A short text.')
  const found = await longTurns(scorer, text)
  expect(found.length === 0 ? found : await longTurns(scorer, text)).toEqual([])
})
