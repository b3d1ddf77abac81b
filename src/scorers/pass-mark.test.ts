import { describe, expect, expectTypeOf, it } from 'vitest'

import * as prebuilt from '../entries/scorers.ts'
import type { ScorerOptions } from '../entries/scorers.ts'
import type { Scorer } from '../scoring/scorer.ts'
import { createPrebuilt, prebuiltScorers } from './all.ts'
import { createScriptedJudge } from '../testing/scripted-judge.ts'

const model = createScriptedJudge({})

/** Every factory, with what it cannot be made without. */
const factories: Readonly<Record<string, (options: ScorerOptions) => Scorer>> = {
  ...Object.fromEntries(
    Object.entries(prebuiltScorers).map(([name, { create, example }]) => [
      create.name,
      (options: ScorerOptions) => createPrebuilt(name, { ...example, ...options }),
    ]),
  ),
  createScorer: (options) => prebuilt.createScorer({ id: 'mine', description: 'x', ...options }).generateScore(() => 1),
}

it('every factory of the entry is in the registry, by the default id of its scorer', () => {
  const exported = Object.keys(prebuilt).filter((name) => /^create\w*Scorer/.test(name))
  expect(Object.keys(factories).toSorted()).toEqual(exported.toSorted())
  for (const [name, { example }] of Object.entries(prebuiltScorers)) {
    expect(createPrebuilt(name, example).id).toBe(name)
  }
})

it('id and passAt have the same type in every factory', () => {
  expectTypeOf<prebuilt.ToolCallAccuracyCodeOptions>().toExtend<ScorerOptions>()
  expectTypeOf<prebuilt.JudgeScorerOptions>().toExtend<ScorerOptions>()
  expectTypeOf<prebuilt.LoopOptions>().toExtend<ScorerOptions>()
  expectTypeOf<ScorerOptions['passAt']>().toEqualTypeOf<number | undefined>()
  // @ts-expect-error -- a text is no pass mark
  expect(() => prebuilt.createLoopScorer({ passAt: '0.5' })).toThrow('expected passAt')
  // @ts-expect-error -- nor is it one for judges
  expect(() => prebuilt.createCompletenessScorer({ model, passAt: '0.5' })).toThrow('expected passAt')
})

describe.each(Object.entries(factories))('%s', (_, create) => {
  it('uses the given pass mark and id, or its own defaults', () => {
    const plain = create({})
    expect(create({ id: 'mine', passAt: 0.4 })).toMatchObject({ id: 'mine', passAt: 0.4, version: expect.any(String) })
    expect(plain.passAt).toBe(
      plain.better === 'higher'
        ? plain.kind === 'code'
          ? 1
          : 0.7
        : ['loop', 'hallucinated_tool', 'repeated_question', 'abandoned'].includes(plain.id)
          ? 0
          : 0.3,
    )
    // The pass mark says how a score is read, not what it is.
    expect(create({ passAt: 0.4 }).version).toBe(plain.version)
  })

  it.each([7, -0.1, Number.NaN, Infinity, '1', null])('refuses %j as a pass mark', (passAt) => {
    expect(() => create({ passAt: passAt as number })).toThrow(/expected passAt to be a number from 0 to 1, got /)
  })
})

it("a pass mark is in the scorer's own units", async () => {
  const scaled = (passAt: number) => prebuilt.createPromptAlignmentScorerLLM({ model, passAt, options: { scale: 10 } })
  expect(scaled(8.5).passAt).toBe(8.5)
  expect(() => scaled(11)).toThrow('expected passAt to be a number from 0 to 10, got 11')
  const lenient = prebuilt.createPromptAlignmentScorerLLM({ model, passAt: 0, options: { evaluationMode: 'user' } })
  const { evaluation } = await lenient.run({ input: 'Hi', output: '' })
  expect(evaluation).toMatchObject({ score: { value: 0, label: 'pass' }, scorer: { passAt: 0 } })
})
