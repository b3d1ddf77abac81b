/** Writes the reference pages that are made from the code, and the code of the examples into pages: `npm run docs:reference`. */
import { readFileSync, writeFileSync } from 'node:fs'

import { pagesWithExamples, withExamples } from '../docs-examples.ts'
import { referencePages } from './pages.ts'

for (const [file, text] of referencePages()) writeFileSync(`docs/reference/${file}`, text)
for (const page of pagesWithExamples()) {
  const text = readFileSync(page, 'utf8')
  const written = withExamples(text)
  if (written !== text) writeFileSync(page, written)
}
