import { closestName } from '../../scoring/closest-name.ts'
import { formatValue } from '../../scoring/format-value.ts'
import { isRecord } from '../../spans/json.ts'
import { optionTable } from './option-table.ts'
import { flag, oneOf, text } from './option-kinds.ts'
import type { OptionKind } from './option-kinds.ts'
import type { OptionRow } from './option-table.ts'

/** A `SPANSCORE_*` variable that sets no option. */
export interface OtherVariable {
  readonly name: string
  readonly kind: OptionKind
  readonly doc: string
}

/** The variables that set no option. */
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
    doc: 'Which set-up notices become process warnings if no `diag` logger is set. The default is `warn`.',
  },
  {
    name: 'SPANSCORE_OPENAI_API_KEY',
    kind: text,
    doc: 'The API key of judges at OpenAI. It overrides `OPENAI_API_KEY`.',
  },
  {
    name: 'SPANSCORE_OPENAI_BASE_URL',
    kind: text,
    doc: 'The base URL of judges whose model id begins with `openai/`. It overrides `OPENAI_BASE_URL`.',
  },
  {
    name: 'SPANSCORE_FROM_HEADERS',
    kind: text,
    doc: 'Headers of requests to the backend that `spanscore score --from` reads, in the form of `OTEL_EXPORTER_OTLP_HEADERS`.',
  },
]

/** The options that environment variables set. */
export type EnvironmentOptions = Readonly<Record<string, unknown>>

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the `SPANSCORE_*` variables like OpenTelemetry's own: blank counts as unset, and an invalid value is reported and ignored. An
 * unknown variable is reported if its name is close to a known one.
 *
 * @param warn receives one sentence for each invalid variable
 */
export function optionsFromEnvironment(environment: Environment, warn: (message: string) => void): EnvironmentOptions {
  const ignored = (what: string): void => warn(`${what}; it is ignored.`)
  for (const { name, kind } of otherVariables) readKind(name, kind, environment, ignored)
  const options = readOptionVariables(environment, ignored)
  const known = new Set([...otherVariables.map(({ name }) => name), ...optionVariables.map(({ variable }) => variable)])
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('SPANSCORE_') || known.has(name)) continue
    const meant = closestName(name, known)
    const option = Object.keys(optionTable).find((each) => name === `SPANSCORE_${toUpperSnakeCase(each)}`)
    if (meant !== undefined) warn(`${name}: expected ${meant}, got an unknown variable; it is ignored.`)
    else if (option !== undefined) warn(`${name}: no variable sets ${option}; set it where the scorers are.`)
  }
  return options
}

/**
 * Reads the variables that set options.
 *
 * @param onInvalid receives what was expected and what came, for each variable with a wrong value
 */
export function readOptionVariables(environment: Environment, onInvalid: (what: string) => void): EnvironmentOptions {
  const options: Record<string, unknown> = {}
  for (const { group, name, variable, row } of optionVariables) {
    const value = readKind(variable, row.kind, environment, onInvalid)
    if (value === undefined) continue
    if (group === undefined) options[name] = value
    else options[group] = { ...toRecord(options[group]), [name]: value }
  }
  return options
}

/**
 * Reports every `SPANSCORE_*` variable that has no effect on a processor: invalid ones, and those that differ from the options that the
 * processor was given. Only `spanscore/register` reads variables, and it passes their values to the processor.
 */
export function reportUnusedVariables(given: object, environment: Environment, warn: (message: string) => void): void {
  const options = toRecord(given)
  const wanted = optionsFromEnvironment(environment, warn)
  const differs = optionVariables.filter(({ group, name }) => {
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
export interface OptionVariable {
  /** The group that contains the option, if any. */
  readonly group: string | undefined
  readonly name: string
  readonly variable: string
  readonly row: OptionRow
}

/** The variables that set options. */
export const optionVariables: readonly OptionVariable[] = Object.entries<OptionRow>(optionTable).flatMap(
  ([name, row]) => (row.rows === undefined ? variablesOf(undefined, { [name]: row }) : variablesOf(name, row.rows)),
)

function variablesOf(group: string | undefined, rows: Readonly<Record<string, OptionRow>>): readonly OptionVariable[] {
  return Object.entries(rows).flatMap(([name, row]) =>
    row.variable === undefined ? [] : [{ group, name, row, variable: row.variable }],
  )
}

/** The value of a variable; `undefined` if it is blank, or invalid, which is reported. */
function readKind(
  variable: string,
  { text: form, expected, accepts }: OptionKind,
  environment: Environment,
  onInvalid: (what: string) => void,
): unknown {
  const given = environment[variable]?.trim() ?? ''
  const value = given === '' ? undefined : form?.read(given)
  if (given === '' || (value !== undefined && accepts(value))) return value
  onInvalid(`${variable}: expected ${form?.expected ?? expected}, got ${formatValue(given)}`)
  return undefined
}

/** Whether a variable is `true`, in any case. Anything else counts as false. */
export function isOn(given: string | undefined): boolean {
  return given?.trim().toLowerCase() === 'true'
}

/** Merges options; the environment overrides the file, because it is set where the process is started. */
export function withEnvironment(file: EnvironmentOptions, environment: EnvironmentOptions): EnvironmentOptions {
  const merged: Record<string, unknown> = { ...file, ...environment }
  for (const [name, { rows }] of Object.entries<OptionRow>(optionTable)) {
    if (rows !== undefined && name in merged) merged[name] = { ...toRecord(file[name]), ...toRecord(environment[name]) }
  }
  return merged
}

function toUpperSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

function toRecord(value: unknown): EnvironmentOptions {
  return isRecord(value) ? value : {}
}
