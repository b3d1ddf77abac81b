import { describe, expect, expectTypeOf, test } from 'vitest'

import { evaluate } from '../scoring/evaluate.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import type { Scorer } from '../scoring/scorer.ts'
import { fromAutoevals } from './from-autoevals.ts'
import { fromMastra, toMastraRun } from './from-mastra.ts'
import { fromOpenEvals } from './from-openevals.ts'

const { run } = toRunInput({ input: 'Is it raining?', output: 'Yes.' })
const { run: unanswered } = toRunInput({ input: 'Is it raining?', output: [] })

/** Minimal scorers of each library, with what the adapters read. */
const adapters: Readonly<Record<string, (result: unknown, options?: object) => Scorer>> = {
  fromAutoevals: (result, options) => fromAutoevals(() => result, { id: 'mine', ...options }),
  fromOpenEvals: (result, options) => fromOpenEvals(() => Promise.resolve(result), { id: 'mine', ...options }),
  fromMastra: (result, options) => fromMastra({ id: 'mine', run: () => Promise.resolve(result) }, options),
}

describe.each(Object.entries(adapters))('%s', (_, adapt) => {
  test('makes a scorer from anything that returns a number', async () => {
    expect(await evaluate(adapt({ score: 0.25 }), run)).toMatchObject({ score: { status: 'scored', value: 0.25 } })
    expect(await evaluate(adapt({ score: 0.25 }, { passAt: 0.2 }), run)).toMatchObject({ score: { label: 'pass' } })
  })

  test.each([[{ score: 'high' }], [undefined], [{}], [{ score: Number.NaN }], [{ score: 7 }]])(
    'fails if it returns %j',
    async (result) => {
      expect(await evaluate(adapt(result), run)).toMatchObject({ score: { status: 'failed', code: 'invalid-score' } })
    },
  )

  test('skips a run without an answer, and does not call the scorer', async () => {
    expect(await evaluate(adapt({ score: 1 }), unanswered)).toMatchObject({ score: { status: 'skipped' } })
  })

  test('suggests the option that was probably meant, and refuses what is no scorer', () => {
    expect(() => adapt({ score: 1 }, { passat: 1 })).toThrow(/Did you mean passAt\?/)
    expect(() => fromAutoevals(5 as never)).toThrow(/^fromAutoevals: expected a scorer of autoevals, .* got 5\.$/)
    expect(() => fromOpenEvals({} as never)).toThrow(/^fromOpenEvals: expected an evaluator of openevals/)
    expect(() => fromMastra({} as never)).toThrow(/^fromMastra: expected a scorer of Mastra/)
    expect(() => fromAutoevals(() => 1)).toThrow(/^fromAutoevals: expected options\.id/)
  })
})

test('A scorer that may ask a model is a judge, which gets what redact leaves', () => {
  expectTypeOf(fromAutoevals).returns.toEqualTypeOf<Scorer>()
  const unknown = fromAutoevals(() => 1, { id: 'mine' })
  expect(unknown).toMatchObject({ kind: 'judge', judge: { model: 'unknown', priced: false }, passAt: 0.7 })
  expect(fromAutoevals(() => 1, { id: 'mine', kind: 'code' })).toMatchObject({ kind: 'code', passAt: 1 })
  const judged = fromMastra({ id: 'a', judge: { model: 'openai/gpt-5-mini' }, run: () => Promise.resolve(1) })
  expect(judged).toMatchObject({ kind: 'judge', judge: { model: 'openai/gpt-5-mini' } })
})

test('A null of autoevals means no score', async () => {
  const { score } = await evaluate(
    fromAutoevals(() => ({ score: null }), { id: 'mine' }),
    run,
  )
  expect(score).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
})

const several = () => [
  { key: 'a', score: true, comment: 'yes' },
  { key: 'b', score: false },
]

test('Several results of openevals need a key', async () => {
  const open = await evaluate(fromOpenEvals(several, { id: 'mine' }), run)
  expect(open.score).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/one result; name the one .* got a, b/),
  })
  const chosen = await evaluate(fromOpenEvals(several, { id: 'mine', key: 'a' }), run)
  expect(chosen.score).toMatchObject({ value: 1, explanation: 'yes' })
})

test("The expected answer is the application's, or what .run() was given", async () => {
  const seen: unknown[] = []
  const note = (args: { readonly expected?: unknown }) => {
    seen.push(args.expected)
    return { score: 1 }
  }
  const scorer = fromAutoevals(note, { id: 'mine', expected: () => 'from the run' })
  await evaluate(scorer, run)
  await scorer.run({ input: 'Is it raining?', output: 'Yes.', groundTruth: 'given' })
  expect(seen).toEqual(['from the run', 'given'])
})

const text = (content: string) => ({ content: { format: 2, parts: [{ type: 'text', text: content }], content } })

test('A run in the form of Mastra has its history apart from its last message', () => {
  const { run: longer } = toRunInput({
    input: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Bye' },
    ],
    output: 'Bye.',
  })
  expect(toMastraRun(longer)).toMatchObject({
    input: {
      inputMessages: [{ role: 'user', ...text('Bye') }],
      rememberedMessages: [
        { role: 'user', ...text('Hi') },
        { role: 'assistant', ...text('Hello.') },
      ],
      systemMessages: [{ role: 'system', content: 'Be brief.' }],
    },
    output: [{ role: 'assistant', ...text('Bye.') }],
  })
})
