import { expect, it } from 'vitest'

import type { JudgeSettings } from '../../src/judge/settings.ts'
import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'

const makers: Readonly<Record<string, (judge: JudgeSettings) => Scorer>> = {
  prompt_alignment: (judge) => createPromptAlignmentScorerLLM({ model: createFakeJudge('lenient'), judge }),
  rubric: (judge) =>
    createRubricScorer({ model: createFakeJudge('lenient'), judge, criteria: [{ id: 'a', question: 'Is it good?' }] }),
  faithfulness: (judge) =>
    createFaithfulnessScorer({ model: createFakeJudge('lenient'), judge, options: { context: [textOf(400_000)] } }),
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

it.each(
  Object.entries(makers).flatMap(([id, make]) =>
    (['basic', 'strong'] as const).map((hardening) => ({ id, make, hardening })),
  ),
)(
  'a prompt of $id takes no longer for an answer of 4 MB than for one that fills it ($hardening)',
  async ({ make, hardening }) => {
    const scorer = make({ hardening })
    await cpuMs(scorer, 1000)
    const full = await cpuMs(scorer, 200_000)
    const large = await cpuMs(scorer, 4_000_000)
    // The text is twenty times as long, and the time may grow only by reading it once.
    expect(large / Math.max(20, full)).toBeLessThan(4)
  },
  60_000,
)
