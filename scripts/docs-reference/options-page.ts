import {
  alertTable,
  budgetTable,
  emitTable,
  optionTable,
  scorerEntryTable,
  serviceAlertTable,
} from '../../src/engine/config/option-table.ts'
import type { OptionRow } from '../../src/engine/config/option-table.ts'
import { judgeSettingTable } from '../../src/judge/settings.ts'
import { code, page, table } from './markdown.ts'
import { checkDefault, optionDocs } from './option-docs.ts'

/** `docs/reference/options.md`: every option with its default, its values, and its environment variable. */
export function optionsPage(): string {
  return page(
    'Options',
    '`attachScoring`, `ScoringSpanProcessor` and the configuration file take the same options. A wrong option throws `<path>: expected …, got …`; `spanscore/register` reports it, and the application runs unscored. `spanscore/register` also reads the environment variables, which replace options of the configuration file.',
    optionsTable('ScoringOptions', optionTable),
    '## `scorers[]`',
    'Each entry of `scorers` is a scorer, or an object with these properties.',
    optionsTable('ScorerEntry', scorerEntryTable),
    '## `scorers[].alerts`',
    '[Alerts](../alerts.md) shows how to set them up.',
    optionsTable('ScorerAlerts', alertTable),
    '## `alerts`',
    'Of the whole service.',
    optionsTable('ServiceAlerts', serviceAlertTable),
    '## `budget`',
    optionsTable('BudgetLimits', budgetTable),
    '## `emit`',
    optionsTable('EmitOptions', emitTable),
    '## `judge`',
    'Every scorer that asks a judge takes these settings: `createFaithfulnessScorer({ model, judge: { maxPromptTokens: 4000 } })`. Each scorer also has [options of its own](scorers.md).',
    settingsTable(),
  )
}

function optionsTable(type: string, rows: Readonly<Record<string, OptionRow>>): string {
  const docOf = optionDocs('main', type)
  return table(
    ['option', 'default', 'takes', 'meaning', 'environment variable'],
    Object.entries(rows).map(([name, { kind, variable, default: byDefault }]) => {
      const doc = docOf(name)
      checkDefault(name, doc, byDefault)
      return [code(name), doc.byDefault, kind.expected, doc.meaning, variable === undefined ? '' : code(variable)]
    }),
  )
}

function settingsTable(): string {
  const docOf = optionDocs('scorers', 'JudgeSettings')
  return table(
    ['setting', 'default', 'takes', 'meaning'],
    Object.entries(judgeSettingTable).map(([name, { defaultValue, expected }]) => {
      const doc = docOf(name)
      checkDefault(name, doc, defaultValue)
      return [code(name), doc.byDefault, expected, doc.meaning]
    }),
  )
}
