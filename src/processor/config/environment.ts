import { closestName } from '../../scoring/closest-name.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { isRecord } from '../../spans/json.ts'
import { optionTable } from './option-table.ts'
import type { OptionKind } from './option-kinds.ts'
import type { OptionRow } from './option-table.ts'
import { otherVariables, variableOf } from './variables.ts'

/** Options as far as the environment gives them. */
export type EnvironmentOptions = Readonly<Record<string, unknown>>

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the `SPANSCORE_*` variables as OpenTelemetry's own are read: blank is unset, and a wrong one is reported and ignored.
 * So is one that no option has, where its name is near to a known one.
 *
 * @param warn Gets one sentence for each variable that is wrong.
 */
export function optionsFromEnvironment(environment: Environment, warn: (message: string) => void): EnvironmentOptions {
  const known = new Set(otherVariables.map(({ name }) => name))
  for (const { name, kind } of otherVariables) readKind(name, kind, environment, warn)
  const options = readRows(optionTable, '', environment, warn, known)
  for (const name of Object.keys(environment)) {
    const meant = name.startsWith('SPANSCORE_') && !known.has(name) ? closestName(name, known) : undefined
    if (meant !== undefined) warn(`${name}: expected ${meant}, got a variable that is not known; it is ignored.`)
  }
  return options
}

function readRows(
  rows: Readonly<Record<string, OptionRow>>,
  prefix: string,
  environment: Environment,
  warn: (message: string) => void,
  known: Set<string>,
): EnvironmentOptions {
  const options: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(rows)) {
    const path = `${prefix}${name}`
    if (row.rows !== undefined) {
      const inner = readRows(row.rows, `${path}.`, environment, warn, known)
      if (Object.keys(inner).length > 0) options[name] = inner
      continue
    }
    if (row.kind.text === undefined) continue
    const variable = variableOf(path)
    known.add(variable)
    const value = readKind(variable, row.kind, environment, warn)
    if (value !== undefined) options[name] = value
  }
  return options
}

/** The value that a variable gives; `undefined` where it is blank, or wrong, which is reported. */
function readKind(
  variable: string,
  { text, expected, accepts }: OptionKind,
  environment: Environment,
  warn: (message: string) => void,
): unknown {
  const given = environment[variable]?.trim() ?? ''
  const value = given === '' ? undefined : text?.read(given)
  if (given === '' || (value !== undefined && accepts(value))) return value
  warn(`${variable}: expected ${text?.expected ?? expected}, got ${formatValue(given)}; it is ignored.`)
  return undefined
}

/** Whether a variable is `true`, in any case; blank, `false` and anything else are not. */
export function isOn(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true'
}

/** Options of a file with those of the environment over them: who starts a process has the last word. */
export function withEnvironment(file: EnvironmentOptions, environment: EnvironmentOptions): EnvironmentOptions {
  const merged: Record<string, unknown> = { ...file, ...environment }
  for (const [name, { rows }] of Object.entries<OptionRow>(optionTable)) {
    if (rows !== undefined && name in merged) merged[name] = { ...toRecord(file[name]), ...toRecord(environment[name]) }
  }
  return merged
}

function toRecord(value: unknown): EnvironmentOptions {
  return isRecord(value) ? value : {}
}
