import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'

const folder = '.cache/docs'

/** Every `ts` block of README and docs, each a module of its own, by its page and line. */
const blocks = globSync(['README.md', 'docs/**/*.md', 'collector-config/README.md'], {
  // The blocks of this page are declarations from the source, and examples that `examples.test.ts` runs.
  exclude: ['docs/reference/api.md'],
}).flatMap((page) => {
  const text = readFileSync(page, 'utf8')
  return [...text.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    code: match[1]!,
  }))
})

describe('the documentation', () => {
  it('has code blocks that compile unchanged, against the built package', { timeout: 60_000 }, () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const { page, line, code } of blocks) {
      writeFileSync(`${folder}/${page.replaceAll('/', '-').replace(/\.md$/, '')}-${line}.ts`, `${code}\nexport {}\n`)
    }
    writeFileSync(
      `${folder}/tsconfig.json`,
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2024',
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          types: ['node'],
        },
        include: ['.'],
      }),
    )
    let errors = ''
    try {
      execFileSync('node_modules/.bin/tsc', ['-p', folder], { encoding: 'utf8' })
    } catch (error) {
      errors = (error as { stdout: string }).stdout
    }
    expect(errors).toBe('')
  })

  it('has JavaScript that parses, in the blocks that need packages which are not installed', () => {
    for (const page of globSync('docs/**/*.md')) {
      for (const [, code = ''] of readFileSync(page, 'utf8').matchAll(/^```js\n([\s\S]*?)^```/gm)) {
        expect(() => parseAst(code), `${page}: ${code.slice(0, 60)}`).not.toThrow()
      }
    }
  })

  it('installs the API of OpenTelemetry beside its SDK, since another package may ask for an older one', () => {
    const commands = globSync(['README.md', 'docs/**/*.md']).flatMap(
      (page) => readFileSync(page, 'utf8').match(/^npm install .*@opentelemetry\/sdk-.*$/gm) ?? [],
    )
    expect(commands.length).toBeGreaterThan(5)
    expect(commands.filter((command) => !command.includes(' @opentelemetry/api '))).toEqual([])
  })

  it('links only to files that exist', () => {
    const pages = globSync(['*.md', 'llms.txt', 'docs/**/*.md', 'collector-config/**/*.md', 'examples/**/*.md'])
    const broken = linksOf(pages).filter(({ target }) => !existsSync(target))
    expect(broken).toEqual([])
  })

  it('links only to headings that exist', () => {
    const pages = globSync(['*.md', 'docs/**/*.md', 'collector-config/**/*.md', 'examples/README.md'])
    const headings = new Map(pages.map((page) => [page, headingsOf(page)]))
    const broken = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)/g)]
        .filter(([, file = '', heading = '']) => {
          const found = headings.get(file === '' ? page : join(dirname(page), file))
          return found !== undefined && !found.has(heading)
        })
        .map(([link]) => `${page}: ${link}`),
    )
    expect(broken).toEqual([])
  })
})

/** The links of pages to files, with the path of each from the root. */
function linksOf(pages: readonly string[]): readonly { readonly page: string; readonly target: string }[] {
  return pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, link = '']) => ({
      page,
      target: join(dirname(page), link),
    })),
  )
}

/** The headings of a page as GitHub names them in links. */
function headingsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  const names = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set(names)
}
