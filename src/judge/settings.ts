import { formatValue } from '../scoring/format-value.ts'
import { isRecord } from '../spans/json.ts'
import type { Price } from './transport/price.ts'

/** How a judge is asked. Every judge scorer takes these as `judge`. */
export interface JudgeSettings {
  /**
   * Maximum calls for one score, including retries, repairs and repeated questions. 1 to 20.
   *
   * @default 4
   */
  readonly maxCallsPerScore?: number
  /**
   * Maximum tokens of a reply. Many verdicts may take up to twice as many, and a reply that was cut off is requested again with four times as
   * many. A long run's verdicts are split over several calls, 120 in each at the default.
   *
   * @default 4096
   */
  readonly maxOutputTokens?: number
  /** Sampling temperature, if the model has one. @default 0 */
  readonly temperature?: number
  /**
   * How much the model reasons before it replies, as the option `reasoning` of the AI SDK: `low`, `medium` or `high`. It needs a model of
   * specification v4, as of AI SDK 7.
   *
   * @default not set: the provider's own default applies
   */
  readonly effort?: 'low' | 'medium' | 'high'
  /**
   * Maximum tokens of a whole prompt, including rules and questions, at four UTF-8 bytes a token: an estimate, which is low for scripts other
   * than Latin. The run is cut to fit: results first, the oldest before the others, each in its middle. At least 2048.
   *
   * @default 12000
   */
  readonly maxPromptTokens?: number
  /**
   * The price of the model in US dollars per million tokens. Set it for models that are not in the price list, and for your own prices.
   * `budget.usdPerDay` and the cost of scores use it.
   *
   * @default the list price of the model, if known
   */
  readonly price?: Price
}

/** Settings without a default. */
type Open = 'price' | 'effort'

/** Settings with all defaults filled in. */
export type ResolvedJudgeSettings = Required<Omit<JudgeSettings, Open>> & Pick<JudgeSettings, Open>

/** UTF-8 bytes that count as a token. */
const BYTES_PER_TOKEN = 4

/** UTF-8 bytes of the longest prompt. */
export function maxPromptBytes({ maxPromptTokens }: Pick<ResolvedJudgeSettings, 'maxPromptTokens'>): number {
  return maxPromptTokens * BYTES_PER_TOKEN
}

/** One setting of a judge: what is valid, and its default. Its TSDoc is what the reference says. */
export interface JudgeSettingRow {
  /** Completes the sentence "expected … to be …". */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  readonly defaultValue?: number
}

/** All settings of a judge. */
export const judgeSettingTable: Readonly<Record<keyof JudgeSettings, JudgeSettingRow>> = {
  maxCallsPerScore: {
    ...wholeNumber(1, 20),
    defaultValue: 4,
  },
  maxOutputTokens: {
    ...wholeNumber(64, 1_000_000),
    defaultValue: 4096,
  },
  temperature: {
    expected: 'a number from 0 to 2',
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= 2,
    defaultValue: 0,
  },
  effort: {
    expected: "'low', 'medium' or 'high'",
    accepts: (value) => value === 'low' || value === 'medium' || value === 'high',
  },
  maxPromptTokens: {
    ...wholeNumber(2048, 2_500_000),
    defaultValue: 12_000,
  },
  price: {
    expected: '{ input, output } in US dollars per million tokens',
    accepts: isRecord,
  },
}

function wholeNumber(low: number, high: number): Pick<JudgeSettingRow, 'expected' | 'accepts'> {
  return {
    expected: `a whole number from ${low} to ${high}`,
    accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high,
  }
}

/** @throws TypeError if a setting is wrong: `expected … got …` */
export function resolveJudgeSettings(settings: JudgeSettings, expected: string): ResolvedJudgeSettings {
  const resolve = (name: Exclude<keyof JudgeSettings, Open>): number => {
    const { expected: wanted, accepts, defaultValue = 0 } = judgeSettingTable[name]
    const value = settings[name] ?? defaultValue
    if (accepts(value)) return value
    throw new TypeError(`${expected} judge.${name} to be ${wanted}, got ${formatValue(value)}.`)
  }
  const { price, effort } = settings
  const { accepts: isEffort, expected: efforts } = judgeSettingTable.effort
  if (effort !== undefined && !isEffort(effort)) {
    throw new TypeError(`${expected} judge.effort to be ${efforts}, got ${formatValue(effort)}.`)
  }
  if (price !== undefined) checkPrice(price, expected)
  return {
    maxCallsPerScore: resolve('maxCallsPerScore'),
    maxOutputTokens: resolve('maxOutputTokens'),
    temperature: resolve('temperature'),
    maxPromptTokens: resolve('maxPromptTokens'),
    ...(price !== undefined && { price }),
    ...(effort !== undefined && { effort }),
  }
}

const REQUIRED_PRICES: Readonly<Record<keyof Price, boolean>> = {
  input: true,
  output: true,
  cachedInput: false,
  cacheWrite: false,
  upToInputTokens: false,
}

function checkPrice(price: unknown, expected: string): void {
  const { accepts, expected: wanted } = judgeSettingTable.price
  if (!accepts(price) || !isRecord(price)) {
    throw new TypeError(`${expected} judge.price to be ${wanted}, got ${formatValue(price)}.`)
  }
  const unknown = Object.keys(price).find((key) => !Object.hasOwn(REQUIRED_PRICES, key))
  if (unknown !== undefined) {
    throw new TypeError(
      `${expected} judge.price to hold ${Object.keys(REQUIRED_PRICES).join(', ')}, got an unknown option: ${formatValue(unknown)}.`,
    )
  }
  for (const [key, isRequired] of Object.entries(REQUIRED_PRICES)) {
    const value = price[key]
    if (value === undefined && !isRequired) continue
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      throw new TypeError(`${expected} judge.price.${key} to be a non-negative number, got ${formatValue(value)}.`)
    }
  }
}
