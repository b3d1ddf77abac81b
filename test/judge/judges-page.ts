import { readFileSync, writeFileSync } from 'node:fs'

const PAGE = 'docs/reference/judges.md'

/**
 * The text of docs/reference/judges.md between `<!-- measured: name -->` and `<!-- end -->`. `npm run measure` writes measured values there.
 */
export function onJudgesPage(name: string, measured: string): string {
  const page = readFileSync(PAGE, 'utf8')
  const begin = `<!-- measured: ${name} -->\n\n`
  const from = page.indexOf(begin) + begin.length
  const to = page.indexOf('\n\n<!-- end -->', from)
  if (from < begin.length || to < 0) throw new Error(`expected ${PAGE} to have a part "measured: ${name}"`)
  if (process.env.WRITE_DOCS === undefined) return page.slice(from, to)
  writeFileSync(PAGE, page.slice(0, from) + measured + page.slice(to))
  return measured
}

/** A Markdown table with cells of equal width, as the formatter writes it. */
export function measuredTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
