import { formatValue } from '../scoring/format-value.ts'
import { isRecord } from '../spans/json.ts'
import { judgeSettingTable } from './setting-table.ts'
import type { JudgeSettingRow } from './setting-table.ts'
import type { Price } from './transport/price.ts'
import type { JudgeSettings, ResolvedJudgeSettings } from './settings.ts'

/** @throws TypeError if a setting is wrong: `expected … got …` */
export function resolveJudgeSettings(settings: JudgeSettings, expected: string): ResolvedJudgeSettings {
  const hardening = resolve('hardening', settings, expected)
  const { price } = settings
  if (price !== undefined) checkPrice(price, expected)
  return {
    hardening,
    maxCallsPerScore: resolve('maxCallsPerScore', settings, expected),
    maxOutputTokens: resolve('maxOutputTokens', settings, expected),
    temperature: resolve('temperature', settings, expected),
    maxPromptBytes: resolve('maxPromptBytes', settings, expected),
    ...(price !== undefined && { price }),
  }
}

type Defaulted = Exclude<keyof JudgeSettings, 'price'>

function resolve<Name extends Defaulted>(
  name: Name,
  settings: JudgeSettings,
  expected: string,
): ResolvedJudgeSettings[Name] {
  const { expected: wanted, accepts, defaultIn }: JudgeSettingRow = judgeSettingTable[name]
  const given = settings[name]
  const value = given === undefined ? defaultIn?.(settings.hardening) : given
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this setting's row has checked the value
  if (accepts(value)) return value as ResolvedJudgeSettings[Name]
  throw new TypeError(`${expected} judge.${name} to be ${wanted}, got ${formatValue(value)}.`)
}

const PRICE_KEYS: Readonly<Record<keyof Price, { readonly isRequired: boolean }>> = {
  input: { isRequired: true },
  output: { isRequired: true },
  cachedInput: { isRequired: false },
  cacheWrite: { isRequired: false },
  upToInputTokens: { isRequired: false },
}

function checkPrice(price: unknown, expected: string): void {
  const { accepts, expected: wanted } = judgeSettingTable.price
  if (!accepts(price) || !isRecord(price)) {
    throw new TypeError(`${expected} judge.price to be ${wanted}, got ${formatValue(price)}.`)
  }
  const unknown = Object.keys(price).find((key) => !Object.hasOwn(PRICE_KEYS, key))
  if (unknown !== undefined) {
    throw new TypeError(
      `${expected} judge.price to hold ${Object.keys(PRICE_KEYS).join(', ')}, got an unknown option: ${formatValue(unknown)}.`,
    )
  }
  for (const [key, { isRequired }] of Object.entries(PRICE_KEYS)) {
    const value = price[key]
    if (value === undefined && !isRequired) continue
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      throw new TypeError(`${expected} judge.price.${key} to be a non-negative number, got ${formatValue(value)}.`)
    }
  }
}
