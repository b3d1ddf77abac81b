import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Scheduler } from './scheduler.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

function createScheduler() {
  const errors: unknown[] = []
  const done: string[] = []
  const scheduler = new Scheduler(
    () => Date.now(),
    (error) => errors.push(error),
  )
  const add = (name: string, waitMs: number) => scheduler.after(waitMs, () => void done.push(name))
  return { scheduler, errors, done, add }
}

test('deadlines are met in their order, with one timer for all of them', () => {
  const { add, done } = createScheduler()
  add('late', 300)
  add('early', 100)
  add('also early', 100)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(99)
  expect(done).toEqual([])
  vi.advanceTimersByTime(1)
  expect(done).toEqual(['early', 'also early'])
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(200)
  expect(done).toEqual(['early', 'also early', 'late'])
  expect(vi.getTimerCount()).toBe(0)
})

test('a cancelled deadline does not run, and one that is set while others run does', () => {
  const { scheduler, add, done } = createScheduler()
  const cancel = add('taken back', 100)
  scheduler.after(100, () => void add('next', 100))
  cancel()
  vi.advanceTimersByTime(100)
  expect(done).toEqual([])
  vi.advanceTimersByTime(100)
  expect(done).toEqual(['next'])
})

test('a source is swept when it is due, also if the due time has moved nearer', () => {
  const { scheduler } = createScheduler()
  const swept: number[] = []
  const source = {
    nextDeadlineMs: undefined as number | undefined,
    sweep: () => {
      swept.push(Date.now())
      source.nextDeadlineMs = undefined
    },
  }
  scheduler.watch(source)
  const startMs = Date.now()
  source.nextDeadlineMs = startMs + 500
  scheduler.changed(source)
  source.nextDeadlineMs = startMs + 200
  scheduler.changed(source)
  vi.advanceTimersByTime(1000)
  expect(swept).toEqual([startMs + 200])
})

test('a callback that throws does not prevent others', () => {
  const { scheduler, add, errors, done } = createScheduler()
  const error = new Error('broken')
  scheduler.after(100, () => {
    throw error
  })
  add('next', 100)
  vi.advanceTimersByTime(100)
  expect([done, errors]).toEqual([['next'], [error]])
})

test('a wait that exceeds the limit of timers still works, and nothing happens after the stop', () => {
  const { scheduler, add, done } = createScheduler()
  add('in two months', 60 * 86_400_000)
  vi.advanceTimersByTime(59 * 86_400_000)
  expect(done).toEqual([])
  vi.advanceTimersByTime(86_400_000)
  expect(done).toEqual(['in two months'])
  add('never', 100)
  scheduler.stop()
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['in two months'])
  expect(vi.getTimerCount()).toBe(0)
})

test('deadlines that take too long for one turn are met in several, and none is lost', () => {
  const { scheduler, done, add } = createScheduler()
  // Each takes 4 ms of the clock.
  for (const name of ['a', 'b', 'c', 'd']) {
    scheduler.after(100, () => {
      done.push(name)
      vi.setSystemTime(Date.now() + 4)
    })
  }
  add('other', 101)
  vi.advanceTimersToNextTimer()
  expect(done).toEqual(['a', 'b', 'c'])
  vi.advanceTimersToNextTimer()
  expect(done).toEqual(['a', 'b', 'c', 'd', 'other'])
  expect(vi.getTimerCount()).toBe(0)
})
