// oxlint-disable unicorn/no-thenable -- thenables that misbehave are what is tested here
import { expect, it } from 'vitest'

import { adopted, isThenable } from './thenable.ts'

it('follows a promise to the value at its end, and settles once', async () => {
  const value = { then: (resolve: (value: number) => void) => resolve(7) }
  const promise = {
    then(resolve: (value: unknown) => void) {
      resolve(value)
      resolve(8)
      throw new Error('after it was settled')
    },
  }
  expect(await adopted(promise as PromiseLike<unknown>)).toBe(7)
})

/** A function that is a promise, and resolves to itself. */
function endlessFunction(): PromiseLike<unknown> {
  const endless = Object.assign(() => undefined, { then: (resolve: (value: unknown) => void) => resolve(endless) })
  return endless as unknown as PromiseLike<unknown>
}

it('takes a function with a then for the promise that JavaScript takes it for', async () => {
  const seven: unknown = Object.assign(() => undefined, { then: (resolve: (value: number) => void) => resolve(7) })
  expect(isThenable(seven)).toBe(true)
  expect(await adopted(seven as PromiseLike<unknown>)).toBe(7)
  expect(isThenable(() => undefined)).toBe(false)
})

it.each([
  ['itself', endlessFunction()],
  ['by a promise of it', { then: (resolve: (value: unknown) => void) => resolve(endlessFunction()) }],
])('rejects a function that resolves to itself, given %s', async (_, endless) => {
  await expect(adopted(endless as PromiseLike<unknown>)).rejects.toThrow('expected a promise of a value')
})

it('rejects a promise that resolves to itself, which JavaScript would follow forever', async () => {
  const endless = { then: (resolve: (value: unknown) => void) => resolve(endless) }
  await expect(adopted(endless as PromiseLike<unknown>)).rejects.toThrow('expected a promise of a value')
})
