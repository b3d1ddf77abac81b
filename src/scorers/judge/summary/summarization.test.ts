import { describe, expect, it } from 'vitest'

import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import type { ScriptedItem, ScriptedVerdict } from '../../../testing/judge-reply.ts'
import type { ClaimVerdict } from '../items/claims.ts'
import { SummarizationMetric } from './summarization-metric.ts'
import { createSummarizationScorer } from './summarization.ts'

const source = 'Tesla was founded in 2003 by Martin Eberhard and Marc Tarpenning. The Roadster came in 2008.'
const summary = 'Tesla, founded by Elon Musk in 2003, began with the Roadster in 2008.'

function judge(claims: readonly ClaimVerdict[], questions: readonly ('yes' | 'no')[]) {
  const items: ScriptedItem[] = claims.map((verdict, index) => ({ text: `claim ${index + 1}`, verdict }))
  const asked = questions.map((_, index) => `question ${index + 1}?`)
  const verdicts: Record<string, ScriptedVerdict> = Object.fromEntries(
    questions.map((verdict, index) => [`q${index + 1}`, verdict]),
  )
  return createScriptedJudge({ lists: { claims: items, questions: asked }, verdicts })
}

const sourceSeen = async (options: Parameters<typeof createSummarizationScorer>[0]['options']) => {
  const model = judge(['supported'], ['yes'])
  await createSummarizationScorer({ model, ...(options && { options }) }).run({
    input: 'from the user',
    output: summary,
  })
  return /begin: the source\n(.*)\n/.exec(model.calls[0]?.prompt ?? '')?.[1]
}

const table = [
  // The reference's example: wrong founders, three of four key questions covered.
  {
    claims: ['contradicted', 'supported'],
    questions: ['yes', 'yes', 'yes', 'no'],
    alignment: 0.5,
    coverage: 0.75,
    score: 0.5,
    band: 'moderate',
  },
  { claims: ['supported', 'supported'], questions: ['yes'], alignment: 1, coverage: 1, score: 1, band: 'perfect' },
  {
    claims: ['supported', 'not_stated', 'supported'],
    questions: ['yes', 'no', 'no'],
    alignment: 0.67,
    coverage: 0.33,
    score: 0.33,
    band: 'poor',
  },
  {
    claims: ['supported', 'supported', 'supported', 'contradicted'],
    questions: ['yes', 'yes', 'yes', 'yes'],
    alignment: 0.75,
    coverage: 1,
    score: 0.75,
    band: 'good',
  },
  { claims: ['contradicted'], questions: ['yes'], alignment: 0, coverage: 1, score: 0, band: 'invalid' },
] as const

describe('summarization', () => {
  it.each(table)(
    '$claims and $questions give $score',
    async ({ claims, questions, alignment, coverage, score, band }) => {
      const model = judge(claims, questions)
      const result = await createSummarizationScorer({ model }).run({ input: source, output: summary })
      expect(result.score).toBe(score)
      expect(result.evaluation.score).toMatchObject({ band })
      expect(result.analyzeStepResult).toMatchObject({ alignmentScore: alignment, coverageScore: coverage })
      expect(model.calls).toHaveLength(2)
      expect(result.evaluation.judge?.calls).toBe(2)

      const metric = await new SummarizationMetric(judge(claims, questions), { scale: 10 }).measure(source, summary)
      expect(metric).toMatchObject({
        score:
          Math.round(
            Math.min(
              claims.filter((c) => c === 'supported').length / claims.length,
              questions.filter((q) => q === 'yes').length / questions.length,
            ) * 1000,
          ) / 100,
        info: { alignmentScore: alignment, coverageScore: coverage },
      })
      expect(metric.info.reason).toContain(`alignment (${alignment}) and coverage (${coverage})`)
    },
  )

  it('does not show the source to the call that judges coverage', async () => {
    const model = judge(['supported'], ['yes'])
    await createSummarizationScorer({ model }).run({ input: source, output: summary })
    expect(model.calls[0]?.prompt).toContain('Eberhard')
    expect(model.calls[1]?.prompt).not.toContain('Eberhard')
    expect(model.calls[1]?.prompt).toContain('question 1?')
  })

  it('takes the source from the extractor, else from the option, else from the user', async () => {
    expect(await sourceSeen({ source: 'from the option', sourceExtractor: () => 'from the run' })).toBe('from the run')
    expect(await sourceSeen({ source: 'from the option', sourceExtractor: () => undefined })).toBe('from the option')
    expect(await sourceSeen(undefined)).toBe('from the user')
  })

  it('asks once more if there are no claims or no questions, and then fails without a score', async () => {
    for (const [claims, questions] of [
      [[], ['yes']],
      [['supported'], []],
    ] as const) {
      const model = judge(claims, questions)
      await expect(createSummarizationScorer({ model }).run({ input: source, output: summary })).rejects.toMatchObject({
        evaluation: { score: { code: 'judge-unanswered' }, judge: { calls: 2 } },
      })
    }
  })

  it('scores an empty summary 0 with a reason, and rejects an empty source', async () => {
    const model = judge(['supported'], ['yes'])
    const scorer = createSummarizationScorer({ model })
    const empty = await scorer.run({ input: source, output: { role: 'assistant', text: ' ' } })
    expect([empty.score, empty.reason]).toEqual([0, expect.stringContaining('the summary is empty')])
    await expect(scorer.run({ input: ' ', output: summary })).rejects.toThrow(/source/)
    const metric = new SummarizationMetric(model)
    expect(await metric.measure(source, '')).toMatchObject({ score: 0, info: { alignmentScore: 0, coverageScore: 0 } })
    await expect(metric.measure(' ', summary)).rejects.toThrow('Source text is required')
    const missing = JSON.parse('null')
    await expect(metric.measure(missing, summary)).rejects.toThrow('Source text is required')
    await expect(metric.measure(source, missing)).rejects.toThrow('Expected summary to be a string, got null.')
    expect(model.calls).toHaveLength(0)
  })

  it('refuses invalid options', () => {
    const model = judge(['supported'], ['yes'])
    expect(() => new SummarizationMetric(model, { scale: 0 })).toThrow('positive number')
    expect(() => createSummarizationScorer({ model, options: { maxQuestions: 0 } })).toThrow('from 1 to 50')
  })
})
