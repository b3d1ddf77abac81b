/** A TSDoc comment in its parts, each of them Markdown. */
export interface Comment {
  readonly summary: string
  readonly parameters: readonly string[]
  readonly returns?: string
  readonly throws: readonly string[]
  readonly default?: string
  /** With its fence. */
  readonly example?: string
  readonly isExperimental: boolean
}

/** Parses a comment with its slashes and stars. */
export function parseComment(text: string): Comment {
  const body = text
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .replaceAll(/\{@link ([^}]+)\}/g, '`$1`')
  const [summary = '', ...tags] = body.split(/(?:^|\s)(?=@(?:param|returns|throws|default|example|experimental)\b)/)
  const of = (tag: string) => tags.filter((each) => each.startsWith(tag)).map((each) => each.slice(tag.length).trim())
  const [returns] = of('@returns')
  const [given] = of('@default')
  const [example] = of('@example')
  return {
    summary: summary.trim(),
    parameters: of('@param'),
    ...(returns !== undefined && { returns: oneLine(returns) }),
    throws: of('@throws').map(oneLine),
    ...(given !== undefined && { default: oneLine(given) }),
    ...(example !== undefined && { example: fenced(example) }),
    isExperimental: of('@experimental').length > 0,
  }
}

/** A text on one line, as a cell of a table holds it. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function fenced(example: string): string {
  return example.startsWith('```') ? example : `\`\`\`ts\n${example}\n\`\`\``
}
