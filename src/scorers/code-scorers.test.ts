import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AgentRun, ToolCall } from '../runs/agent-run.ts'
import { evaluate } from '../scoring/evaluate.ts'
import { plainRun } from '../scoring/given-run.ts'
import { toRunInput } from '../scoring/run-input.ts'
import type { Evaluation } from '../scoring/score.ts'
import type { Scorer } from '../scoring/scorer.ts'
import { createAnswerPresentScorer } from './answer-present.ts'
import { createHallucinatedToolScorer } from './hallucinated-tool.ts'
import { createKeywordCoverageScorer } from './keyword-coverage.ts'
import { createLoopScorer } from './loop.ts'
import { createOutputFormatScorer } from './output-format.ts'
import { createRunLimitsScorer } from './run-limits.ts'
import { createToolArgumentsScorer } from './tool-arguments.ts'
import { createToolErrorsScorer } from './tool-errors.ts'
import { createTrajectoryScorer } from './trajectory.ts'
import type { TrajectoryDetails, TrajectoryMode } from './trajectory.ts'

const call = (name: string, args: unknown = {}, more: Partial<ToolCall> = {}): ToolCall => ({
  name,
  arguments: args,
  status: 'ok',
  step: 0,
  providerExecuted: false,
  ...more,
})
/** One letter a call. */
const calls = (names: string): ToolCall[] => Array.from(names, (name) => call(name))
const runOf = (more: Partial<AgentRun> = {}): AgentRun => ({
  ...plainRun(toRunInput({ input: 'Hi', output: 'Hello' }).run),
  ...more,
})
const notRecorded = (what: string): Partial<AgentRun> => ({
  content: 'partial',
  missing: [{ what, why: 'not-captured', switch: 'recordInputs: true' }],
})

function score(scorer: Scorer, more: Partial<AgentRun> = {}): Evaluation['score'] {
  const evaluation = evaluate(scorer, runOf(more))
  if (evaluation instanceof Promise) throw new Error('Expected a code scorer to be synchronous.')
  return evaluation.score
}

const saying = (scorer: Scorer, output: string): Evaluation['score'] => score(scorer, { output })

const measuring = (name: 'precision' | 'recall' | 'f1') =>
  createTrajectoryScorer({ expected: ['a', 'a'], measure: name })

const expecting = (args: Record<string, unknown> | ((given: unknown) => boolean)) =>
  createTrajectoryScorer({ expected: [{ name: 'a', arguments: args }] })

const trajectoryOf = (expected: readonly string[], made: readonly string[]): TrajectoryDetails => {
  const result = score(createTrajectoryScorer({ expected }), { toolCalls: calls(made.join('')) })
  return (result.status === 'scored' ? result.details : undefined) as TrajectoryDetails
}

const cities = (...names: string[]) => ({ toolCalls: names.map((city) => call('weather', { city })) })

describe('trajectory', () => {
  it.each<[TrajectoryMode, string, string, number]>([
    ['exact', 'ab', 'ab', 1],
    ['exact', 'ab', 'ba', 0],
    ['exact', 'ab', 'abx', 0],
    ['exact', '', '', 1],
    ['ordered', 'ab', 'xaxbx', 1],
    ['ordered', 'ab', 'ba', 0],
    ['ordered', 'aba', 'ab', 0],
    ['unordered', 'ab', 'ba', 1],
    ['unordered', 'ab', 'bax', 0],
    ['unordered', 'aab', 'abb', 0],
    ['subset', 'abc', 'ca', 1],
    ['subset', 'abc', 'aa', 0],
    ['superset', 'ab', 'xbxa', 1],
    ['superset', 'aab', 'xbxa', 0],
  ])('%s: %s expected, %s made: %d', (mode, expected, made, value) => {
    const scorer = createTrajectoryScorer({ expected: Array.from(expected), mode })
    expect(score(scorer, { toolCalls: calls(made) })).toMatchObject({ status: 'scored', value })
  })

  it('counts precision, recall and F1 over repeats, so that a hundred calls beside the right one cost something', () => {
    const made = { toolCalls: calls(`a${'x'.repeat(99)}`) }
    expect(score(measuring('precision'), made)).toMatchObject({ value: 0.01 })
    expect(score(measuring('recall'), made)).toMatchObject({ value: 0.5 })
    expect(score(measuring('f1'), made)).toMatchObject({ value: (2 * 0.01 * 0.5) / 0.51 })
    expect(score(createTrajectoryScorer({ expected: [], measure: 'f1' }))).toMatchObject({ value: 1 })
    expect(score(createTrajectoryScorer({ expected: [], measure: 'f1' }), { toolCalls: calls('x') })).toMatchObject({
      value: 0,
    })
  })

  it('pairs as many as can be paired, where the first that fits would leave one out', () => {
    const expected = [{ name: 'book' }, { name: 'book', arguments: { seat: 'aisle' } }]
    const made = { toolCalls: [call('book', { seat: 'aisle' }), call('book', { seat: 'window' })] }
    expect(score(createTrajectoryScorer({ expected, mode: 'unordered' }), made)).toMatchObject({ value: 1 })
  })

  it('compares the arguments that are expected, and leaves the others free', () => {
    const made = { toolCalls: [call('a', { city: 'Oslo', stops: [{ x: 1, y: 2 }] })] }
    expect(score(expecting({ stops: [{ y: 2, x: 1 }] }), made)).toMatchObject({ value: 1 })
    expect(score(expecting({ city: 'Bergen' }), made)).toMatchObject({ value: 0 })
    expect(score(expecting({ unit: 'C' }), made)).toMatchObject({ value: 0 })
    expect(
      score(
        expecting((given) => JSON.stringify(given).includes('Oslo')),
        made,
      ),
    ).toMatchObject({ value: 1 })
  })

  it('says what was not made and what was not expected', () => {
    expect(score(createTrajectoryScorer({ expected: ['a', 'b'] }), { toolCalls: calls('ax') })).toMatchObject({
      explanation: 'The calls do not match (ordered): not made: b; not expected: x; precision 0.50, recall 0.50.',
      details: { missing: ['b'], unexpected: ['x'], precision: 0.5, recall: 0.5 } satisfies Partial<TrajectoryDetails>,
    })
  })

  it('leaves out the tools that do not count, asks a function, and takes what the run expects of itself', () => {
    const scorer = createTrajectoryScorer({
      expected: (run) => (run.agent.name === 'x' ? ['a'] : undefined),
      mode: 'exact',
      ignore: ['r'],
    })
    expect(score(scorer, { agent: { name: 'x' }, toolCalls: calls('rar') })).toMatchObject({ value: 1 })
    expect(score(scorer)).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
    const attributes = { 'spanscore.expected_tools': ['a', 'b'] }
    expect(score(scorer, { attributes, toolCalls: calls('ab') })).toMatchObject({ value: 1 })
  })

  it('is skipped where arguments are to be compared and were not recorded', () => {
    const run = {
      toolCalls: [call('a', undefined, { arguments: undefined as never })],
      ...notRecorded('toolCalls[0].arguments'),
    }
    const scorer = createTrajectoryScorer({ expected: [{ name: 'a', arguments: { x: 1 } }] })
    expect(score(scorer, run)).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
      message: expect.stringContaining('recordInputs'),
    })
    expect(score(createTrajectoryScorer({ expected: ['a'] }), run)).toMatchObject({ value: 1 })
  })

  it('keeps its properties: order does not matter to the shares, and one more call never raises precision', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
    fc.assert(
      fc.property(letters, letters, (expected, made) => {
        const plain = trajectoryOf(expected, made)
        expect(trajectoryOf(expected, made.toReversed())).toMatchObject({
          precision: plain.precision,
          recall: plain.recall,
        })
        expect(trajectoryOf(expected, [...made, 'x']).precision).toBeLessThanOrEqual(plain.precision)
        expect(plain.missing.length + made.length).toBe(plain.unexpected.length + expected.length)
      }),
    )
  })
})

describe('tool arguments', () => {
  const weather = {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  }
  const offered = { availableTools: [weather] }

  it('gives the share of calls that are valid by the recorded schema, and says what is wrong', () => {
    const toolCalls = [call('weather', { city: 'Oslo' }), call('weather', { city: 5 }), call('other', { anything: 1 })]
    expect(score(createToolArgumentsScorer(), { ...offered, toolCalls })).toMatchObject({
      value: 0.5,
      label: 'fail',
      explanation: '1 of 2 calls fit the schema. weather: city must be string, is 5 (type_error).',
      details: {
        calls: [
          { index: 0, errors: [] },
          { index: 1, errors: [{ path: 'city', code: 'type_error' }] },
        ],
      },
    })
  })

  it('takes text that is no JSON for what it is', () => {
    expect(score(createToolArgumentsScorer(), { ...offered, toolCalls: [call('weather', '{"city":')] })).toMatchObject({
      value: 0,
    })
  })

  it('lets pass what the schema lets pass, but not in strict mode', () => {
    const run = { ...offered, toolCalls: [call('weather', { city: 'Oslo', unit: 'C' })] }
    expect(score(createToolArgumentsScorer(), run)).toMatchObject({ value: 1 })
    expect(score(createToolArgumentsScorer({ strict: true }), run)).toMatchObject({ value: 0 })
  })

  it('takes the tools of its options where the run recorded none', () => {
    const run = { toolCalls: [call('weather', {})] }
    expect(score(createToolArgumentsScorer({ tools: [weather] }), run)).toMatchObject({ value: 0 })
    expect(score(createToolArgumentsScorer(), run)).toMatchObject({ status: 'skipped', reason: 'no-content' })
  })

  it('gives the share of expected calls that were made with allowed values, each paired once', () => {
    const expected = [
      { name: 'weather', arguments: { city: ['Oslo', 'Bergen'] } },
      { name: 'weather', arguments: { city: ['Oslo'] } },
    ]
    const scorer = createToolArgumentsScorer({ expected })
    expect(score(scorer, cities('oslo', 'bergen'))).toMatchObject({ value: 1 })
    expect(score(scorer, cities('Oslo'))).toMatchObject({ value: 0.5, details: { missing: ['weather'] } })
    expect(score(scorer, cities('Oslo', 'Bergen', 'Rome', 'Paris'))).toMatchObject({ value: 0.5 })
    expect(score(scorer)).toMatchObject({ value: 0 })
    expect(score(scorer, cities('Rome', 'Oslo'))).toMatchObject({
      value: 0.5,
      details: { calls: [{ errors: [{ code: 'value_error', path: 'city' }] }, { errors: [] }] },
    })
  })

  it('is skipped without calls, without an expectation, and without recorded arguments', () => {
    expect(score(createToolArgumentsScorer(), offered)).toMatchObject({ reason: 'not-applicable' })
    expect(score(createToolArgumentsScorer({ expected: () => undefined }))).toMatchObject({ reason: 'not-applicable' })
    const unknown = { name: 'weather', status: 'ok', step: 0, providerExecuted: false } as const
    const run = { ...offered, toolCalls: [unknown], ...notRecorded('toolCalls[0].arguments') }
    expect(score(createToolArgumentsScorer(), run)).toMatchObject({ status: 'skipped', reason: 'no-content' })
    // A call without arguments in a run of full content had none.
    expect(score(createToolArgumentsScorer(), { ...offered, toolCalls: [unknown] })).toMatchObject({ value: 0 })
  })

  it('refuses values that are no lists', () => {
    // @ts-expect-error a value, where a list of values is to stand
    expect(() => createToolArgumentsScorer({ expected: [{ name: 'a', arguments: { city: 'Oslo' } }] })).toThrow(
      /\[allowed/,
    )
  })
})

describe('hallucinated tool', () => {
  const scorer = createHallucinatedToolScorer()
  const availableTools = [{ name: 'a' }]

  it('gives the share of calls to tools that were not offered', () => {
    expect(score(scorer, { availableTools, toolCalls: calls('aaxy') })).toMatchObject({
      value: 0.5,
      label: 'fail',
      details: { hallucinated: ['x', 'y'] },
    })
    expect(score(scorer, { availableTools, toolCalls: calls('aa') })).toMatchObject({ value: 0, label: 'pass' })
    expect(score(createHallucinatedToolScorer({ tools: ['x'] }), { toolCalls: calls('x') })).toMatchObject({ value: 0 })
  })

  it('takes the tools of the provider for offered', () => {
    expect(
      score(scorer, { availableTools, toolCalls: [call('web_search', {}, { providerExecuted: true })] }),
    ).toMatchObject({ value: 0 })
  })

  it('sees refusals where the offered tools were not recorded, and is skipped without any', () => {
    const refused = call(
      'x',
      {},
      {
        status: 'not-executed',
        error: { type: 'AI_NoSuchToolError', message: "Model tried to call unavailable tool 'x'." },
      },
    )
    expect(score(scorer, { toolCalls: [refused] })).toMatchObject({ value: 1 })
    expect(score(scorer, { toolCalls: calls('x'), ...notRecorded('availableTools') })).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
    expect(score(scorer)).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
  })
})

describe('tool errors', () => {
  const failed = (name: string) => call(name, {}, { status: 'error', error: { message: 'no such city' } })
  const toolCalls = [failed('a'), call('a'), failed('b'), call('c', {}, { status: 'unknown' })]

  it('gives the share of calls that failed, and says which were recovered from', () => {
    expect(score(createToolErrorsScorer(), { toolCalls })).toMatchObject({
      value: 2 / 3,
      explanation: '2 of 3 calls failed, 1 of them recovered from; the first: a (no such city).',
      details: {
        calls: 3,
        recovered: 1,
        failed: [
          { name: 'a', recovered: true },
          { name: 'b', recovered: false },
        ],
      },
    })
    expect(score(createToolErrorsScorer({ countRecovered: false }), { toolCalls })).toMatchObject({ value: 1 / 3 })
  })

  it('counts a refused call, and not one that waits for a client', () => {
    const refused = call('a', {}, { status: 'not-executed', error: { type: 'AI_InvalidToolInputError' } })
    expect(score(createToolErrorsScorer(), { toolCalls: [refused] })).toMatchObject({ value: 1 })
    const waiting = call('a', {}, { status: 'not-executed' })
    expect(score(createToolErrorsScorer(), { toolCalls: [waiting] })).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
    expect(score(createToolErrorsScorer())).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
  })
})

describe('loop', () => {
  it('counts identical calls beyond those allowed, whatever the order of their arguments', () => {
    const toolCalls = [
      call('a', { x: 1, y: 2 }),
      call('a', { y: 2, x: 1 }),
      call('a', { x: 1, y: 2 }),
      call('a', { x: 2 }),
    ]
    expect(score(createLoopScorer(), { toolCalls })).toMatchObject({
      value: 0.25,
      label: 'fail',
      details: { repeated: [{ times: 3 }] },
    })
    expect(score(createLoopScorer({ maxIdentical: 3 }), { toolCalls })).toMatchObject({ value: 0, label: 'pass' })
    expect(score(createLoopScorer({ ignore: ['a'] }), { toolCalls })).toMatchObject({ status: 'skipped' })
  })

  it('names the longest cycle', () => {
    expect(score(createLoopScorer(), { toolCalls: calls('xababababy') })).toMatchObject({
      value: 0.4,
      explanation: expect.stringContaining('a, b came 4 times in a row.'),
      details: { cycle: { calls: ['a', 'b'], times: 4 } },
    })
    expect(score(createLoopScorer(), { toolCalls: calls('aaa') })).toMatchObject({
      details: { cycle: { calls: ['a'], times: 3 } },
    })
    expect(score(createLoopScorer(), { toolCalls: calls('abcabd') })).not.toHaveProperty('details.cycle')
  })

  it('refuses a limit below 1', () => {
    expect(() => createLoopScorer({ maxIdentical: 0 })).toThrow(/maxIdentical/)
  })
})

describe('run limits', () => {
  const step = { toolCallIds: [], usage: {}, finishReasons: [], status: 'ok' } as const
  const run = {
    steps: [step, step, step],
    toolCalls: calls('ab'),
    usage: { inputTokens: 100 },
    startTimeMs: 1000,
    endTimeMs: 3000,
  }

  it('gives the share of limits that were kept, and names the others and what is not known', () => {
    const scorer = createRunLimitsScorer({
      maxSteps: 2,
      maxToolCalls: 2,
      maxInputTokens: 200,
      maxOutputTokens: 5,
      maxDurationMs: 1500,
    })
    expect(score(scorer, run)).toMatchObject({
      value: 0.5,
      explanation: 'Over the limit: maxSteps 2, took 3, maxDurationMs 1500, took 2000. Not recorded: maxOutputTokens.',
    })
    expect(score(createRunLimitsScorer({ maxSteps: 3 }), run)).toMatchObject({ value: 1, label: 'pass' })
  })

  it('is skipped where nothing is known, as of the time of a run made of messages', () => {
    expect(score(createRunLimitsScorer({ maxDurationMs: 5 }))).toMatchObject({
      status: 'skipped',
      reason: 'no-content',
    })
  })

  it('refuses no limit, and one that is none', () => {
    expect(() => createRunLimitsScorer({})).toThrow(/at least one of maxSteps/)
    expect(() => createRunLimitsScorer({ maxSteps: -1 })).toThrow(/maxSteps to be a number from 0/)
  })
})

describe('output format', () => {
  const total = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }

  it.each([
    ['{"total":1}', 1],
    ['{"total":"1"}', 0],
    ['```json\n{"total":1}\n```', 0],
    ['total: 1', 0],
  ])('holds %j against a schema: %d', (answer, value) => {
    expect(saying(createOutputFormatScorer({ schema: total }), answer)).toMatchObject({ value })
  })

  it('takes a fence for JSON where that is allowed', () => {
    expect(
      saying(createOutputFormatScorer({ json: true, allowFence: true }), '```json\n{"total":1}\n```'),
    ).toMatchObject({ value: 1 })
  })

  it('gives the share of checks that hold, and says which do not', () => {
    const scorer = createOutputFormatScorer({
      pattern: [/^- /m, /\d/g],
      forbidden: /sorry/i,
      minLength: 3,
      maxLength: 5,
    })
    expect(saying(scorer, '- 😀 1')).toMatchObject({ value: 1 })
    expect(saying(scorer, '- 😀 1')).toMatchObject({ value: 1 })
    expect(saying(scorer, 'Sorry, 1')).toMatchObject({
      value: 0.4,
      explanation:
        'The answer does not match /^- /m, matches /sorry/i, which is forbidden, has 8 characters, should have at most 5.',
    })
  })

  it('refuses no checks', () => {
    expect(() => createOutputFormatScorer({})).toThrow(/at least one of json/)
  })
})

describe('keyword coverage', () => {
  it.each<[string, readonly (string | readonly string[])[], string, number]>([
    ['words', ['refund', 'days'], 'A refund takes 14 days.', 1],
    ['alternatives', [['14 days', 'two weeks']], 'It takes two  weeks.', 1],
    ['whole words', ['cat'], 'The catalogue', 0],
    ['whole words beside other scripts', ['Node'], 'Nodeは速い', 1],
    ['scripts without blanks', ['天気'], '今日の天気は晴れです', 1],
    ['other widths', ['API 2'], 'ＡＰＩ ２', 1],
    ['other cases', ['STRASSE'], 'strasse', 1],
    ['accents', ['über'], 'u\u0308ber', 1],
    ['some', ['a', 'b'], 'only a', 0.5],
    ['signs', ['c++'], 'C++ and C', 1],
  ])('finds %s', (_what, keywords, answer, value) => {
    expect(saying(createKeywordCoverageScorer({ keywords }), answer)).toMatchObject({ value })
  })

  it('heeds case and parts of words where told to', () => {
    expect(saying(createKeywordCoverageScorer({ keywords: ['Cat'], caseSensitive: true }), 'cat')).toMatchObject({
      value: 0,
    })
    expect(saying(createKeywordCoverageScorer({ keywords: ['cat'], wholeWords: false }), 'catalogue')).toMatchObject({
      value: 1,
    })
  })

  it('is skipped without keywords, and refuses blank ones', () => {
    expect(saying(createKeywordCoverageScorer({ keywords: () => undefined }), 'x')).toMatchObject({ status: 'skipped' })
    expect(() => createKeywordCoverageScorer({ keywords: [' '] })).toThrow(/expected keywords/)
  })
})

describe('answer present', () => {
  it.each([
    ['', 'empty'],
    [' \n…', 'empty'],
    [':', 'empty'],
    ['Thought process:', 'boilerplate'],
    ["Let's think step by step.", 'boilerplate'],
    ['Sure! Here is the answer:', 'boilerplate'],
    ['解', 'boilerplate'],
    ["I'm sorry, but I can't help with that.", 'refusal'],
    ['I’m sorry, but I cannot assist with that request.', 'refusal'],
    ['As an AI language model, I cannot answer this.', 'refusal'],
    ['Es tut mir leid, aber dabei kann ich nicht helfen.', 'refusal'],
    ['申し訳ありませんが、その質問にはお答えできません。', 'refusal'],
    ['很抱歉,我无法提供这些信息。', 'refusal'],
    ['42', 'answer'],
    ['Yes.', 'answer'],
    ['👍', 'answer'],
    ["I'm sorry to hear that. Your refund is on its way.", 'answer'],
    ['Sure! Here is the plan: first mix, then bake.', 'answer'],
    [`I'm sorry, but I can't open the file. ${'Here is what to do instead. '.repeat(20)}`, 'answer'],
  ])('takes %j for %s', (answer, kind) => {
    expect(saying(createAnswerPresentScorer(), answer)).toMatchObject({
      value: kind === 'answer' ? 1 : 0,
      details: { kind },
    })
  })

  it('takes a refusal for an answer where told to, and knows further ones', () => {
    expect(saying(createAnswerPresentScorer({ allowRefusals: true }), "I can't help with that.")).toMatchObject({
      value: 1,
    })
    const scorer = createAnswerPresentScorer({ refusals: [/beklager/giy] })
    expect(saying(scorer, 'Beklager, det går ikke.')).toMatchObject({ value: 0 })
    expect(saying(scorer, 'Beklager, det går ikke.')).toMatchObject({ value: 0 })
  })

  it.each<[string, Partial<AgentRun>, string]>([
    ['failed', { status: 'error' }, 'run-failed'],
    ['was not recorded', notRecorded('output'), 'no-content'],
    [
      'waits for a client',
      {
        steps: [{ toolCallIds: ['c1'], usage: {}, finishReasons: [], status: 'ok' }],
        toolCalls: [call('a', {}, { id: 'c1', status: 'not-executed' })],
      },
      'not-finished',
    ],
    ['said nothing', {}, 'no-output'],
  ])('is skipped where the run %s', (_what, more, reason) => {
    const { output: _output, ...run } = runOf(more)
    expect(evaluate(createAnswerPresentScorer(), run)).toMatchObject({ score: { status: 'skipped', reason } })
  })
})

describe('every code scorer', () => {
  const scorers = [
    createTrajectoryScorer({ expected: ['a'] }),
    createToolArgumentsScorer(),
    createHallucinatedToolScorer(),
    createToolErrorsScorer(),
    createLoopScorer(),
    createRunLimitsScorer({ maxSteps: 1, maxToolCalls: 2 }),
    createOutputFormatScorer({ json: true }),
    createKeywordCoverageScorer({ keywords: ['a'] }),
    createAnswerPresentScorer(),
  ]

  it('is synchronous, and gives a number in its range with an explanation, or says why not, whatever the run', () => {
    const anyCall = fc.record({
      name: fc.constantFrom('a', 'b', ''),
      arguments: fc.jsonValue(),
      status: fc.constantFrom('ok' as const, 'error' as const, 'not-executed' as const, 'unknown' as const),
      step: fc.nat(3),
      providerExecuted: fc.boolean(),
    })
    const anyRun = fc.record({
      toolCalls: fc.array(anyCall, { maxLength: 6 }),
      output: fc.string(),
      availableTools: fc.array(fc.record({ name: fc.constantFrom('a', 'c'), parameters: fc.jsonValue() })),
    })
    fc.assert(
      fc.property(fc.constantFrom(...scorers), anyRun, (scorer, more) => {
        const result = score(scorer, more)
        expect(result.status).not.toBe('failed')
        expect(result.status === 'scored' ? result.explanation : result.message).toEqual(expect.stringMatching(/.\.$/))
      }),
      { numRuns: 1000 },
    )
  })

  it('has its own id, a description, and a version that its options are part of', () => {
    expect(new Set(scorers.map(({ id }) => id)).size).toBe(scorers.length)
    expect(scorers.every(({ description, inline, kind }) => description.length > 20 && inline && kind === 'code')).toBe(
      true,
    )
    expect(createLoopScorer({ maxIdentical: 3 }).version).not.toBe(createLoopScorer().version)
    expect(createLoopScorer({ id: 'other' }).id).toBe('other')
  })
})
