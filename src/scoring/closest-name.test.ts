import { expect, test } from 'vitest'

import { closestName } from './closest-name.ts'

test.each([
  ['sampel', ['scope', 'sample', 'sampleSalt'], 'sample'],
  ['wether-agent', ['weather-agent', 'billing'], 'weather-agent'],
  ['SCORERS', ['scorers'], 'scorers'],
  ['scorer', ['scorers', 'score'], 'scorers'],
  ['on', ['id'], undefined],
  ['temperature', ['sample', 'scope'], undefined],
  ['', ['a'], undefined],
])('%j among %j was probably meant to be %j', (name, known, expected) => {
  expect(closestName(name, known)).toBe(expected)
})
