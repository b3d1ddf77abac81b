import { optionVariables, otherVariables } from '../../src/engine/config/environment.ts'
import type { OptionVariable } from '../../src/engine/config/environment.ts'
import type { OptionKind } from '../../src/engine/config/option-kinds.ts'
import { code, page, table } from './markdown.ts'
import { optionDocs } from './option-docs.ts'

/** The types of the groups of options. */
const TYPES: Readonly<Record<string, string>> = { budget: 'BudgetLimits', emit: 'EmitOptions' }

/** `docs/reference/environment.md`: every `SPANSCORE_*` variable. */
export function environmentPage(): string {
  return page(
    'Environment variables',
    'A blank variable is unset. A variable with a wrong value is reported and ignored, and so is one whose name is within two letters of a known one.',
    '## Variables of the package',
    table(
      ['variable', 'takes', 'meaning'],
      otherVariables.map(({ name, kind, doc }) => [code(name), takes(kind), doc]),
    ),
    '## Variables that set options',
    '`spanscore/register` reads them, and they replace options of the configuration file. An application that attaches in its code sets the options there: a variable that has no effect is reported. Other options have no variable; the configuration file may read `process.env`.',
    table(
      ['variable', 'option', 'takes', 'meaning'],
      optionVariables.map((each) => [code(each.variable), code(pathOf(each)), takes(each.row.kind), meaningOf(each)]),
    ),
  )
}

function pathOf({ group, name }: OptionVariable): string {
  return group === undefined ? name : `${group}.${name}`
}

function meaningOf({ group, name }: OptionVariable): string {
  const type = group === undefined ? 'ScoringOptions' : (TYPES[group] ?? group)
  return optionDocs('main', type)(name).meaning
}

function takes({ text, expected }: OptionKind): string {
  return text?.expected ?? expected
}
