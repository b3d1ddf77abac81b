import { setTimeout as wait } from 'node:timers/promises'

import { defineScorer } from '../../src/scoring/define-scorer.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'

/** What the judge was asked, and what it did. */
export interface JudgeCounts {
  asked: number
  failed: number
  hung: number
}

const TAKES_MS = 200

/** A judge that takes 200 ms; of a hundred questions it fails at five, and never answers one. */
export function createUnreliableJudge(): { readonly scorer: Scorer; readonly counts: JudgeCounts } {
  const counts: JudgeCounts = { asked: 0, failed: 0, hung: 0 }
  const scorer = defineScorer({
    id: 'judged',
    description: 'What a judge says that is slow, fails and hangs.',
    kind: 'judge',
    needs: ['output'],
    judge: {
      model: 'test/unreliable',
      priced: true,
      estimate: () => ({ calls: 1, tokens: 1_000, costUsd: 0.001 }),
      unavailable: () => undefined,
    },
    assess: async () => {
      const turn = counts.asked
      counts.asked += 1
      if (turn % 100 === 50) {
        counts.hung += 1
        await new Promise(() => undefined)
      }
      await wait(TAKES_MS)
      if (turn % 20 === 5) {
        counts.failed += 1
        throw new Error('503: the judge is overloaded')
      }
      return {
        status: 'scored',
        value: 0.75,
        explanation: 'The answer says what was asked for.',
        judge: { model: 'unreliable-1', calls: 1, usage: { inputTokens: 900, outputTokens: 100 }, costUsd: 0.001 },
      }
    },
  })
  return { scorer, counts }
}
