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
 * Reads the `SPANSCORE_*` variables as OpenTelemetry's own are read: blank is unset, and a wrong value is reported and ignored.
 * A variable that no option has is reported if its name is close to a known one.
 *
 * @param warn Gets one sentence for each variable that is wrong.
 */
export function optionsFromEnvironment(environment: Environment, warn: (message: string) => void): EnvironmentOptions {
  const known = new Set(otherVariables.map(({ name }) => name))
  for (const { name, kind } of otherVariables) readKind(name, kind, environment, warn)
  const options: Record<string, unknown> = {}
  for (const { group, name, variable, kind } of optionVariables()) {
    known.add(variable)
    const value = readKind(variable, kind, environment, warn)
    if (value === undefined) continue
    if (group === undefined) options[name] = value
    else options[group] = { ...toRecord(options[group]), [name]: value }
  }
  for (const name of Object.keys(environment)) {
    const meant = name.startsWith('SPANSCORE_') && !known.has(name) ? closestName(name, known) : undefined
    if (meant !== undefined) warn(`${name}: expected ${meant}, got a variable that is not known; it is ignored.`)
  }
  return options
}

/**
 * Reports every `SPANSCORE_*` variable that has no effect on a processor: one that is wrong, and one that sets an option to
 * another value than the processor was given. `spanscore/register` is the only way to attach that reads variables, and what it
 * gives to the processor is what they say.
 */
export function reportUnusedVariables(given: object, environment: Environment, warn: (message: string) => void): void {
  const options = toRecord(given)
  const wanted = optionsFromEnvironment(environment, warn)
  const differs = optionVariables().filter(({ group, name }) => {
    const value = group === undefined ? wanted[name] : toRecord(wanted[group])[name]
    const used = group === undefined ? options[name] : toRecord(options[group])[name]
    return value !== undefined && formatValue(value) !== formatValue(used)
  })
  for (const { group, name, variable } of differs) {
    const option = group === undefined ? name : `${group}.${name}`
    warn(
      `${variable}: only spanscore/register reads it, and this application attaches in its code: set ${option} there.`,
    )
  }
  if (isOn(environment['SPANSCORE_DISABLED'])) {
    warn('SPANSCORE_DISABLED: only spanscore/register reads it, and this application attaches in its code.')
  }
}

/** An option that a variable can set. */
interface OptionVariable {
  /** The option that holds it, where it is part of one. */
  readonly group: string | undefined
  readonly name: string
  readonly variable: string
  readonly kind: OptionKind
}

function optionVariables(): readonly OptionVariable[] {
  return Object.entries<OptionRow>(optionTable).flatMap(([name, row]) =>
    row.rows === undefined ? variablesOf(undefined, { [name]: row }) : variablesOf(name, row.rows),
  )
}

function variablesOf(group: string | undefined, rows: Readonly<Record<string, OptionRow>>): readonly OptionVariable[] {
  return Object.entries(rows)
    .filter(([, { kind }]) => kind.text !== undefined)
    .map(([name, { kind }]) => ({
      group,
      name,
      kind,
      variable: variableOf(group === undefined ? name : `${group}.${name}`),
    }))
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

/** Options of a file, replaced by those of the environment: who starts a process decides. */
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
