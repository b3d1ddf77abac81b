import { optionVariables, otherVariables } from '../../src/engine/config/environment.ts'
import type { OptionVariable } from '../../src/engine/config/environment.ts'
import type { OptionKind } from '../../src/engine/config/option-kinds.ts'
import { serviceVariables } from '../../server/src/variables.ts'
import { code, page, table } from './markdown.ts'
import { optionDocs } from './option-docs.ts'

/** The types of the groups of options. */
const TYPES: Readonly<Record<string, string>> = { budget: 'BudgetLimits', emit: 'EmitOptions' }

/** The variable that only the command line reads. */
const PAGE_TOKEN_ROW = [
  code('SPANSCORE_PAGE_TOKEN'),
  'a non-empty string',
  "The page's token for `spanscore mcp --page`, without `--token-file`.",
]

/** `docs/reference/environment.md`: every `SPANSCORE_*` variable. */
export function environmentPage(): string {
  return page(
    'Environment variables',
    'A blank variable is unset. A variable with a wrong value is reported and ignored, and so is one whose name is within two letters of a known one.',
    '## Variables of the package',
    table(
      ['variable', 'takes', 'meaning'],
      [...otherVariables.map(({ name, kind, doc }) => [code(name), takes(kind), doc]), PAGE_TOKEN_ROW],
    ),
    '## Variables that set options',
    '`spanscore/register` reads them, and they replace options of the configuration file. An application that attaches in its code sets the options there: a variable that has no effect is reported. Other options have no variable; the configuration file may read `process.env`.',
    table(
      ['variable', 'option', 'takes', 'meaning'],
      optionVariables.map((each) => [code(each.variable), code(pathOf(each)), takes(each.row.kind), meaningOf(each)]),
    ),
    '## Variables of the service',
    '`spanscore-server` uses the variables that set options, except `SPANSCORE_MEMORY_BYTES`, also after the configuration was read again. Options of the command line come first, then variables, then the file. A wrong value stops the start. A variable that is not used is named at the start, with the reason, and so are other `OTEL_*` and `SPANSCORE_*` variables; those that Kubernetes adds for a Service are not.',
    table(
      ['variable', 'used', 'meaning, or why not'],
      serviceVariables.map(({ name, isUsed, doc, takes: values }) => [
        code(name),
        isUsed ? 'yes' : 'no',
        `${doc}${values === undefined ? '' : ` Only ${values.map(code).join(' or ')}.`}`,
      ]),
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
