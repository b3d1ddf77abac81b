import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

import type { AgentRun } from '../../model/agent-run.ts'
import { withOwnFacts } from '../../runs/view/with-own-facts.ts'
import { evaluate } from '../../scoring/evaluate.ts'
import { toRunInput } from '../../scoring/given/run-input.ts'
import type { ScorerRunResult } from '../../scoring/scorer.ts'
import { createScorer } from './create-scorer.ts'

const given = { input: 'Name three rivers.', output: 'Rhine, Elbe, Danube' }
const { run: agentRun } = toRunInput(given)

const rivers = () =>
  createScorer({ id: 'rivers', description: 'Share of three rivers that are named.', version: 1 })
    .preprocess(({ agentRun: run }) => (run.output ?? '').split(', '))
    .analyze(({ results }) => ({ count: results.preprocessStepResult.length }))
    .generateScore(({ results }) => Math.min(1, results.analyzeStepResult.count / 3))
    .generateReason(({ results, score }) => `${results.analyzeStepResult.count} rivers make ${score}.`)

const versionOf = (version: number | undefined, score: () => number): string =>
  createScorer({ id: 'v', description: '', ...(version !== undefined && { version }) }).generateScore(score).version

const noSorry = () =>
  createScorer({ id: 'no_sorry', description: 'No apology.' }).generateScore(
    ({ agentRun: { output } }) => !/sorry/i.test(output ?? ''),
  )

describe('createScorer', () => {
  it('passes the result of each step to the next, and returns all of them', async () => {
    const result = await rivers().run(given)
    expect(result).toMatchObject({
      ...given,
      score: 1,
      reason: '3 rivers make 1.',
      preprocessStepResult: ['Rhine', 'Elbe', 'Danube'],
      analyzeStepResult: { count: 3 },
    })
    expect(result.evaluation.score).toMatchObject({ status: 'scored', value: 1, label: 'pass' })
  })

  it('takes what was found beside the reason, and leaves out what is no finding', async () => {
    const finding = {
      about: 'river',
      verdict: 'named',
      rating: 'good',
      text: 'Rhine',
      places: [{ in: 'answer' }],
    } as const
    const { reason, evaluation } = await createScorer({ id: 'rhine', description: 'Names the Rhine.' })
      .generateScore(() => 1)
      .generateReason(() => ({ reason: 'It is there.', findings: [finding, { about: 'river' } as never] }))
      .run(given)
    expect(reason).toBe('It is there.')
    expect(evaluation.score).toMatchObject({ findings: [finding] })
  })

  it('types each step by the steps before it', () => {
    createScorer({ id: 'typed', description: '' })
      .preprocess(async ({ run, results }) => {
        expectTypeOf(run.output).toEqualTypeOf<unknown>()
        expectTypeOf(run.input).toEqualTypeOf<unknown>()
        expectTypeOf(results.preprocessStepResult).toEqualTypeOf<undefined>()
        return { words: 3 }
      })
      .analyze(({ agentRun: run, results }) => {
        expectTypeOf(run).toEqualTypeOf<AgentRun>()
        expectTypeOf(results.preprocessStepResult).toEqualTypeOf<{ words: number }>()
        return ['a']
      })
      .generateScore(({ results }) => {
        expectTypeOf(results.preprocessStepResult).toEqualTypeOf<{ words: number }>()
        expectTypeOf(results.analyzeStepResult).toEqualTypeOf<string[]>()
        return 1
      })
      .generateReason(({ score, results }) => {
        expectTypeOf(score).toEqualTypeOf<number>()
        expectTypeOf(results.analyzeStepResult).toEqualTypeOf<string[]>()
        return ''
      })
    expectTypeOf<Awaited<ReturnType<ReturnType<typeof rivers>['run']>>>().toEqualTypeOf<
      ScorerRunResult<string[], { count: number }>
    >()
  })

  it('types input and output by the schemas of `type`, and passes them unchanged', async () => {
    const scorer = createScorer({
      name: 'Echo length',
      description: 'Whether the answer is as long as the question.',
      type: { input: z.object({ question: z.string() }), output: z.array(z.string()) },
    }).generateScore(({ run }) => {
      expectTypeOf(run.input).toEqualTypeOf<{ question: string }>()
      expectTypeOf(run.output).toEqualTypeOf<string[]>()
      return run.output[0] === 'hello' ? 1 : 0
    })
    expect(scorer.id).toBe('echo_length')
    const result = await scorer.run({ input: { question: 'hello' }, output: ['hello'] })
    expect(result.score).toBe(1)
  })

  it.each<[unknown, unknown]>([
    [{ question: 'x' }, { answer: 'y', confidence: 0.5 }],
    [7, [1, 2]],
    [null, { messages: [] }],
    [undefined, undefined],
  ])('takes input %j and output %j as they are', async (input, output) => {
    const seen: unknown[] = []
    const scorer = createScorer({ id: 'free', description: '' }).generateScore(({ run }) => {
      seen.push(run.input, run.output)
      return 1
    })
    expect(await scorer.run({ input, output })).toMatchObject({ input, output, score: 1 })
    expect(seen).toEqual([input, output])
  })

  it.each([undefined, null, [], { role: 'assistant' as const, content: [] }])(
    'skips the answer %j, whose words a step reads, because there is none',
    async (output) => {
      const scoring = noSorry().run({ input: 'Hi', output })
      await expect(scoring).rejects.toMatchObject({ code: 'no-output', message: expect.stringContaining('no answer') })
    },
  )

  it.each([undefined, null, []])(
    'skips the output %j, whose calls a step counts, because nothing was passed',
    async (output) => {
      const few = createScorer({ id: 'few', description: '' }).generateScore(
        ({ agentRun: { toolCalls } }) => toolCalls.length < 5,
      )
      await expect(few.run({ input: 'Hi', output })).rejects.toMatchObject({ code: 'no-output' })
    },
  )

  it.each<[unknown, string]>([
    [{ answer: 'Sorry, no.' }, 'Expected a message'],
    [[{ from: 'gpt', value: 'Sorry, no.' }], 'Expected a message'],
    [{ messages: [{ role: 'assistant', content: 'Sorry, no.' }] }, 'Expected a message'],
    [5, 'Expected a message'],
    [[{ role: 'bot', content: 'Sorry, no.' }], 'unknown role: "bot"'],
    [{ role: 'assistant', contnet: 'Sorry, no.' }, 'Expected a message with content'],
  ])('refuses the output %j once a step reads an answer, calls or model calls of it', async (output, message) => {
    const scorers = [
      noSorry(),
      createScorer({ id: 'few', description: '' }).generateScore(({ agentRun: { toolCalls } }) => toolCalls.length < 5),
      createScorer({ id: 'few', description: '' }).generateScore(({ run }) => run.toolCalls.length < 5),
      createScorer({ id: 'quick', description: '' }).generateScore(({ agentRun: { steps } }) => steps.length < 5),
      createScorer({ id: 'lax', description: '', mayLack: ['output'] }).generateScore(
        ({ agentRun: run }) => run.output === undefined,
      ),
      createScorer({ id: 'calls', description: '', level: 'tool-call' }).generateScore(() => 1),
    ]
    for (const scorer of scorers) {
      const scoring = scorer.run({ input: 'Hi', output })
      await expect(scoring).rejects.toThrow(TypeError)
      await expect(scoring).rejects.toThrow(message)
    }
  })

  it('refuses an input that cannot be read once a step reads the question, and no copy of the run', async () => {
    const asked = { input: { question: 'Hi' }, output: 'Hello' }
    const asks = createScorer({ id: 'asks', description: '' }).generateScore(
      ({ agentRun: { userInput } }) => !userInput,
    )
    await expect(asks.run(asked)).rejects.toThrow('Expected input to be')
    const copies = createScorer({ id: 'copies', description: '' }).generateScore(
      ({ run, agentRun: neutral }) =>
        Object.keys({ ...neutral }).length > 0 && JSON.stringify(run).includes('question'),
    )
    expect((await copies.run(asked)).score).toBe(1)
  })

  it('scores an AgentRun with an expected answer beside its facts', async () => {
    const scorer = createScorer({ id: 'same', description: '' }).generateScore(
      ({ run }) => run.output === run.groundTruth && run.toolCalls.length === 0,
    )
    expect((await scorer.run({ ...withOwnFacts(agentRun), groundTruth: given.output })).score).toBe(1)
    const lacking = { ...withOwnFacts(toRunInput({ input: 'Hi', output: undefined }).run), groundTruth: 'Hello' }
    await expect(scorer.run(lacking)).rejects.toMatchObject({ code: 'no-output' })
    await expect(scorer.run({ input: 'Hi', output: agentRun, groundTruth: 'Hello' })).rejects.toThrow(
      '{ ...run, groundTruth }',
    )
  })

  it('still refuses a promise for an output', async () => {
    const scorer = createScorer({ id: 'late', description: '' }).generateScore(() => 1)
    await expect(scorer.run({ input: 'x', output: Promise.resolve('y') })).rejects.toThrow('got a promise')
  })

  it('has the messages in a common form beside the given form, and the expected answer', async () => {
    const seen: unknown[] = []
    const scorer = createScorer({ id: 'seen', description: '', type: 'agent' }).generateScore(
      ({ run, agentRun: neutral }) => {
        seen.push(run.input, run.output, run.groundTruth, neutral.output, neutral.userInput, run.userInput)
        return 1
      },
    )
    const output = { role: 'assistant', text: 'Yes.' }
    await scorer.run({ input: 'Is it?', output, groundTruth: 'yes' })
    expect(seen).toEqual(['Is it?', output, 'yes', 'Yes.', 'Is it?', 'Is it?'])
  })

  it('is synchronous when all its steps are', () => {
    expect(evaluate(rivers(), agentRun)).not.toBeInstanceOf(Promise)
  })

  it('is asynchronous from the first step that is', async () => {
    const scorer = createScorer({ id: 'slow', description: '' })
      .analyze(async () => 0.5)
      .generateScore(({ results }) => results.analyzeStepResult)
    const evaluation = evaluate(scorer, agentRun)
    expect(evaluation).toBeInstanceOf(Promise)
    expect((await evaluation).score).toMatchObject({ status: 'scored', value: 0.5, label: 'fail' })
  })

  it('is a complete scorer without a reason step, and does not change when one is added', async () => {
    const bare = createScorer({ id: 'bare', description: '' }).generateScore(() => 1)
    const reasoned = bare.generateReason(() => 'because')
    expect((await bare.run(given)).reason).toBeUndefined()
    expect((await reasoned.run(given)).reason).toBe('because')
  })

  it('can say that there is nothing to score', async () => {
    const scorer = createScorer({ id: 'orders', description: '' })
      .generateScore(() => ({ status: 'skipped', reason: 'not-applicable', message: 'No order was placed.' }))
      .generateReason(() => 'never asked for')
    expect(evaluate(scorer, agentRun)).toMatchObject({ score: { status: 'skipped', reason: 'not-applicable' } })
    await expect(scorer.run(given)).rejects.toThrow('No order was placed.')
  })

  it.each([Number.NaN, 2, '0.5', undefined, Number.POSITIVE_INFINITY])('fails on %s as a score', (value) => {
    // @ts-expect-error no number
    const scorer = createScorer({ id: 'odd', description: '' }).generateScore(() => value)
    expect(evaluate(scorer, agentRun)).toMatchObject({ score: { status: 'failed', code: 'invalid-score' } })
  })

  it('turns an error of a step into a failed score, and keeps it as the cause of the rejection', async () => {
    const boom = new Error('boom')
    const scorer = createScorer({ id: 'thrower', description: '' })
      .preprocess(() => {
        throw boom
      })
      .generateScore(() => 1)
    expect(evaluate(scorer, agentRun)).toMatchObject({ score: { status: 'failed', code: 'scorer-threw' } })
    await expect(scorer.run(given)).rejects.toMatchObject({ message: expect.stringContaining('boom'), cause: boom })
  })

  it('has a version that changes with the declared one, or with the steps if none is declared', () => {
    expect(versionOf(1, () => 1)).toBe(versionOf(1, () => 0))
    expect(versionOf(1, () => 1)).not.toBe(versionOf(2, () => 1))
    expect(versionOf(undefined, () => 1)).not.toBe(versionOf(undefined, () => 0))
    expect(versionOf(1, () => 1)).toMatch(/^[0-9a-f]{8}$/)
  })

  it.each([
    [() => createScorer({ id: 'Bad Id', description: '' }).generateScore(() => 1), /expected id to be a match/],
    [() => createScorer({ description: '' }).generateScore(() => 1), /expected an id or a name/],
    [
      // @ts-expect-error no function and no prompt
      () => createScorer({ id: 'x', description: '' }).generateScore('1'),
      /expected generateScore to be given/,
    ],
    [() => createScorer({ id: 'x', description: '', range: [1, 0] }).generateScore(() => 1), /expected range/],
    [() => createScorer({ id: 'x', description: '', passAt: 7 }).generateScore(() => 1), /expected passAt/],
    [() => createScorer({ name: '品質', description: '' }).generateScore(() => 1), /expected an id beside a name/],
    [
      // @ts-expect-error no range
      () => createScorer({ id: 'x', description: '', range: 5 }).generateScore(() => 1),
      /expected range to be two numbers, the lower first, got 5/,
    ],
    [
      // @ts-expect-error no number
      () => createScorer({ id: 'x', description: '', passAt: '1' }).generateScore(() => 1),
      /expected passAt to be a number from 0 to 1, got "1"/,
    ],
    // @ts-expect-error no options
    [() => createScorer(undefined), /expected an object of options, got undefined/],
  ])('says what is wrong with a wrong option or step (%#)', (make, message) => {
    expect(make).toThrow(message)
  })
})
