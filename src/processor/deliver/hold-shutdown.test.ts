import { expect, test } from 'vitest'

import { holdShutdown } from './hold-shutdown.ts'

class Loggers {
  readonly calls: unknown[] = []
  shutdown(...args: unknown[]): Promise<void> {
    this.calls.push(...args)
    return Promise.resolve()
  }
}

test('a shutdown waits for all that hold it, and is called once with what it was given', async () => {
  const loggers = new Loggers()
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  holdShutdown(loggers, one.promise)
  holdShutdown(loggers, other.promise)
  const over = loggers.shutdown('now')
  one.resolve()
  await one.promise
  await new Promise(setImmediate)
  expect(loggers.calls).toEqual([])
  other.resolve()
  await over
  expect(loggers.calls).toEqual(['now'])
  expect(Object.hasOwn(loggers, 'shutdown')).toBe(false)
})

test('an own shutdown of the object is restored, and a later replacement is left alone', async () => {
  const [own, replacement] = [() => Promise.resolve('own'), () => Promise.resolve('replacement')]
  const loggers = { shutdown: own }
  holdShutdown(loggers, Promise.resolve())
  await expect(loggers.shutdown()).resolves.toBe('own')
  expect(loggers.shutdown).toBe(own)
  holdShutdown(loggers, Promise.resolve())
  loggers.shutdown = replacement
  await new Promise(setImmediate)
  expect(loggers.shutdown).toBe(replacement)
})

test.each([
  ['a frozen object', Object.freeze({ shutdown: () => 'at once' })],
  ['an object without shutdown', {}],
  [
    'a getter that throws',
    {
      get shutdown() {
        throw new Error('no')
      },
    },
  ],
])('%s is left as it is', (_what, target) => {
  const before = Object.getOwnPropertyDescriptors(target)
  expect(() => holdShutdown(target, new Promise(() => {}))).not.toThrow()
  expect(Object.getOwnPropertyDescriptors(target)).toEqual(before)
})
