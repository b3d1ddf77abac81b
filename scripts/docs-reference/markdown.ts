/** A Markdown table. Cells hold Markdown; a `|` in them is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A text as code. */
export function code(text: string): string {
  return `\`${text}\``
}

/** A page that `npm run docs:reference` writes: title, introduction, and sections. */
export function page(title: string, ...parts: readonly string[]): string {
  return [`<!-- Written by npm run docs:reference. -->`, `# ${title}`, ...parts].join('\n\n') + '\n'
}
