import { existsSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { extname, resolve } from 'node:path'

import { parseDocument } from 'yaml'
import { closestName, createPrebuilt, TextRedactor, withEnvironment } from 'spanscore/engine'
import type { ScoringOptions } from 'spanscore/engine'
import { z } from 'zod'

import { readGiven } from '../read-given.ts'
import { scoringVariables } from '../variables.ts'
import { configSchema, limitsSchema } from './config-schema.ts'
import type { ServiceConfig } from './config-schema.ts'
import type { Limits } from './limits.ts'
import { DEFAULT_SCORERS, PREBUILT_NAMES } from './prebuilt.ts'

/** Options of the processor that have no meaning in a service. */
const MEANINGLESS = [
  'next',
  'holdMs',
  'settleMs',
  'maxSpansPerRun',
  'memoryBytes',
  'maxSyncBytes',
  'maxIdleMs',
  'flushTimeoutMs',
  'shutdownTimeoutMs',
  'scoreUnsampled',
  'rescore',
  'tracerProvider',
  'meterProvider',
  'loggerProvider',
]

/** Scoring options, and a description of their source. */
export interface LoadedConfig {
  readonly options: ScoringOptions
  readonly limits: Limits
  /** Redacts what leaves the scorers by code. @default nothing is redacted */
  readonly redactor?: TextRedactor | undefined
  /** The patterns of the redactor. */
  readonly redact?: readonly string[] | undefined
  readonly source: string
  /** The unchanged text of the file; empty if there is none. */
  readonly text: string
}

/** What is said if alerts are set, and nothing sends the metrics that they are about. */
export const ALERTS_WITHOUT_METRICS =
  'alerts: none can be raised, because Prometheus knows of scores by their metrics, which only --to sends.'

/** Whether a configuration sets alerts. */
export function hasAlerts({ scorers, alerts }: ScoringOptions): boolean {
  return alerts !== undefined || scorers.some((each) => 'alerts' in each && each.alerts !== undefined)
}

/**
 * Reads the configuration: YAML or JSON for prebuilt scorers, a module for custom ones. Without a path, it returns the code scorers that
 * need no expectation. Options in environment variables replace those of the file.
 *
 * @param given the text of the file, if it was read already
 * @throws Error what was expected, what came, and what to do
 */
export function loadServiceConfig(
  path: string | undefined,
  announce: (line: string) => void,
  given?: string,
): LoadedConfig {
  const loaded = load(path, announce, given)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each variable was checked as the option is
  return { ...loaded, options: withEnvironment({ ...loaded.options }, scoringVariables()) as unknown as ScoringOptions }
}

function load(path: string | undefined, announce: (line: string) => void, given?: string): LoadedConfig {
  if (path === undefined) {
    return {
      options: { scorers: DEFAULT_SCORERS.map((name) => createPrebuilt(name, {})) },
      limits: limitsSchema.parse({}),
      source: 'no configuration: scorers by code that need no expectation',
      text: '',
    }
  }
  const file = resolve(path)
  if (given === undefined && !existsSync(file))
    throw new Error(`--config: expected the path of a file, got ${file}, which does not exist.`)
  const text = given ?? readGiven('--config', file)
  if (isConfigData(file)) return { ...fromFile(file, text), source: file, text }
  const extension = extname(file)
  if (/^\.[cm]?[jt]s$/.test(extension)) {
    announce(`The configuration ${file} is a program, and is executed now.`)
    return { ...fromModule(file), source: file, text }
  }
  throw new Error(`--config: expected a file that ends in .yaml, .json, .ts, .mjs or .js, got ${file}.`)
}

/** Whether a configuration is a file of YAML or JSON, which can be read again, and not a module, which Node.js loads once. */
export function isConfigData(path: string): boolean {
  return /\.(?:ya?ml|json)$/.test(path)
}

type OptionsAndLimits = Pick<LoadedConfig, 'options' | 'limits' | 'redactor' | 'redact'>

function fromFile(file: string, text: string): OptionsAndLimits {
  const value = parsed(file, text)
  if (typeof value !== 'object' || value === null) {
    throw new Error(
      `${file}: expected scorers and their options, such as "scorers: [tool_errors]", got ${value === null ? 'an empty file' : `a ${typeof value}`}.`,
    )
  }
  refuseMeaningless(file, value)
  refuseUnknownNames(file, value)
  const checked = configSchema.safeParse(value)
  if (!checked.success)
    throw new Error(`${file}: ${checked.error.issues.map((issue) => describeIssue(issue)).join('; ')}`)
  const { limits, redact, ...options } = checked.data
  const redactor = redact && redactorOf(file, redact)
  return {
    options: { ...toOptions(file, options), ...(redactor && { redact: redactor.toOption() }) },
    limits: limits ?? limitsSchema.parse({}),
    redactor,
    redact,
  }
}

function redactorOf(file: string, patterns: readonly string[]): TextRedactor {
  try {
    return new TextRedactor(patterns)
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** What is wrong at which place. Of the forms that an entry may have, it is the one that got furthest. */
function describeIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string {
  const path = [...above, ...issue.path]
  if (issue.code === 'invalid_union') {
    const all = issue.errors.flat()
    const depth = Math.max(...all.map((each) => each.path.length))
    const deepest = all.findLast((each) => each.path.length === depth)
    if (deepest !== undefined) return describeIssue(deepest, path)
  }
  const what = issue.message.replace(/^Invalid input: /, '').replace(', received ', ', got ')
  return `${path.length === 0 ? '' : `${z.core.toDotPath(path)}: `}${what}`
}

function parsed(file: string, text: string): unknown {
  try {
    const document = parseDocument(text, { prettyErrors: true })
    const [error] = document.errors
    if (error !== undefined) throw error
    // Aliases are only followed here.
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    const what = error instanceof Error ? error.message.split('\n')[0] : 'unknown error'
    throw new Error(`${file}: expected YAML or JSON, got a file that does not parse: ${what}`, { cause: error })
  }
}

function toOptions(file: string, { scorers, ...rest }: Omit<ServiceConfig, 'limits' | 'redact'>): ScoringOptions {
  const entries = scorers.map((given, index) => {
    const { name, model, options, ...entry } = typeof given === 'string' ? { name: given } : given
    try {
      const scorer = createPrebuilt(name, { ...options, ...(model !== undefined && { model }) })
      return { scorer, ...entry }
    } catch (error) {
      throw new Error(
        `${file}: scorers[${index}] (${name}): ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    }
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema; the processor's own checks follow
  return { ...rest, scorers: entries } as ScoringOptions
}

/** In the module, `spanscore` is the service's own copy, wherever the file is. */
function fromModule(file: string): OptionsAndLimits {
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === 'spanscore' || specifier.startsWith('spanscore/')
        ? nextResolve(specifier, { ...context, parentURL: import.meta.url })
        : nextResolve(specifier, context),
  })
  let loaded: unknown
  try {
    loaded = createRequire(file)(file)
  } catch (error) {
    throw new Error(
      `${file}: expected a module that loads, got ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
      {
        cause: error,
      },
    )
  } finally {
    hooks.deregister()
  }
  const options = defaultOf(loaded)
  if (typeof options !== 'object' || options === null || !('scorers' in options)) {
    throw new Error(`${file}: expected export default defineConfig({ scorers: […] }), got something else.`)
  }
  refuseMeaningless(file, options)
  const { limits = {}, ...scoring }: { scorers: unknown; limits?: unknown } = options
  const checked = limitsSchema.safeParse(limits)
  if (!checked.success) throw new Error(`${file}: limits: ${z.prettifyError(checked.error).replaceAll('\n', '\n  ')}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the processor's own checks follow
  return { options: scoring as ScoringOptions, limits: checked.data }
}

function defaultOf(loaded: unknown): unknown {
  return typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : loaded
}

/** For a misspelt name, the schema would only say that it matches no form of an entry. */
function refuseUnknownNames(file: string, value: unknown): void {
  const scorers: unknown = typeof value === 'object' && value !== null && 'scorers' in value ? value.scorers : undefined
  if (!Array.isArray(scorers)) return
  const names: ReadonlySet<string> = new Set(PREBUILT_NAMES)
  for (const [index, entry] of scorers.entries()) {
    const name: unknown = typeof entry === 'object' && entry !== null ? ('name' in entry ? entry.name : 'none') : entry
    if (typeof name !== 'string' || names.has(name)) continue
    const meant = closestName(name, PREBUILT_NAMES)
    const question = meant === undefined ? '' : ` Did you mean ${meant}?`
    throw new Error(`${file}: scorers[${index}]: expected one of ${PREBUILT_NAMES.join(', ')}, got ${name}.${question}`)
  }
}

function refuseMeaningless(file: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const found = MEANINGLESS.find((name) => name in value)
  if (found !== undefined) {
    throw new Error(
      `${file}: expected options of the service, got ${found}, which belongs to the processor inside an application.`,
    )
  }
}
