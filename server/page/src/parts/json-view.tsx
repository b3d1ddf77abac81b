import type { ComponentChildren } from 'preact'

interface JsonViewProps {
  readonly value: unknown
  /** Paths that are wrong: `city`, `stops[2].name`. */
  readonly wrong?: ReadonlyMap<string, string>
  /** Texts in it to mark. */
  readonly quotes?: readonly string[]
}

/** A value as JSON on several lines, with wrong parts marked. Nothing in it becomes markup. */
export function JsonView({ value, wrong, quotes = [] }: JsonViewProps) {
  if (typeof value === 'string') return <pre class="json">{withMarks(value, quotes)}</pre>
  const inJson = quotes.map((quote) => JSON.stringify(quote).slice(1, -1))
  const lines: Line[] = []
  write(value, '', '', '', '', lines, 0)
  return (
    <pre class="json">
      {lines.map(({ text, path }, index) => {
        const why = wrong?.get(path)
        return why === undefined ? (
          <span key={index}>
            {withMarks(text, inJson)}
            {'\n'}
          </span>
        ) : (
          <span key={index}>
            {indentOf(text)}
            <mark class="evidence bad" title={why}>
              {text.trimStart()} <span class="why">✗ {why}</span>
            </mark>
            {'\n'}
          </span>
        )
      })}
    </pre>
  )
}

/** A text with these quotes marked in it. */
function withMarks(text: string, quotes: readonly string[]): ComponentChildren {
  const quote = quotes.find((each) => each !== '' && text.includes(each))
  if (quote === undefined) return text
  const at = text.indexOf(quote)
  return (
    <>
      {text.slice(0, at)}
      <mark class="evidence open">{quote}</mark>
      {withMarks(text.slice(at + quote.length), quotes)}
    </>
  )
}

function indentOf(text: string): string {
  return text.slice(0, text.length - text.trimStart().length)
}

interface Line {
  readonly text: string
  readonly path: string
}

function write(
  value: unknown,
  path: string,
  name: string,
  indent: string,
  end: string,
  lines: Line[],
  depth: number,
): void {
  if (lines.length > 400) return
  const entries = Array.isArray(value)
    ? value.map((item: unknown, index): [string, string, unknown] => [`${path}[${index}]`, '', item])
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, item]: [string, unknown]): [string, string, unknown] => [
          path === '' ? key : `${path}.${key}`,
          `${JSON.stringify(key)}: `,
          item,
        ])
      : undefined
  const flat = `${name}${JSON.stringify(value) ?? 'undefined'}`
  if (entries === undefined || depth > 8 || entries.length === 0) {
    lines.push({ text: `${indent}${flat}${end}`, path })
    return
  }
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  lines.push({ text: `${indent}${name}${open}`, path: `${path}#` })
  for (const [index, [childPath, childName, child]] of entries.entries()) {
    write(child, childPath, childName, `${indent}  `, index < entries.length - 1 ? ',' : '', lines, depth + 1)
  }
  lines.push({ text: `${indent}${close}${end}`, path: `${path}#` })
  if (lines.length > 400 && depth === 0) lines.push({ text: '… the rest is in the run as JSON', path: '#' })
}
