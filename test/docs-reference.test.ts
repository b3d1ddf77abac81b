import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import { referencePages } from '../scripts/docs-reference/pages.ts'

test.each([...referencePages()])('docs/reference/%s is what npm run docs:reference writes', (file, text) => {
  expect(readFileSync(`docs/reference/${file}`, 'utf8')).toBe(text)
})
