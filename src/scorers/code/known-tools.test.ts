import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../../model/agent-run.ts'
import { call, calls, score } from '../../../test/fixtures/code-runs.ts'
import type { Scorer } from '../../scoring/scorer.ts'
import { createToolArgumentsScorer } from './tool-arguments.ts'
import { createToolCallAccuracyScorerCode } from './tool-call-accuracy.ts'
import { createTrajectoryScorer } from './trajectory.ts'

/** A run of an agent with these tools, which called the first one. */
const offering = (...tools: readonly string[]): Partial<AgentRun> => ({
  agent: { name: 'weather-agent' },
  availableTools: tools.map((name) => ({ name })),
  toolCalls: [call(tools[0] ?? 'none')],
})

/** One scorer of each kind that expects this tool. */
const expecting = (tool: string): readonly (readonly [string, Scorer])[] => [
  ['tool_call_accuracy', createToolCallAccuracyScorerCode({ expectedTool: tool })],
  ['trajectory', createTrajectoryScorer({ expected: [tool] })],
  ['tool_arguments', createToolArgumentsScorer({ expected: [{ name: tool, arguments: {} }] })],
]

/** The same of a function. */
const computing = (tool: string): readonly (readonly [string, Scorer])[] => [
  ['tool_call_accuracy', createToolCallAccuracyScorerCode({ expectedTool: () => tool })],
  ['trajectory', createTrajectoryScorer({ expected: () => [tool] })],
]

describe('A scorer that expects a tool', () => {
  it.each([...expecting('get_wether'), ...computing('get_wether')])(
    'names a misspelt one instead of giving every run a 0: %s',
    (id, scorer) => {
      expect(score(scorer, offering('get_weather', 'get_time'))).toMatchObject({
        status: 'skipped',
        reason: 'no-such-tool',
        messageWithoutContent: `${id}: the expected tool get_wether was never offered to this agent, and get_weather is. Correct the name.`,
      })
    },
  )

  it.each(expecting('book_flight'))(
    'gives 0 for one without a similar name, and says that it was not offered: %s',
    (_, scorer) => {
      const result = score(scorer, offering('get_weather'))
      expect(result).toMatchObject({ status: 'scored', value: 0 })
      expect(result).toMatchObject({
        explanationWithoutContent: expect.stringContaining('Not offered in this run: book_flight.'),
      })
    },
  )

  it.each(expecting('get_weather'))('gives 0 for one that was offered before and no longer is: %s', (_, scorer) => {
    expect(score(scorer, { ...offering('get_time', 'get_weather') })).toMatchObject({ value: 0 })
    const result = score(scorer, offering('get_weathers'))
    expect(result).toMatchObject({ status: 'scored', value: 0 })
    expect(result).toMatchObject({ explanation: expect.stringContaining('Not offered in this run: get_weather.') })
  })

  it.each(expecting('get_weather'))('remembers one that was called: %s', (_, scorer) => {
    expect(score(scorer, offering('get_weather'))).toMatchObject({ value: 1 })
    expect(score(scorer, offering('get_weathers'))).toMatchObject({ value: 0 })
    const other = { ...offering('get_weathers'), agent: { name: 'other-agent' } }
    expect(score(scorer, other)).toMatchObject({ reason: 'no-such-tool' })
  })

  it('compares nothing if the offered tools were not recorded, or the tool was called all the same', () => {
    const [[, scorer] = []] = expecting('a')
    if (scorer === undefined) throw new Error('expected a scorer')
    expect(score(scorer, { toolCalls: calls('b') })).toMatchObject({
      value: 0,
      explanation: expect.not.stringContaining('offered'),
    })
    expect(score(scorer, { toolCalls: calls('a'), availableTools: [{ name: 'b' }] })).toMatchObject({ value: 1 })
  })
})
