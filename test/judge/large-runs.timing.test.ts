import { expect, it } from 'vitest'

import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'

const makers: Readonly<Record<string, () => Scorer>> = {
  prompt_alignment: () => createPromptAlignmentScorerLLM({ model: createFakeJudge('lenient') }),
  rubric: () =>
    createRubricScorer({ model: createFakeJudge('lenient'), criteria: [{ id: 'a', question: 'Is it good?' }] }),
  faithfulness: () =>
    createFaithfulnessScorer({ model: createFakeJudge('lenient'), options: { context: [textOf(400_000)] } }),
}

/** Words of several kinds, and invisible characters. */
function textOf(length: number): string {
  const words = Array.from({ length: 2000 }, (_, index) => `w${((index * 7919) % 9973).toString(36)}\u200b`).join(' ')
  return `${words}. `.repeat(Math.ceil(length / words.length)).slice(0, length)
}

/** CPU time of one score, in milliseconds: the least of three. */
async function cpuMs(scorer: Scorer, length: number): Promise<number> {
  const given = { input: 'What is it about, and why?', output: textOf(length) }
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const before = process.threadCpuUsage()
    // A judge whose reply is refused gives no score, but the time goes into the prompts.
    await scorer.run(given).catch(() => undefined)
    const { user, system } = process.threadCpuUsage(before)
    times.push((user + system) / 1000)
  }
  return Math.min(...times)
}

it.each(Object.entries(makers))(
  'a prompt of %s takes no longer for an answer of 4 MB than for one that fills it',
  async (_, make) => {
    const scorer = make()
    await cpuMs(scorer, 1000)
    const full = await cpuMs(scorer, 200_000)
    const large = await cpuMs(scorer, 4_000_000)
    // The text is twenty times as long, and the time may grow only by reading it once.
    expect(large / Math.max(20, full)).toBeLessThan(4)
  },
  60_000,
)
