import { expect, it } from 'vitest'

import { describeError } from './format-value.ts'

it('describes an error by its class and the place where it was thrown', () => {
  expect(describeError(new TypeError('what a user said'))).toMatch(/^TypeError at .*format-value\.test\.ts:\d+:\d+/)
})

it('shows no stack that has something else in place of functions and files', () => {
  for (const frame of [
    'at what a user said',
    '    at what (a user said)',
    'what a user said:1:2',
    'at x (a:1:2) said',
  ]) {
    const error = Object.assign(new Error('x'), { stack: `Error: x\n    ${frame}\n` })
    expect(describeError(error)).toBe('Error')
  }
})
