import { isRecord } from '../spans/json.ts'
import type { JudgeSettings } from './settings.ts'

/** One setting of a judge. Validation, defaults and the reference page are derived from this table. */
export interface JudgeSettingRow<Value = unknown> {
  /** Completes the sentence "expected … to be …". */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  /** Returns the default, depending on `hardening`. */
  readonly defaultIn?: (hardening: unknown) => Value
  /** One or two sentences. */
  readonly doc: string
}

/** All settings of a judge. */
export const judgeSettingTable: { readonly [Name in keyof JudgeSettings]-?: JudgeSettingRow<JudgeSettings[Name]> } = {
  hardening: {
    expected: "'basic' or 'strong'",
    accepts: (value) => value === 'basic' || value === 'strong',
    defaultIn: () => 'basic',
    doc: 'Protection against text that tries to influence the judge. `strong` asks in several calls and uses two to four times the tokens.',
  },
  maxCallsPerScore: {
    ...wholeNumber(1, 20),
    defaultIn: (hardening) => (hardening === 'strong' ? 10 : 4),
    doc: 'Maximum calls for one score, including retries, repairs and repeated questions.',
  },
  maxOutputTokens: {
    ...wholeNumber(64, 1_000_000),
    defaultIn: () => 4096,
    doc: 'Maximum tokens of one reply. A reply that was cut off is requested again with four times as many.',
  },
  temperature: {
    expected: 'a number from 0 to 2',
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= 2,
    defaultIn: () => 0,
    doc: 'Sampling temperature, if the model has one.',
  },
  maxPromptBytes: {
    ...wholeNumber(8192, 10_000_000),
    defaultIn: () => 49_152,
    doc: 'Maximum UTF-8 bytes of a whole prompt. The run is cut to fit, payloads first.',
  },
  price: {
    expected: '{ input, output } in US dollars per million tokens',
    accepts: isRecord,
    doc: 'The price of the model. The default is its list price, if it is in the price list.',
  },
}

function wholeNumber(low: number, high: number): Pick<JudgeSettingRow, 'expected' | 'accepts'> {
  return {
    expected: `a whole number from ${low} to ${high}`,
    accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high,
  }
}
