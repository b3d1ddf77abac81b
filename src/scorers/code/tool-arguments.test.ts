import { describe, expect, it } from 'vitest'

import { call, cities, notRecorded, score } from '../../../test/fixtures/code-runs.ts'
import { createToolArgumentsScorer } from './tool-arguments.ts'

describe('tool arguments', () => {
  const weather = {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  }
  const offered = { availableTools: [weather] }

  it('gives the share of calls that are valid by the recorded schema, and names the errors', () => {
    const toolCalls = [call('weather', { city: 'Oslo' }), call('weather', { city: 5 }), call('other', { anything: 1 })]
    expect(score(createToolArgumentsScorer(), { ...offered, toolCalls })).toMatchObject({
      value: 0.5,
      label: 'fail',
      explanation: '1 of 2 calls fit the schema. weather: city must be string, is 5 (type_error).',
      findings: [
        { verdict: 'valid', rating: 'good', places: [{ in: 'call', index: 0 }] },
        { verdict: 'type_error', rating: 'bad', places: [{ in: 'arguments', index: 1, path: 'city' }] },
      ],
    })
  })

  it('treats text that is not JSON as text', () => {
    expect(score(createToolArgumentsScorer(), { ...offered, toolCalls: [call('weather', '{"city":')] })).toMatchObject({
      value: 0,
    })
  })

  it('allows additional properties that the schema allows, but not in strict mode', () => {
    const run = { ...offered, toolCalls: [call('weather', { city: 'Oslo', unit: 'C' })] }
    expect(score(createToolArgumentsScorer(), run)).toMatchObject({ value: 1 })
    expect(score(createToolArgumentsScorer({ strict: true }), run)).toMatchObject({ value: 0 })
  })

  it('uses the tools of its options if the run recorded none', () => {
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
    expect(score(scorer, cities('Oslo'))).toMatchObject({
      value: 0.5,
      findings: [{ verdict: 'valid' }, { text: 'weather', verdict: 'missing', rating: 'bad' }],
    })
    expect(score(scorer, cities('Oslo', 'Bergen', 'Rome', 'Paris'))).toMatchObject({ value: 0.5 })
    expect(score(scorer)).toMatchObject({ value: 0 })
    expect(score(scorer, cities('Rome', 'Oslo'))).toMatchObject({
      value: 0.5,
      findings: [
        { verdict: 'value_error', places: [{ in: 'arguments', index: 0, path: 'city' }] },
        { verdict: 'valid' },
        { verdict: 'missing' },
      ],
    })
  })

  it('skips a run with more calls of the expected tools than can be compared while the application runs', () => {
    const expected = Array.from({ length: 300 }, (_, index) => ({
      name: 'weather',
      arguments: { city: [`City ${index}`] },
    }))
    const toolCalls = Array.from({ length: 3000 }, (_, index) => call('weather', { city: `City ${index}` }))
    expect(score(createToolArgumentsScorer({ expected }), { toolCalls })).toMatchObject({
      status: 'skipped',
      reason: 'not-applicable',
      message: 'tool_arguments: 3000 calls are too many to compare with 300 expected ones.',
    })
    const long = Array.from({ length: 100 }, (_, index) => call('weather', { city: `${'a '.repeat(7000)}${index}` }))
    expect(score(createToolArgumentsScorer({ expected }), { toolCalls: long })).toMatchObject({
      reason: 'not-applicable',
    })
    const other = Array.from({ length: 3000 }, (_, index) => call(`tool ${index}`, { city: 'Oslo' }))
    expect(
      score(createToolArgumentsScorer({ expected }), { toolCalls: [...other, ...toolCalls.slice(7, 8)] }),
    ).toMatchObject({
      value: 1 / 300,
    })
  })

  it.each([false, true])('lists twenty errors of a call at most, strict: %s', (strict) => {
    const scorer = createToolArgumentsScorer({ strict, expected: [{ name: 't', arguments: { x: [1] } }] })
    const required = Array.from({ length: 10_000 }, (_, index) => `name ${index}`)
    const args = Object.fromEntries(required.map((name) => [`${name}, not expected`, 1]))
    const availableTools = [{ name: 't', parameters: { required, properties: { x: { type: 'integer' } } } }]
    const given = score(scorer, { availableTools, toolCalls: [call('t', args), call('t', { x: 1 })] })
    expect(given).toMatchObject({ status: 'scored', value: 0 })
    expect(JSON.stringify(given).length).toBeLessThan(10_000)
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

  it('an empty list of expected calls means that no tool may be called', () => {
    const scorer = createToolArgumentsScorer({ expected: [] })
    expect(score(scorer, { ...offered, toolCalls: [] })).toMatchObject({ value: 1 })
    expect(score(scorer, { ...offered, ...cities('Oslo') })).toMatchObject({
      value: 0,
      findings: [{ verdict: 'unexpected', rating: 'bad', text: 'weather', places: [{ in: 'call', index: 0 }] }],
    })
  })

  it('counts calls that succeeded or whose outcome is unknown, if it is asked to', () => {
    const failed = call('weather', { city: 5 }, { status: 'error' })
    const toolCalls = [failed, ...cities('Oslo').toolCalls]
    const expected = [{ name: 'weather', arguments: { city: ['Oslo'] } }]
    expect(score(createToolArgumentsScorer({ expected }), { ...offered, toolCalls })).toMatchObject({ value: 0.5 })
    for (const options of [{ expected }, {}, { expected: () => expected }]) {
      const scorer = createToolArgumentsScorer({ ...options, count: 'succeeded' })
      const explanation = expect.stringContaining('Without 1 call that did not succeed.')
      expect(score(scorer, { ...offered, toolCalls })).toMatchObject({ value: 1, explanation })
    }
    const bySchemas = createToolArgumentsScorer({ count: 'succeeded' })
    expect(score(bySchemas, { ...offered, toolCalls: [failed] })).toMatchObject({
      reason: 'not-applicable',
      message: expect.stringContaining('none of the 1 call succeeded'),
    })
    const none = createToolArgumentsScorer({ expected: [], count: 'succeeded' })
    expect(score(none, { ...offered, toolCalls: [failed] })).toMatchObject({ value: 1 })
  })

  it('refuses values that are not lists', () => {
    // @ts-expect-error a value where a list of values is expected
    expect(() => createToolArgumentsScorer({ expected: [{ name: 'a', arguments: { city: 'Oslo' } }] })).toThrow(
      /\[allowed/,
    )
  })
})
