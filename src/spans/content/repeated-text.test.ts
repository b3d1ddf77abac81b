import { expect, test } from 'vitest'

import { onceForText } from './repeated-text.ts'

function counted(): { readonly read: (written: unknown) => unknown; readonly reads: unknown[] } {
  const reads: unknown[] = []
  const read = onceForText((written) => {
    reads.push(written)
    return { written }
  })
  return { read, reads }
}

test('a text that repeats is read once, and all get the same value', () => {
  const { read, reads } = counted()
  expect(read('You help.')).toBe(read(['You ', 'help.'].join('')))
  expect(reads).toEqual(['You help.'])
})

test('values that are no text, and texts that are long, are read each time', () => {
  const { read, reads } = counted()
  const list = ['a']
  for (const written of [list, list, 'x'.repeat(70_000), 'x'.repeat(70_000)]) read(written)
  expect(reads).toHaveLength(4)
})

test('it keeps the latest texts only', () => {
  const { read, reads } = counted()
  read('first')
  for (let index = 0; index < 20; index++) read(`text ${index}`)
  read('first')
  expect(reads.filter((written) => written === 'first')).toHaveLength(2)
})
