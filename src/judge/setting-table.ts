import { isRecord } from '../spans/json.ts'
import type { JudgeSettings } from './settings.ts'

/** What is known about one setting of a judge. Checks, defaults and the reference page derive from it. */
export interface JudgeSettingRow<Value = unknown> {
  /** Completes the sentence "expected … to be …". */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  /** The default, where `hardening` is `strong` and where it is not. */
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
    doc: 'What is done against text that talks to the judge. `strong` asks in several calls and takes two to four times the tokens.',
  },
  maxCallsPerScore: {
    ...wholeNumber(1, 20),
    defaultIn: (hardening) => (hardening === 'strong' ? 10 : 4),
    doc: 'Calls for one score, retries, repairs and repeated questions included.',
  },
  maxOutputTokens: {
    ...wholeNumber(64, 1_000_000),
    defaultIn: () => 4096,
    doc: 'Tokens of one reply. A reply that was cut off is asked for again with four times as many.',
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
    doc: 'UTF-8 bytes of a whole prompt. What is judged is cut to fit, payloads first.',
  },
  price: {
    expected: '{ input, output } in US dollars for a million tokens',
    accepts: isRecord,
    doc: 'What the model costs. Without it the list price is used, if the model is in the list.',
  },
}

function wholeNumber(low: number, high: number): Pick<JudgeSettingRow, 'expected' | 'accepts'> {
  return {
    expected: `a whole number from ${low} to ${high}`,
    accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high,
  }
}
