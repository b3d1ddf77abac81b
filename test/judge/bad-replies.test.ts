import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import type { ScriptedJudgeReply } from '../../src/testing/scripted-judge.ts'

/**
 * A reply, the outcome that it must have, and the number of calls that this may take. GOOD is replaced by a good reply.
 */
interface BadReply {
  readonly name: string
  readonly reply?: string | { readonly text: string; readonly finishReason: 'length' | 'content-filter' }
  readonly replies?: readonly (string | { readonly text: string; readonly finishReason: 'length' | 'content-filter' })[]
  readonly outcome: string
  readonly calls: number
}

const corpus: BadReply[] = JSON.parse(readFileSync(new URL('bad-replies.json', import.meta.url), 'utf8'))

const good = '{"answers":[{"id":"a","reasoning":"x","verdict":"pass"},{"id":"b","reasoning":"y","verdict":"fail"}]}'

const write = (text: string) => text.replaceAll('GOOD', good)

function fill(reply: NonNullable<BadReply['reply']>): ScriptedJudgeReply {
  return typeof reply === 'string' ? { text: write(reply) } : { ...reply, text: write(reply.text) }
}

describe(`${corpus.length} replies that do not have the requested form`, () => {
  it('are at least sixty, of every kind', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(60)
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
  })

  it.each(corpus)('$name: $outcome in $calls calls', async ({ reply, replies, outcome, calls }) => {
    const model = createScriptedJudge(({ index }) => {
      const script = replies?.[index] ?? reply
      return script === undefined ? { error: new Error('no further reply') } : fill(script)
    })
    const scorer = createRubricScorer({
      model,
      criteria: [
        { id: 'a', question: 'Is it good?' },
        { id: 'b', question: 'Is it short?', weight: 3 },
      ],
    })
    const result = await scorer.run({ input: 'Hi', output: 'Hello.' }).then(
      ({ evaluation }) => evaluation,
      (error: { evaluation: unknown }) => error.evaluation,
    )
    const message = expect.stringMatching(/\. [A-Z].*\.$/)
    const score =
      outcome === 'scored' ? { status: 'scored', value: 0.25 } : { status: 'failed', code: outcome, message }
    expect(result).toMatchObject({ score, judge: { calls } })
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})
