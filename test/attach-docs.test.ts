import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const page = readFileSync('docs/attach.md', 'utf8')

/** Blocks of the page that name the marked region of an example, such as `<!-- examples/mastra/main.mjs#bridge -->`. */
const blocks = [...page.matchAll(/^<!-- (examples\/\S+)#(\S+) -->\n\n```js\n([\s\S]*?)^```$/gm)].map(
  ([, file = '', region = '', code = '']) => ({ file, region, code }),
)

describe('docs/attach.md', () => {
  it('has blocks that come from examples', () => {
    expect(blocks.length).toBeGreaterThan(0)
  })

  it.each(blocks)('shows $region of $file as it is run', ({ file, region, code }) => {
    const text = readFileSync(file, 'utf8')
    const start = `// region ${region}\n`
    const from = text.indexOf(start)
    expect(from).toBeGreaterThanOrEqual(0)
    expect(code).toBe(text.slice(from + start.length, text.indexOf('// endregion', from)))
  })
})
