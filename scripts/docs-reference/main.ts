/** Writes the reference pages that are made from the code: `npm run docs:reference`. */
import { writeFileSync } from 'node:fs'

import { referencePages } from './pages.ts'

for (const [file, text] of referencePages()) writeFileSync(`docs/reference/${file}`, text)
