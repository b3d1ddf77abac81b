import { show } from '../../scoring/format-value.ts'
import { isRecord } from './option-checks.ts'

/** Options as far as the environment gives them. */
export type EnvironmentOptions = Readonly<Record<string, unknown>>

/** What a variable must look like, and what it is read to; `undefined` where it is something else. */
interface Kind {
  readonly expected: string
  readonly read: (text: string) => unknown
}

const flag: Kind = {
  expected: 'true or false',
  read: (text) => ({ true: true, false: false })[text.toLowerCase()],
}
const whole: Kind = {
  expected: 'a whole number, 0 or more',
  read: (text) => (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
}
const milliseconds: Kind = {
  expected: 'whole milliseconds, from 0 to 2147483647',
  read: (text) => (/^\d+$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined),
}
const positive: Kind = {
  expected: 'a whole number, 1 or more',
  read: (text) => (/^0*[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
}
const amount: Kind = {
  expected: 'a number, 0 or more, or Infinity',
  read: (text) => (Number(text) >= 0 ? Number(text) : undefined),
}
const rate: Kind = {
  expected: 'a number from 0 to 1',
  read: (text) => (Number(text) >= 0 && Number(text) <= 1 ? Number(text) : undefined),
}
const probability: Kind = {
  expected: 'a number above 0 and at most 1',
  read: (text) => (Number(text) > 0 && Number(text) <= 1 ? Number(text) : undefined),
}
const list: Kind = {
  expected: 'names, separated by commas',
  read: (text) =>
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
}

function oneOf(...words: readonly string[]): Kind {
  return { expected: words.join(' or '), read: (text) => words.find((word) => word === text) }
}

/** Each variable, and the option that it sets; a dot reaches into an object. */
const VARIABLES: readonly (readonly [variable: string, option: string, kind: Kind])[] = [
  ['SPANSCORE_SCOPE', 'scope', oneOf('root', 'every-agent')],
  ['SPANSCORE_SAMPLE', 'sample', rate],
  ['SPANSCORE_UPSTREAM_PROBABILITY', 'upstreamProbability', probability],
  ['SPANSCORE_BUDGET_CALLS_PER_MINUTE', 'budget.callsPerMinute', amount],
  ['SPANSCORE_BUDGET_TOKENS_PER_HOUR', 'budget.tokensPerHour', amount],
  ['SPANSCORE_BUDGET_USD_PER_DAY', 'budget.usdPerDay', amount],
  ['SPANSCORE_BUDGET_SHARE', 'budget.share', probability],
  ['SPANSCORE_CONCURRENCY', 'concurrency', positive],
  ['SPANSCORE_QUEUE_SIZE', 'queueSize', whole],
  ['SPANSCORE_TIMEOUT_MS', 'timeoutMs', milliseconds],
  ['SPANSCORE_HOLD_MS', 'holdMs', milliseconds],
  ['SPANSCORE_MAX_HELD', 'maxHeld', whole],
  ['SPANSCORE_SETTLE_MS', 'settleMs', milliseconds],
  ['SPANSCORE_MAX_OPEN_RUNS', 'maxOpenRuns', positive],
  ['SPANSCORE_MAX_SPANS_PER_RUN', 'maxSpansPerRun', positive],
  ['SPANSCORE_MAX_CONTENT_BYTES', 'maxContentBytes', whole],
  ['SPANSCORE_MAX_SYNC_BYTES', 'maxSyncBytes', whole],
  ['SPANSCORE_FLUSH_TIMEOUT_MS', 'flushTimeoutMs', milliseconds],
  ['SPANSCORE_SHUTDOWN_TIMEOUT_MS', 'shutdownTimeoutMs', milliseconds],
  ['SPANSCORE_STRIP_CONTENT', 'stripContent', flag],
  ['SPANSCORE_SCORE_UNSAMPLED', 'scoreUnsampled', flag],
  ['SPANSCORE_RESCORE', 'rescore', flag],
  ['SPANSCORE_METRIC_ATTRIBUTES', 'metricAttributes', list],
  ['SPANSCORE_EMIT_ATTRIBUTES', 'emit.attributes', flag],
  ['SPANSCORE_EMIT_EVENTS', 'emit.events', flag],
  ['SPANSCORE_EMIT_LATE_SPANS', 'emit.lateSpans', oneOf('late', 'always', 'never')],
  ['SPANSCORE_EMIT_METRICS', 'emit.metrics', flag],
  ['SPANSCORE_EMIT_EXPLANATIONS', 'emit.explanations', oneOf('all', 'code', 'none')],
  ['SPANSCORE_STRICT', 'strict', flag],
]

/**
 * Reads the `SPANSCORE_*` variables as OpenTelemetry's own are read: blank is unset, and what is wrong is said and ignored.
 *
 * @param warn Gets one sentence for each variable that is wrong.
 */
export function optionsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): EnvironmentOptions {
  const options: Record<string, unknown> = {}
  for (const [variable, option, kind] of VARIABLES) {
    const text = environment[variable]?.trim() ?? ''
    if (text === '') continue
    const value = kind.read(text)
    if (value === undefined) {
      warn(`${variable}: expected ${kind.expected}, got ${show(text)}; it is ignored.`)
      continue
    }
    const [name = option, inner] = option.split('.')
    options[name] = inner === undefined ? value : { ...toRecord(options[name]), [inner]: value }
  }
  return options
}

/** Whether a variable is `true`, in any case; blank, `false` and anything else are not. */
export function isOn(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true'
}

/** Options of a file with those of the environment over them: who starts a process has the last word. */
export function withEnvironment(file: EnvironmentOptions, environment: EnvironmentOptions): EnvironmentOptions {
  const merged: Record<string, unknown> = { ...file, ...environment }
  for (const name of ['budget', 'emit']) {
    if (name in merged) merged[name] = { ...toRecord(file[name]), ...toRecord(environment[name]) }
  }
  return merged
}

function toRecord(value: unknown): EnvironmentOptions {
  return isRecord(value) ? value : {}
}
