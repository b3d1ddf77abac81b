import { expect, it } from 'vitest'
import { agent, chat, tool } from '../../../test/fixtures/gen-ai-spans.ts'
import { buildRuns } from '../build-runs.ts'

const lost = chat('c', { parentSpanId: 'lost', startTimeMs: 20, endTimeMs: 30 })
const outline = (spans: Parameters<typeof buildRuns>[0]) =>
  buildRuns(spans).map(({ agent: { name }, steps, complete }) => [name, steps.length, complete])

it('gives a call whose parent was lost to the only agent that was at work, whose run is incomplete', () => {
  expect(outline([agent('a', { startTimeMs: 10, endTimeMs: 40 }), lost])).toEqual([['a', 1, false]])
})

it('gives it to none of two agents that were at work: all of these runs are incomplete', () => {
  const runs = outline([
    agent('a', { startTimeMs: 10, endTimeMs: 40 }),
    agent('b', { startTimeMs: 11, endTimeMs: 41 }),
    lost,
  ])
  expect(runs).toEqual([
    ['a', 0, false],
    ['b', 0, false],
    [undefined, 1, false],
  ])
})

it('gives it to no run if two tools of the only agent were at work, whose run is incomplete', () => {
  const runs = outline([
    agent('a', { startTimeMs: 10, endTimeMs: 40 }),
    tool('t', { parentSpanId: 'a', startTimeMs: 11, endTimeMs: 39 }),
    tool('u', { parentSpanId: 'a', startTimeMs: 12, endTimeMs: 38 }),
    lost,
  ])
  expect(runs).toEqual([['a', 0, false]])
})

it('makes the runs that the tools of such an agent started incomplete, too', () => {
  const [run] = buildRuns([
    agent('a', { startTimeMs: 10, endTimeMs: 40 }),
    tool('t', { parentSpanId: 'a', startTimeMs: 11, endTimeMs: 39 }),
    agent('n', { parentSpanId: 't', startTimeMs: 12, endTimeMs: 38 }),
    tool('u', { parentSpanId: 'a', startTimeMs: 13, endTimeMs: 38 }),
    lost,
  ])
  expect(run?.children.map(({ agent: { name }, complete }) => [name, complete])).toEqual([['n', false]])
})
