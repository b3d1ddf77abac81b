import type { OptionRow } from '../../src/engine/config/option-table.ts'
import { declarationsOf } from './declarations.ts'
import { code } from './markdown.ts'
import { oneLine } from './tsdoc.ts'

/** What the TSDoc of an option says. */
export interface OptionDoc {
  readonly meaning: string
  /** As Markdown. */
  readonly byDefault: string
}

/** The properties of an interface of options, by their names. @param entry an entry that exports the interface */
export function optionDocs(entry: 'main' | 'scorers', name: string): (option: string) => OptionDoc {
  const declaration = declarationsOf(`src/entries/${entry}.ts`).find((each) => each.name === name)
  const docs = new Map(
    declaration?.properties?.map(({ name: option, isOptional, comment }) => [
      option,
      {
        meaning: oneLine(comment.summary),
        byDefault: toMarkdown(comment.default ?? (isOptional ? 'none' : 'required')),
      },
    ]),
  )
  return (option) => {
    const doc = docs.get(option)
    if (doc === undefined) throw new Error(`expected ${name}.${option} to have a TSDoc comment`)
    return doc
  }
}

/** Values are code, and sentences are not. */
function toMarkdown(byDefault: string): string {
  return /^(?:'.*'|[\d.]+|Infinity|true|false)$/.test(byDefault) ? code(byDefault) : byDefault
}

/** @throws Error if the TSDoc has another default than the program */
export function checkDefault(option: string, { byDefault }: OptionDoc, value: OptionRow['default']): void {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return
  const text = typeof value === 'string' ? `'${value}'` : String(value)
  if (byDefault === code(text) || byDefault.startsWith(`${text} `)) return
  throw new Error(`expected the TSDoc of ${option} to have the default ${text}, got ${byDefault}`)
}
