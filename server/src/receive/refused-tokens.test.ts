import { expect, it } from 'vitest'

import { RefusedTokens } from './refused-tokens.ts'

it('says the first refusal of an address at once, and counts the others each minute', () => {
  const lines: string[] = []
  const refused = new RefusedTokens('The page', (line) => lines.push(line))
  for (let index = 0; index < 200; index++) refused.add('10.0.0.1')
  refused.add('10.0.0.2')
  expect(lines).toEqual([
    'The page: a request of 10.0.0.1 was refused, because it had no token or a wrong one.',
    'The page: a request of 10.0.0.2 was refused, because it had no token or a wrong one.',
  ])
  refused.count()
  expect(lines.slice(2)).toEqual(['The page: 199 more requests of 10.0.0.1 were refused in a minute.'])
  refused.count()
  refused.count()
  refused.add('10.0.0.1')
  expect(lines).toHaveLength(4)
  refused.stop()
})

it('counts the refusals of very many addresses together', () => {
  const lines: string[] = []
  const refused = new RefusedTokens('The page', (line) => lines.push(line))
  for (let index = 0; index < 5000; index++) refused.add(`10.0.${index >> 8}.${index & 255}`)
  expect(lines).toHaveLength(1001)
  refused.stop()
})
