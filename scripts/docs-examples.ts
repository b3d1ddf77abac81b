/** Copies the code of the examples into the pages that show it: `npm run docs:reference`. */
import { globSync, readFileSync } from 'node:fs'

/** The page, with the current code in every block that names an example. */
export function withExamples(page: string): string {
  return page.replaceAll(
    /^<!-- (examples\/[^\s#]+)(?:#(\S+))? -->\n\n```(\w+)\n[\s\S]*?^```$/gm,
    (_, file: string, region: string | undefined, language: string) =>
      [`<!-- ${region === undefined ? file : `${file}#${region}`} -->`, '', `\`\`\`${language}`].join('\n') +
      `\n${codeOf(file, region)}\`\`\``,
  )
}

/** The pages that may show examples. */
export function pagesWithExamples(): string[] {
  return ['README.md', ...globSync('docs/**/*.md')]
}

/** A file, or the lines between `// region <name>` and `// endregion`. Marks of other regions are left out. */
function codeOf(file: string, region: string | undefined): string {
  const text = readFileSync(file, 'utf8')
  const start = `// region ${region}\n`
  if (region !== undefined && !text.includes(start)) throw new Error(`expected ${file} to have a region ${region}`)
  const from = region === undefined ? 0 : text.indexOf(start) + start.length
  const code = text.slice(from, region === undefined ? undefined : text.indexOf('// endregion', from))
  return code.replaceAll(/^\/\/ (?:end)?region.*\n/gm, '')
}
