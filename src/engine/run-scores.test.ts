import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { AgentRun } from '../model/agent-run.ts'
import { SamplePoint } from '../sampling/sample-point.ts'
import { defineScorer } from '../scoring/define-scorer.ts'
import { skipped } from '../scoring/unscored.ts'
import { toRunInput } from '../scoring/given/run-input.ts'
import { resolveOptions } from './config/options.ts'
import { RunScores, Task } from './run-scores.ts'
import { toScorable } from './scorable-run.ts'
import type { TaskState } from './run-scores.ts'

const states: readonly TaskState[] = ['waiting', 'queued', 'admitted', 'scoring', 'provisional', 'done']
const scorer = resolveOptions({
  scorers: [
    defineScorer({ id: 'a', description: 'Test.', kind: 'code', assess: () => ({ status: 'scored', value: 1 }) }),
  ],
}).scorers.at(0)!

const createRun = (): AgentRun => toRunInput({ input: 'How are you?', output: 'Well.' }).run

function ignore(): void {}

function createScored() {
  const runs: { current: AgentRun } = { current: createRun() }
  const spanContext = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }
  const scored = new RunScores({
    run: toScorable(runs.current, false, true),
    target: { spanContext, isHeld: false, claim: () => true, write: ignore, allIn: ignore },
    point: new SamplePoint(spanContext.traceId),
    upstream: undefined,
  })
  const conclude = (task: Task): void => {
    const run = runs.current
    const evaluation = scored.unasked(task.scorer.about, skipped('not-applicable', 'Test.'), run, undefined)
    task.conclude(evaluation, run, () => runs.current)
  }
  return { scored, runs, conclude }
}

test('a task goes from waiting to done exactly once under any transitions, and is awaited until it ends', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states), { maxLength: 30 }), (steps) => {
      const { scored } = createScored()
      const task = Task.waiting(scored, scorer)
      let isOver = false
      for (const step of steps) {
        const before = task.state
        const moved = task.advance(step)
        expect(task.state).toBe(moved ? step : before)
        expect(isOver && moved).toBe(false)
        isOver = task.state === 'done'
        expect(scored.isAwaited).toBe(task.state !== 'done' && task.state !== 'provisional')
      }
    }),
  )
})

test('a scorer is asked once about a settled run', () => {
  const { scored, conclude } = createScored()
  const task = Task.waiting(scored, scorer)
  scored.isSettled = true
  for (const state of ['queued', 'admitted', 'scoring'] as const) expect(task.advance(state)).toBe(true)
  conclude(task)
  expect(task.state).toBe('done')
})

test('a score that was requested too early is provisional, and outdated once the run has changed', () => {
  const { scored, runs, conclude } = createScored()
  const task = Task.waiting(scored, scorer)
  for (const state of ['queued', 'admitted', 'scoring'] as const) task.advance(state)
  conclude(task)
  expect([task.state, scored.isAwaited]).toEqual(['provisional', false])
  expect(task.isOutdated(runs.current)).toBe(false)
  runs.current = createRun()
  expect(task.isOutdated(runs.current)).toBe(true)
})

test.each([
  ['changed by then', true, 'queued'],
  ['not changed by then', false, 'done'],
] as const)('a scorer still at work when its run is settled is asked again if the run has %s', (_, changes, state) => {
  const { scored, runs, conclude } = createScored()
  const task = Task.waiting(scored, scorer)
  for (const each of ['queued', 'admitted', 'scoring'] as const) task.advance(each)
  scored.isSettled = true
  const evaluated = runs.current
  if (changes) runs.current = createRun()
  const evaluation = scored.unasked(task.scorer.about, skipped('not-applicable', 'Test.'), evaluated, undefined)
  task.conclude(evaluation, evaluated, () => runs.current)
  expect([task.state, scored.isAwaited]).toEqual([state, state === 'queued'])
  for (const each of ['admitted', 'scoring'] as const) task.advance(each)
  conclude(task)
  expect(task.state).toBe('done')
})

test('a queued score is computed from the settled run', () => {
  const { scored, runs, conclude } = createScored()
  const task = Task.waiting(scored, scorer)
  task.advance('queued')
  scored.isSettled = true
  runs.current = createRun()
  for (const state of ['admitted', 'scoring'] as const) task.advance(state)
  conclude(task)
  expect(task.state).toBe('done')
})
