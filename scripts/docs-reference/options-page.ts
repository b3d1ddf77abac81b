import {
  alertTable,
  budgetTable,
  emitTable,
  optionTable,
  scorerEntryTable,
} from '../../src/engine/config/option-table.ts'
import { judgeSettingTable } from '../../src/judge/settings.ts'
import type { OptionRow } from '../../src/engine/config/option-table.ts'
import { code, page, table } from './markdown.ts'

/** `docs/reference/options.md`: every option with its default, its values, and its environment variable. */
export function optionsPage(): string {
  return page(
    'Options',
    '`attachScoring`, `ScoringSpanProcessor` and the configuration file take the same options. A wrong option throws `<path>: expected …, got …`; `spanscore/register` reports it, and the application runs unscored. `spanscore/register` also reads the environment variables, which replace options of the configuration file.',
    optionsTable(optionTable),
    '## `scorers[]`',
    'Each entry of `scorers` is a scorer, or an object with these properties.',
    optionsTable(scorerEntryTable),
    '## `scorers[].alerts`',
    '[Alerts](../alerts.md) shows how to set them up.',
    optionsTable(alertTable),
    '## `budget`',
    optionsTable(budgetTable),
    '## `emit`',
    optionsTable(emitTable),
    '## `judge`',
    'Every scorer that asks a judge takes these settings: `createFaithfulnessScorer({ model, judge: { maxPromptBytes: 16_384 } })`. Each scorer also has [options of its own](scorers.md).',
    table(
      ['setting', 'default', 'takes', 'meaning'],
      Object.entries(judgeSettingTable).map(([name, { defaultValue, expected, doc }]) => [
        code(name),
        defaultValue === undefined ? 'none' : valueCode(defaultValue),
        expected,
        doc,
      ]),
    ),
  )
}

function optionsTable(rows: Readonly<Record<string, OptionRow>>): string {
  return table(
    ['option', 'default', 'takes', 'meaning', 'environment variable'],
    Object.entries(rows).map(([name, row]) => [
      code(name),
      describeDefault(row),
      row.kind.expected,
      row.doc,
      row.variable === undefined ? '' : code(row.variable),
    ]),
  )
}

/** The default in readable form. */
export function describeDefault({ defaultDoc, default: value }: OptionRow): string {
  return defaultDoc ?? valueCode(value)
}

function valueCode(value: unknown): string {
  return code(typeof value === 'string' ? `'${value}'` : String(value))
}
