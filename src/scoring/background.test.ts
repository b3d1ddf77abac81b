import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { Background, eachInSteps, withoutPause } from './background.ts'
import type { WorkSteps } from './background.ts'

/** A background whose clock stands still but for steps, which take a millisecond each. */
function createBackground() {
  let nowMs = 0
  const done: string[] = []
  const background = new Background(() => nowMs)
  function* work(name: string, steps: number): WorkSteps<string> {
    for (let step = 1; step <= steps; step += 1) {
      nowMs += 1
      done.push(`${name}${step}`)
      if (step < steps) yield
    }
    return name
  }
  return { background, done, work }
}

it('does work in its order, five milliseconds in a turn', async () => {
  const { background, done, work } = createBackground()
  const all = Promise.all([background.run(work('a', 7)), background.run(work('b', 2))])
  expect(done).toEqual([])
  await nextTurn()
  expect(done).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  await nextTurn()
  expect(done.slice(5)).toEqual(['a6', 'a7', 'b1', 'b2'])
  expect(await all).toEqual(['a', 'b'])
})

it('does as much as there is time for now, urgent work first', async () => {
  const { background, done, work } = createBackground()
  const results = [background.run(work('a', 3)), background.run(work('b', 3), true)]
  background.work(4)
  expect(done).toEqual(['b1', 'b2', 'b3', 'a1'])
  expect(await Promise.all(results)).toEqual(['a', 'b'])
})

it('goes on after a step that throws, and rejects', async () => {
  const { background, done, work } = createBackground()
  const failing = background.run(
    eachInSteps([1], () => {
      throw new Error('no')
    }),
  )
  const next = background.run(work('a', 1))
  await expect(failing).rejects.toThrow('no')
  await next
  expect(done).toEqual(['a1'])
})

it('does other work in the middle of a step that asks for it, and each step once', async () => {
  const { background, done, work } = createBackground()
  await background.run(
    (function* shutsDown(): WorkSteps {
      void background.run(work('b', 2))
      background.work(10)
      done.push('a1')
      yield
      done.push('a2')
    })(),
  )
  expect(done).toEqual(['b1', 'b2', 'a1', 'a2'])
})

it('knows when all earlier work is done', async () => {
  const { background, done, work } = createBackground()
  await background.done()
  void background.run(work('a', 12))
  await background.done()
  expect(done).toHaveLength(12)
})

it('does all steps at once if nothing is to be spared', () => {
  expect(withoutPause(createBackground().work('a', 100))).toBe('a')
})
