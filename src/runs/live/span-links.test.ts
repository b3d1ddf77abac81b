import { expect, test } from 'vitest'

import type { LocalSpan } from './local-span.ts'
import { SpanLinks } from './span-links.ts'

/** What connecting reads of a record. */
function record(above?: LocalSpan): LocalSpan {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part of a record that is read here
  return { above, isOver: false, isAmbiguous: false } as unknown as LocalSpan
}

test('A span is not connected with what is below it, or with itself: climbing from it would never end', () => {
  const links = new SpanLinks()
  const top = record()
  const below = record(record(top))
  links.connect(top, record(below))
  expect(top.above).toBeUndefined()
  links.connect(top, record(top))
  expect(top.above).toBeUndefined()
  const agent = record()
  links.connect(top, record(agent))
  expect(top.above).toBe(agent)
})
