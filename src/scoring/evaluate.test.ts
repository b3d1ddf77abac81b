import { describe, expect, it } from 'vitest'

import { defineScorer } from './define-scorer.ts'
import type { ScorerDefinition } from './define-scorer.ts'
import { evaluate } from './evaluate.ts'
import { toRunInput } from './given/run-input.ts'
import type { Evaluation } from '../model/score.ts'
import type { ScoringContext, Verdict } from './scorer.ts'
import { scorerVersion, versionFor } from './scorer-version.ts'

const { run } = toRunInput({ runId: 'r1', input: 'Hi', output: 'Hello' })

const scorerOf = (assess: ScorerDefinition['assess'], more: Partial<ScorerDefinition> = {}) =>
  defineScorer({ id: 'test', description: '', kind: 'code', ...more, assess })

const scoring = (value: number, more: Partial<ScorerDefinition> = {}): Evaluation | Promise<Evaluation> =>
  evaluate(
    scorerOf(() => ({ status: 'scored', value }), more),
    run,
  )

const hanging = (): Promise<Verdict> => new Promise(() => undefined)

const heeding = (_run: unknown, { signal }: ScoringContext): Promise<Verdict> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () =>
      resolve({
        status: 'failed',
        code: 'judge-timeout',
        message: 'own words',
        judge: { model: 'm', calls: 2, usage: {} },
      }),
    )
  })

describe('evaluate', () => {
  it('gives the scorer, the run, the score and the duration', () => {
    let now = 10
    const scorer = scorerOf(() => {
      now += 5
      return { status: 'scored', value: 0.5, band: 'fair', explanation: 'half', details: { of: 2 } }
    })
    expect(evaluate(scorer, run, { now: () => now, probability: 0.1, id: 'renamed', passAt: 0.4 })).toEqual({
      scorer: {
        id: 'renamed',
        version: scorer.version,
        kind: 'code',
        range: [0, 1],
        better: 'higher',
        passAt: 0.4,
        level: 'run',
      },
      runId: 'r1',
      revision: 1,
      complete: true,
      probability: 0.1,
      durationMs: 5,
      score: { status: 'scored', value: 0.5, label: 'pass', band: 'fair', explanation: 'half', details: { of: 2 } },
    })
  })

  it.each<[number, Partial<ScorerDefinition>, string]>([
    [1, {}, 'pass'],
    [0.99, {}, 'fail'],
    [0.7, { kind: 'judge' }, 'pass'],
    [0.69, { kind: 'judge' }, 'fail'],
    [0.3, { better: 'lower' }, 'pass'],
    [0.31, { better: 'lower' }, 'fail'],
    [7, { kind: 'judge', range: [0, 10] }, 'pass'],
    [3, { better: 'lower', range: [0, 10] }, 'pass'],
    [0.9, { better: 'lower', range: [0, 3] }, 'pass'],
    [2.1, { kind: 'judge', range: [0, 3] }, 'pass'],
    [0.2, { passAt: 0.2 }, 'pass'],
  ])('labels %d with %j as %s', (value, more, label) => {
    expect(scoring(value, more)).toMatchObject({ score: { status: 'scored', value, label } })
  })

  it.each([Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY])('fails on %d, which is outside the range', (value) => {
    expect(scoring(value)).toMatchObject({ score: { status: 'failed', code: 'invalid-score' } })
  })

  it('says that nothing was returned, also where content is left out', () => {
    // @ts-expect-error wrong on purpose
    const { score } = scoring(undefined)
    expect(score).toMatchObject({
      code: 'invalid-score',
      messageWithoutContent: expect.stringContaining('got undefined'),
    })
  })

  it.each([undefined, null, 5, {}, { status: 'great' }])('fails on %j, which is no verdict', (verdict) => {
    // @ts-expect-error wrong on purpose
    const scorer = scorerOf(() => verdict)
    expect(evaluate(scorer, run)).toMatchObject({ score: { status: 'failed', code: 'invalid-score' } })
  })

  it('rounds a value that misses a bound by a rounding error to the bound, and -0 to 0', () => {
    expect(scoring(1.0000000000000002)).toMatchObject({ score: { value: 1 } })
    expect(scoring(-0)).toMatchObject({ score: { value: 0 } })
  })

  it.each<[string, ScorerDefinition['assess']]>([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    [
      'throws no error',
      () => {
        throw Object.create(null)
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
  ])('turns a scorer that %s into a failed score', async (_how, assess) => {
    expect(await evaluate(scorerOf(assess), run)).toMatchObject({ score: { status: 'failed', code: 'scorer-threw' } })
  })

  it('keeps the score of a run of which something cannot be read, and calls it incomplete', async () => {
    const broken = Object.create(run, {
      complete: {
        get: () => {
          throw new Error('from a fact')
        },
      },
    })
    const verdict: Verdict = { status: 'scored', value: 1 }
    for (const assess of [() => verdict, () => Promise.resolve(verdict)]) {
      expect(await evaluate(scorerOf(assess), broken)).toMatchObject({ complete: false, score: { value: 1 } })
    }
    const { signal } = new AbortController()
    const aborted = await evaluate(scorerOf(hanging), broken, {
      signal: AbortSignal.any([signal, AbortSignal.abort()]),
    })
    expect(aborted).toMatchObject({ complete: false, score: { code: 'scorer-timeout' } })
  })

  it('waits for an asynchronous scorer, and returns its verdict and report', async () => {
    const verdict: Verdict = { status: 'scored', value: 1, judge: { model: 'm', calls: 1, usage: {} } }
    const pending = evaluate(
      scorerOf(() => Promise.resolve(verdict)),
      run,
    )
    expect(pending).toBeInstanceOf(Promise)
    expect(await pending).toMatchObject({ score: { value: 1 }, judge: { calls: 1 } })
  })

  it.each<['code' | 'judge', string]>([
    ['code', 'scorer-timeout'],
    ['judge', 'judge-timeout'],
  ])('ends a %s scorer that hangs as %s', async (kind, code) => {
    const controller = new AbortController()
    const pending = evaluate(scorerOf(hanging, { kind }), run, { signal: controller.signal, timeoutMs: 50 })
    controller.abort()
    expect(await pending).toMatchObject({ score: { status: 'failed', code } })
  })

  it('applies its own time limit if it is given no signal', async () => {
    expect(await evaluate(scorerOf(hanging), run, { timeoutMs: 1 })).toMatchObject({
      score: { code: 'scorer-timeout' },
    })
  })

  it('returns the score with which it was aborted', async () => {
    const controller = new AbortController()
    const pending = evaluate(scorerOf(hanging), run, { signal: controller.signal })
    controller.abort({ status: 'skipped', reason: 'shutdown', message: 'The process ends.' })
    expect(await pending).toMatchObject({ score: { status: 'skipped', reason: 'shutdown' } })
  })

  it('lets a scorer that listens to the signal return its own result', async () => {
    const controller = new AbortController()
    const pending = evaluate(scorerOf(heeding), run, { signal: controller.signal })
    controller.abort()
    expect(await pending).toMatchObject({ score: { message: 'own words' }, judge: { calls: 2 } })
  })

  it('ignores the rejection of a scorer after its time limit', async () => {
    const late = Promise.withResolvers<Verdict>()
    const evaluation = await evaluate(
      scorerOf(() => late.promise),
      run,
      { timeoutMs: 1 },
    )
    late.reject(new Error('too late'))
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    expect(evaluation).toMatchObject({ score: { code: 'scorer-timeout' } })
  })
})

// The compiler does not check scorers that are written in JavaScript, or that return parsed responses.
const untyped = (verdict: unknown, more: Partial<ScorerDefinition> = {}) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  evaluate(
    scorerOf(() => verdict as Verdict, more),
    run,
  )
const evaluated = (verdict: unknown): Evaluation => {
  const evaluation = untyped(verdict)
  if (evaluation instanceof Promise) throw new Error('expected a synchronous evaluation')
  return evaluation
}

describe('a verdict that its type does not allow', () => {
  it.each([
    [{ status: 'skipped', reason: { toString: (): string => 'x' }, message: 'm' }],
    [{ status: 'skipped', reason: 'because', message: 'm' }],
    [{ status: 'skipped', reason: 'toString', message: 'm' }],
    [{ status: 'failed', code: ['judge-http'], message: 'm' }],
    [{ status: 'failed', message: 'm' }],
  ])('has no reason of its own: %j', (verdict) => {
    expect(evaluated(verdict).score).toMatchObject({ status: 'failed', code: 'invalid-score' })
  })

  it('stores only texts in text fields', () => {
    const explanation = { toJSON: () => ({ nested: true }) }
    expect(evaluated({ status: 'scored', value: 1, band: 7, explanation }).score).toMatchObject({
      band: '7',
      explanation: '{"nested":true}',
    })
    expect(evaluated({ status: 'skipped', reason: 'no-output', message: ['a'] }).score).toMatchObject({
      message: '["a"]',
    })
    const long = evaluated({ status: 'scored', value: 1, explanation: 'x'.repeat(1e6) }).score
    expect(long.status === 'scored' && long.explanation?.length).toBe(10_000)
  })

  it.each([
    [
      { model: 'm', calls: 1 },
      { model: 'm', calls: 1, usage: {} },
    ],
    [
      { calls: Number.NaN, usage: null },
      { model: 'unknown', calls: 1, usage: {} },
    ],
    [
      { model: 'm', calls: 2, usage: { inputTokens: 1.7e308, outputTokens: 10 }, costUsd: Number.NaN },
      { model: 'm', calls: 2, usage: { outputTokens: 10 } },
    ],
    [
      { model: 'm', calls: 1e300, usage: { inputTokens: -1 } },
      { model: 'm', calls: 1, usage: {} },
    ],
    ['a report', undefined],
    [null, undefined],
  ])('reports plausible numbers of its judge, or none: %j', (judge, report) => {
    expect(evaluated({ status: 'scored', value: 1, judge }).judge).toEqual(report)
  })

  it('keeps no more than 256 characters of the name of the model, which a server chose', () => {
    const judge = { model: 'm'.repeat(1e6), calls: 1 }
    expect(evaluated({ status: 'scored', value: 1, judge }).judge?.model).toBe('m'.repeat(256))
  })

  it('fails like a scorer that throws if reading the verdict throws', async () => {
    const verdict = {
      get status(): never {
        throw new Error('from a getter')
      },
    }
    const failed = { status: 'failed', code: 'scorer-threw', message: expect.stringContaining('from a getter') }
    expect(evaluated(verdict).score).toMatchObject(failed)
    expect((await untyped(Promise.resolve(verdict))).score).toMatchObject(failed)
  })
})

describe('.run()', () => {
  it('returns its arguments with score, reason and steps', async () => {
    const scorer = scorerOf(() => ({
      status: 'scored',
      value: 1,
      explanation: 'why',
      preprocessStepResult: 1,
      analyzeStepResult: 2,
    }))
    const given = { runId: 'r2', input: 'Hi', output: 'Hello', groundTruth: 'Hello' }
    expect(await scorer.run(given)).toMatchObject({
      ...given,
      score: 1,
      reason: 'why',
      preprocessStepResult: 1,
      analyzeStepResult: 2,
      evaluation: { runId: 'r2', score: { label: 'pass' } },
    })
    expect(await scorer.run(run)).toMatchObject({ runId: 'r1', output: 'Hello' })
  })

  it('rejects with the message of the missing score, and the whole evaluation', async () => {
    const scorer = scorerOf(() => ({ status: 'skipped', reason: 'no-output', message: 'Nothing was said.' }))
    await expect(scorer.run(run)).rejects.toMatchObject({
      name: 'ScoreUnavailableError',
      code: 'no-output',
      message: 'Nothing was said.',
      evaluation: { score: { status: 'skipped', reason: 'no-output' } },
    })
  })
})

describe('a scorer version', () => {
  it('does not depend on the order of the options, and differs with any value', () => {
    expect(scorerVersion({ a: 1, b: [/x/g, new Set([1])] })).toBe(scorerVersion({ b: [/x/g, new Set([1])], a: 1 }))
    const versions = [
      { a: 1 },
      { a: 2 },
      { a: '1' },
      { a: /1/ },
      { a: /1/i },
      { a: () => 1 },
      { a: [1] },
      { a: Number.NaN },
    ]
    expect(new Set(versions.map(scorerVersion)).size).toBe(versions.length)
  })

  it('can be computed for circular values', () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    expect(scorerVersion(circular)).toMatch(/^[0-9a-f]{8}$/)
  })
})

const versionWith = (handOver: readonly string[], readsHandOver = true): string =>
  versionFor({ version: 'abcdef01', readsHandOver }, handOver)

it('the version has the tools that hand over, in any order, if they can change the score', () => {
  expect(versionWith([])).toBe('abcdef01')
  expect(versionWith(['a'], false)).toBe('abcdef01')
  expect(versionWith(['a'])).not.toBe('abcdef01')
  expect(versionWith(['a', 'b', 'a'])).toBe(versionWith(['b', 'a']))
})
