import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { evaluate } from '../../scoring/evaluate.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { plain, AGENT_RUN_FACTS } from '../../model/facts.ts'
import { toRunInput } from '../../scoring/given/run-input.ts'
import { createToolCallAccuracyScorerCode } from './tool-call-accuracy.ts'
import type { ToolCallAccuracyCodeOptions } from './tool-call-accuracy.ts'

/** A run that calls these tools, one letter each, in one message. */
const calling = (names: string, state = 'result') => ({
  input: 'Do it.',
  output: [
    {
      role: 'assistant',
      content: '',
      toolInvocations: Array.from(names, (toolName, index) => ({ toolCallId: `c${index}`, toolName, args: {}, state })),
    },
  ],
})

const live = (names: string, more: Partial<AgentRun> = {}): AgentRun => ({
  ...plain(toRunInput(calling(names)).run, AGENT_RUN_FACTS),
  ...more,
})

describe('tool call accuracy by code', () => {
  it.each<[string, ToolCallAccuracyCodeOptions, string, number]>([
    ['no call', { expectedTool: 'a' }, '', 0],
    ['no call, order', { expectedToolOrder: ['a'] }, '', 0],
    ['the tool', { expectedTool: 'a' }, 'a', 1],
    ['the tool among others', { expectedTool: 'a' }, 'xay', 1],
    ['the tool twice', { expectedTool: 'a' }, 'aa', 1],
    ['another tool', { expectedTool: 'a' }, 'x', 0],
    ['names in another case', { expectedTool: 'a' }, 'A', 0],
    ['strict: the tool alone', { expectedTool: 'a', strictMode: true }, 'a', 1],
    ['strict: the tool among others', { expectedTool: 'a', strictMode: true }, 'ax', 0],
    ['strict: the tool twice', { expectedTool: 'a', strictMode: true }, 'aa', 0],
    ['strict: another tool', { expectedTool: 'a', strictMode: true }, 'x', 0],
    ['order: as given', { expectedToolOrder: ['a', 'b'] }, 'ab', 1],
    ['order: with others between', { expectedToolOrder: ['a', 'b'] }, 'xaybz', 1],
    ['order: the other way round', { expectedToolOrder: ['a', 'b'] }, 'ba', 0],
    ['order: one is missing', { expectedToolOrder: ['a', 'b'] }, 'a', 0],
    ['strict order: as given', { expectedToolOrder: ['a', 'b'], strictMode: true }, 'ab', 1],
    ['strict order: one more', { expectedToolOrder: ['a', 'b'], strictMode: true }, 'abx', 0],
    ['strict order: one less', { expectedToolOrder: ['a', 'b'], strictMode: true }, 'a', 0],
    ['strict order: repeats', { expectedToolOrder: ['a', 'a'], strictMode: true }, 'aa', 1],
    ['order goes before the tool', { expectedTool: 'a', expectedToolOrder: ['b'] }, 'b', 1],
    ['order goes before the tool, and fails', { expectedTool: 'a', expectedToolOrder: ['b'] }, 'a', 0],
    ['an empty order is none', { expectedTool: 'a', expectedToolOrder: [] }, 'a', 1],
    // Mastra 1.10 looks at the first occurrence of each name alone, and gives 0 for the next three.
    ['order: a repeat in it', { expectedToolOrder: ['a', 'b', 'a'] }, 'axba', 1],
    ['order: begun too early', { expectedToolOrder: ['a', 'b'] }, 'bab', 1],
    ['order: the same tool twice', { expectedToolOrder: ['a', 'a'] }, 'axa', 1],
    ['order: a repeat that is missing', { expectedToolOrder: ['a', 'b', 'a'] }, 'ab', 0],
  ])('%s', async (_title, options, names, score) => {
    const result = await createToolCallAccuracyScorerCode(options).run(calling(names))
    expect(result.score).toBe(score)
    expect(result.evaluation.score).toMatchObject({ status: 'scored', label: score === 1 ? 'pass' : 'fail' })
  })

  it('names what it found', async () => {
    const scorer = createToolCallAccuracyScorerCode({
      expectedTool: 'a',
      expectedToolOrder: ['a', 'b'],
      strictMode: true,
    })
    const { preprocessStepResult, reason } = await scorer.run(calling('ab'))
    expect(preprocessStepResult).toEqual({
      expectedTool: 'a',
      actualTools: ['a', 'b'],
      strictMode: true,
      expectedToolOrder: ['a', 'b'],
      hasToolCalls: true,
      // By the tool, although the order decides: strictly, it is not the only call.
      correctToolCalled: false,
      correctOrderCalled: true,
      toolCallInfos: [
        { toolName: 'a', toolCallId: 'c0', messageIndex: 0, invocationIndex: 0 },
        { toolName: 'b', toolCallId: 'c1', messageIndex: 0, invocationIndex: 1 },
      ],
    })
    expect(reason).toBe('As expected: wanted a, b in this order and nothing else; called: a, b.')
  })

  it('has no correct tool without an expected one', async () => {
    const { preprocessStepResult } = await createToolCallAccuracyScorerCode({ expectedToolOrder: ['a'] }).run(
      calling('a'),
    )
    expect(preprocessStepResult).toMatchObject({ correctToolCalled: false, correctOrderCalled: true })
    expect(preprocessStepResult).not.toHaveProperty('expectedTool')
  })

  it.each(['result', 'call', 'output-error'])('counts an invocation in the state %s', async (state) => {
    const { score } = await createToolCallAccuracyScorerCode({ expectedTool: 'a' }).run(calling('a', state))
    expect(score).toBe(1)
  })

  it('does not count an invocation whose arguments are still streaming in', async () => {
    const { score } = await createToolCallAccuracyScorerCode({ expectedTool: 'a' }).run(calling('a', 'partial-call'))
    expect(score).toBe(0)
  })

  it.each([{}, { expectedTool: '' }, { expectedToolOrder: [] }])('refuses %j', (options) => {
    expect(() => createToolCallAccuracyScorerCode(options)).toThrow(
      'Either expectedTool or expectedToolOrder must be provided',
    )
  })

  it.each<[unknown, string]>([
    [{ expectedTool: 5 }, 'expectedTool to be the name of a tool, or a function, got 5'],
    [{ expectedToolOrder: 'ab' }, 'expectedToolOrder to be a list of names, or a function, got "ab"'],
    [{ expectedTool: 'a', strictMode: 'yes' }, 'strictMode to be true or false, got "yes"'],
  ])('refuses %j, which types would have', (options, message) => {
    expect(() => createToolCallAccuracyScorerCode(options as ToolCallAccuracyCodeOptions)).toThrow(message)
  })

  it.each([
    ['no input', { input: undefined, output: 'x' }],
    ['no output', { input: 'x', output: null }],
    ['no input messages', { input: [], output: 'x' }],
    ['no agent input messages', { input: { inputMessages: [] }, output: 'x' }],
    ['no output messages', { input: 'x', output: [] }],
    ['blank input', { input: ' ', output: 'x' }],
    ['null for messages', { input: { inputMessages: null }, output: 'x' }],
    ['messages that nobody gave', { input: { inputMessages: undefined }, output: 'x' }],
    ['system messages alone', { input: { systemMessages: ['Be brief.'] }, output: 'x' }],
    ['an empty object', { input: 'x', output: {} }],
  ])('rejects %s', async (_title, given) => {
    const scorer = createToolCallAccuracyScorerCode({ expectedTool: 'a' })
    const scoring = scorer.run(given)
    await expect(scoring).rejects.toThrow('Input and output messages cannot be null or empty')
    await expect(scoring).rejects.toMatchObject({ code: given.output === 'x' ? 'no-content' : 'no-output' })
  })

  it('scores a live run without content from its calls alone', async () => {
    const run = live('a', { input: [], content: 'none' })
    const { score } = await createToolCallAccuracyScorerCode({ expectedTool: 'a' }).run(run)
    expect(score).toBe(1)
  })

  it('prefers the expectation of the run itself to the options', () => {
    const scorer = createToolCallAccuracyScorerCode({ expectedTool: () => undefined, strictMode: true })
    const value = (attribute: unknown, names: string) => {
      const evaluation = evaluate(scorer, live(names, { attributes: { 'spanscore.expected_tools': attribute } }))
      return evaluation instanceof Promise ? undefined : evaluation.score
    }
    expect(value(['a', 'b'], 'ab')).toMatchObject({ status: 'scored', value: 1 })
    expect(value('["a","b"]', 'ba')).toMatchObject({ status: 'scored', value: 0 })
    expect(value('a', 'a')).toMatchObject({ status: 'scored', value: 1 })
    expect(value(undefined, 'a')).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
  })

  it('calls a function for each run', async () => {
    const scorer = createToolCallAccuracyScorerCode({
      expectedTool: (run) => (run.userInput === 'Do it.' ? 'a' : undefined),
    })
    expect((await scorer.run(calling('a'))).score).toBe(1)
    await expect(scorer.run({ ...calling('a'), input: 'Else.' })).rejects.toThrow('no tool is expected of this run')
  })

  it('counts calls that succeeded or whose outcome is unknown, if it is asked to', async () => {
    const calls = ['x', 'a'].map((toolName) => ({ type: 'tool-call', toolCallId: toolName, toolName, input: {} }))
    const output = [
      { role: 'assistant', content: calls },
      { role: 'tool', content: [{ type: 'tool-error', toolCallId: 'x', toolName: 'x', error: 'down' }] },
    ]
    const options = { expectedTool: 'a', strictMode: true }
    const scoreBy = async (count: 'all' | 'succeeded', expected = options) =>
      createToolCallAccuracyScorerCode({ ...expected, count }).run({ input: 'Do it.', output })
    expect((await scoreBy('all')).score).toBe(0)
    const { score, reason, preprocessStepResult } = await scoreBy('succeeded')
    expect([score, reason]).toEqual([1, expect.stringContaining('Without 1 call that did not succeed.')])
    expect(preprocessStepResult).toMatchObject({ actualTools: ['a'] })
    expect((await scoreBy('succeeded', { expectedTool: 'x', strictMode: false })).score).toBe(0)
  })

  it('skips a run that was offered no tools', () => {
    const scorer = createToolCallAccuracyScorerCode({ expectedTool: 'a' })
    expect(evaluate(scorer, live('', { availableTools: [] }))).toMatchObject({
      score: { status: 'skipped', reason: 'not-applicable' },
    })
    expect(evaluate(scorer, live('', { availableTools: [{ name: 'a' }] }))).toMatchObject({ score: { value: 0 } })
  })

  it('in flexible order gives 1 exactly if the order remains after calls are removed', async () => {
    const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 7 })
    const leavingOut = (calls: readonly string[]): string[] =>
      calls.length === 0 ? [''] : leavingOut(calls.slice(1)).flatMap((rest) => [rest, `${calls[0]}${rest}`])
    await fc.assert(
      fc.asyncProperty(letters, letters, async (order, calls) => {
        const { score } = await createToolCallAccuracyScorerCode({ expectedToolOrder: order }).run(
          calling(calls.join('')),
        )
        expect(score).toBe(leavingOut(calls).includes(order.join('')) ? 1 : 0)
      }),
    )
  })
})
