import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createFaithfulnessScorer } from '../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../src/scorers/judge/items/hallucination.ts'
import { createPromptAlignmentScorerLLM } from '../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createSummarizationScorer } from '../../src/scorers/judge/summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from '../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import type { Evaluation } from '../../src/model/score.ts'
import type { Scorer, ScorerInput } from '../../src/scoring/scorer.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import type { ScriptedVerdicts } from '../../src/testing/judge-reply.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import type { TextModel, TextModelCall } from '../../src/testing/text-model.ts'

const calls = ['weather', 'search'].map((toolName, index) => ({
  type: 'tool-call',
  toolCallId: `${index}`,
  toolName,
  args: {},
}))
const input: ScorerInput = {
  input: {
    systemMessages: [{ role: 'system', content: 'Be brief.' }],
    inputMessages: [{ role: 'user', content: 'Hi?' }],
  },
  output: [{ role: 'assistant', content: [...calls, { type: 'text', text: 'It is sunny in Oslo.' }] }],
}
const tools = ['weather', 'search', 'calendar'].map((name) => ({ name, description: name }))

/** One verdict for each question that a scorer may ask; list items by their list. */
const verdictOf = (options: readonly string[]) => fc.constantFrom(...options)
const level = verdictOf(['1', '0.75', '0.5', '0.25', '0'])
const itemsOf = (options: readonly string[]) =>
  fc
    .array(verdictOf(options), { minLength: 1, maxLength: 6 })
    .map((all) => all.map((verdict, index) => ({ text: `item ${index}`, verdict })))

const scorers: Record<string, { make: (model: TextModel) => Scorer; found: fc.Arbitrary<ScriptedVerdicts> }> = {
  faithfulness: {
    make: (model) => createFaithfulnessScorer({ model, options: { context: ['It is sunny.'] } }),
    found: fc.record({ lists: fc.record({ claims: itemsOf(['supported', 'not_stated', 'contradicted']) }) }),
  },
  hallucination: {
    make: (model) => createHallucinationScorer({ model, options: { context: ['It is sunny.'] } }),
    found: fc.record({ lists: fc.record({ claims: itemsOf(['supported', 'not_stated', 'contradicted']) }) }),
  },
  prompt_alignment: {
    make: (model) => createPromptAlignmentScorerLLM({ model, options: { scale: 10 } }),
    found: fc.record({
      verdicts: fc.record(
        Object.fromEntries(
          ['user', 'system'].flatMap((side) =>
            ['intent', 'completeness', 'appropriateness'].map((dimension) => [`${side}.${dimension}`, level]),
          ),
        ),
      ),
      lists: fc.record({ userRequirements: itemsOf(['yes', 'no']), systemRequirements: itemsOf(['yes', 'no']) }),
    }),
  },
  rubric: {
    make: (model) =>
      createRubricScorer({
        model,
        criteria: ['a', 'b', 'c'].map((id, index) => ({ id, question: `${id}?`, weight: index + 1 })),
      }),
    found: fc.record({
      verdicts: fc.record(Object.fromEntries(['a', 'b', 'c'].map((id) => [id, verdictOf(['pass', 'fail'])]))),
    }),
  },
  summarization: {
    make: (model) => createSummarizationScorer({ model }),
    found: fc.record({
      verdicts: fc.record(Object.fromEntries(['q1', 'q2', 'q3'].map((id) => [id, verdictOf(['yes', 'no'])]))),
      lists: fc.record({
        claims: itemsOf(['supported', 'not_stated', 'contradicted']),
        questions: fc.constant(['one?', 'two?', 'three?']),
      }),
    }),
  },
  tool_call_accuracy_llm: {
    make: (model) => createToolCallAccuracyScorerLLM({ model, availableTools: tools }),
    found: fc.record({
      verdicts: fc.record({
        call_1: verdictOf(['appropriate', 'helpful', 'inappropriate']),
        call_2: verdictOf(['appropriate', 'helpful', 'inappropriate']),
        missing: fc.constantFrom('none', { verdict: 'some', tools: ['t3'] }),
      }),
    }),
  },
}

/** An answer in a reply, or an item of one of its lists. */
type Entry = Readonly<Record<string, unknown>>
type Mutate = (entries: readonly Entry[], call: TextModelCall) => readonly Entry[]

/** Scores with a judge whose answers, and items of lists with verdicts, were changed. */
async function evaluate(
  make: (model: TextModel) => Scorer,
  found: ScriptedVerdicts,
  mutate: Mutate,
): Promise<Evaluation> {
  const model = createScriptedJudge((call) => {
    const reply: Readonly<Record<string, readonly Entry[]>> = JSON.parse(judgeReply(found))
    return {
      json: Object.fromEntries(
        Object.entries(reply).map(([name, entries]) => [name, name === 'answers' ? mutate(entries, call) : entries]),
      ),
    }
  })
  return make(model)
    .run(input)
    .then(
      ({ evaluation }) => evaluation,
      (error: { evaluation: Evaluation }) => error.evaluation,
    )
}

const honest: Mutate = (entries) => entries
const valueOf = ({ score }: Evaluation) => (score.status === 'scored' ? score.value : undefined)

describe.each(Object.entries(scorers))('%s', (_, { make, found }) => {
  it('gives the same score for verdicts in any order, any number of times, with any invented ones', async () => {
    const invented = fc.array(
      fc.record({
        id: fc.constantFrom('c99', 'zz', '', 'call_9', 'user', 'q9'),
        reasoning: fc.string(),
        verdict: fc.constantFrom('yes', 'pass', '1', 'supported', 'appropriate', 'x'),
      }),
      { maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(
        found,
        invented,
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 3 }),
        async (verdicts, extra, random, copies) => {
          const plain = valueOf(await evaluate(make, verdicts, honest))
          const shuffled = valueOf(
            await evaluate(make, verdicts, (answers) =>
              Array.from({ length: copies }, () => answers)
                .flat()
                .concat(extra)
                .map((answer) => ({ answer, key: random.next().value ?? 0 }))
                .toSorted((one, other) => one.key - other.key)
                .map(({ answer }) => answer),
            ),
          )
          expect(plain).toEqual(expect.any(Number))
          expect(shuffled).toBe(plain)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('is never better if verdicts are left out, once or every time', async () => {
    await fc.assert(
      fc.asyncProperty(found, fc.nat(), fc.boolean(), async (verdicts, which, always) => {
        const plain = valueOf(await evaluate(make, verdicts, honest))
        const evaluation = await evaluate(make, verdicts, (answers, { index }) =>
          index === 0 || always ? answers.filter((_answer, position) => position !== which % answers.length) : answers,
        )
        const left = valueOf(evaluation)
        const unanswered = { status: 'failed', code: 'judge-unanswered' }
        expect(evaluation.score).toMatchObject(left === undefined ? unanswered : { value: plain })
      }),
      { numRuns: 40 },
    )
  })

  it('is a number within the range, or no score with a reason, whatever the judge replies', async () => {
    const garbage = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"answers":${json}}`),
      fc
        .array(fc.record({ id: fc.string(), verdict: fc.anything() }))
        .map((answers) => toJson({ answers, claims: answers, questions: answers })),
      fc.constantFrom(
        '{"answers":[{"id":"a","verdict":NaN}]}',
        '{"score":1e999}',
        '[]',
        '{"answers":[{"verdict":"yes"}]}',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(garbage, { minLength: 4, maxLength: 4 }), async (replies) => {
        const scorer = make(createScriptedJudge(({ index }) => ({ text: replies[index] ?? '' })))
        const evaluation = await scorer.run(input).then(
          (result) => result.evaluation,
          (error: { evaluation: Evaluation }) => error.evaluation,
        )
        expect(['failed', 'skipped']).toContain(evaluation.score.status)
        expect(evaluation.judge?.calls).toBeLessThanOrEqual(4)
        // Messages quote replies.
        const { score, ...rest } = evaluation
        expect(JSON.stringify(rest)).not.toMatch(/NaN|Infinity|:null/)
        expect(Object.values(score).every((value) => typeof value === 'string')).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? ''
  } catch {
    return ''
  }
}
