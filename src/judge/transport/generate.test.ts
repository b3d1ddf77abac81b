import { expect, it } from 'vitest'

import { createTextModel } from '../../testing/text-model.ts'
import { generate } from './generate.ts'

async function usageOf(inputTokens: number, outputTokens: number) {
  const model = createTextModel({ provider: 'test', modelId: 'm' }, () => ({
    text: 'Yes.',
    usage: { inputTokens, outputTokens },
  }))
  const { signal } = new AbortController()
  const request = { instructions: 'Be brief.', user: 'x'.repeat(10_000), maxOutputTokens: 1000, signal }
  const generated = await generate(model, request)
  return generated.usage
}

it('uses the token counts of the server', async () => {
  expect(await usageOf(2600, 900)).toEqual({ inputTokens: 2600, outputTokens: 900 })
  // Servers add to what is sent, and some models think longer than they may.
  expect(await usageOf(12_000, 4500)).toEqual({ inputTokens: 12_000, outputTokens: 4500 })
})

it('ignores counts that are impossible for a call of this size, which would use up the budget of a day', async () => {
  expect(await usageOf(9_999_999, 900)).toEqual({ outputTokens: 900 })
  expect(await usageOf(2600, 9_999_999)).toEqual({ inputTokens: 2600 })
  expect(await usageOf(-1, Number.NaN)).toEqual({})
})
