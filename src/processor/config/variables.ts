import { flag, oneOf, text } from './option-kinds.ts'
import type { OptionKind } from './option-kinds.ts'

/** A `SPANSCORE_*` variable that sets no option. */
export interface OtherVariable {
  readonly name: string
  readonly kind: OptionKind
  readonly doc: string
}

/** The variables beside those that the options have. */
export const otherVariables: readonly OtherVariable[] = [
  {
    name: 'SPANSCORE_DISABLED',
    kind: flag,
    doc: '`true` keeps `spanscore/register` from doing anything.',
  },
  {
    name: 'SPANSCORE_CONFIG',
    kind: text,
    doc: 'The path of the configuration file that `spanscore/register` reads, absolute or from the working directory.',
  },
  {
    name: 'SPANSCORE_LOG',
    kind: oneOf('off', 'warn', 'info'),
    doc: 'Which notices about the set-up are written as warnings of the process, where no `diag` logger is set. The default is `warn`.',
  },
  {
    name: 'SPANSCORE_OPENAI_API_KEY',
    kind: text,
    doc: 'The API key of judges at OpenAI. It goes before `OPENAI_API_KEY`.',
  },
  {
    name: 'SPANSCORE_OPENAI_BASE_URL',
    kind: text,
    doc: 'The base URL of judges whose model id begins with `openai/`. It goes before `OPENAI_BASE_URL`.',
  },
]

/** The variable that sets an option, by its path: `budget.usdPerDay` is `SPANSCORE_BUDGET_USD_PER_DAY`. */
export function variableOf(path: string): string {
  return `SPANSCORE_${path
    .replaceAll('.', '_')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}`
}
