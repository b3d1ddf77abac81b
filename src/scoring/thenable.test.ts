// oxlint-disable unicorn/no-thenable -- thenables that misbehave are what is tested here
import { expect, it } from 'vitest'

import { adopted } from './thenable.ts'

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

it('rejects a promise that resolves to itself, which JavaScript would follow forever', async () => {
  const endless = { then: (resolve: (value: unknown) => void) => resolve(endless) }
  await expect(adopted(endless as PromiseLike<unknown>)).rejects.toThrow('expected a promise of a value')
})
