import { optionTable } from '../../src/engine/config/option-table.ts'
import { otherVariables, variableOf } from '../../src/engine/config/environment.ts'
import type { OptionRow } from '../../src/engine/config/option-table.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/environment.md`: every `SPANSCORE_*` variable. */
export function environmentPage(): string {
  return page(
    'Environment variables',
    'A blank variable is unset. A variable with a wrong value is reported and ignored, and so is one whose name is within two letters of a known one.',
    '## Variables of the package',
    table(
      ['variable', 'takes', 'meaning'],
      otherVariables.map(({ name, kind, doc }) => [code(name), kind.text?.expected ?? kind.expected, doc]),
    ),
    '## Variables that set options',
    '`spanscore/register` reads them, and they replace options of the configuration file. An application that attaches in its code sets the options there: a variable that has no effect is reported.',
    table(['variable', 'option', 'takes', 'meaning'], rowsOf(optionTable, '')),
  )
}

function rowsOf(rows: Readonly<Record<string, OptionRow>>, prefix: string): string[][] {
  return Object.entries(rows).flatMap(([name, row]) => {
    const path = `${prefix}${name}`
    if (row.rows !== undefined) return rowsOf(row.rows, `${path}.`)
    const { text, expected } = row.kind
    return text === undefined ? [] : [[code(variableOf(path)), code(path), text.expected ?? expected, row.doc]]
  })
}
