import { globalSlot } from '../../scoring/global-slot.ts'
import { isRecord } from '../../spans/json.ts'
import { notices } from './notices.ts'
import type { NoticeCode, NoticeLevel } from './notices.ts'

/** Maximum number of lines in a process without a `diag` logger. */
const MOST_LINES = 10

/** The global symbol under which every copy of `@opentelemetry/api` 1.x keeps its logger. */
const API = Symbol.for('opentelemetry.js.api.1')

/** The notices already shown in this process, by any copy of the package. */
const shown = globalSlot('notices', () => new Set<string>(), isSet)

/** Options of one notice. */
export interface NotifyOptions {
  /** What the notice is about, such as a judge or a variable. Each subject of a code is shown once. @default '' */
  readonly subject?: string
  /** True while the process exits, when there is no later turn in which Node.js would emit the warning. @default false */
  readonly isLast?: boolean
}

/**
 * Reports something about the set-up of scoring. If the application has set a `diag` logger, it goes there and only there.
 * Otherwise it is a warning of the process (`node --disable-warning=CODE` silences it), each one once and ten at most,
 * unless `SPANSCORE_LOG` is `off`. Never throws.
 */
export function notify(code: NoticeCode, message: string, { subject = '', isLast = false }: NotifyOptions = {}): void {
  const { level } = notices[code]
  if (log(level, message)) return
  const key = `${code}:${subject}`
  if (!isShown(level) || shown.has(key) || shown.size >= MOST_LINES) return
  shown.add(key)
  try {
    const warning = Object.assign(new Error(message), { name: 'spanscore', code })
    if (isLast) process.emit('warning', warning)
    else process.emitWarning(message, { type: 'spanscore', code })
  } catch {}
}

/** Reports an environment variable. @param message Begins with the name of the variable and a colon. */
export function notifyVariable(message: string): void {
  notify('SPANSCORE_ENVIRONMENT', message, { subject: message.split(':', 1)[0] ?? '' })
}

/** Writes a line to the `diag` logger of the application; false where it has set none. What the logger throws is dropped. */
export function log(level: NoticeLevel, message: string): boolean {
  let hasLogger = false
  try {
    const api: unknown = Reflect.get(globalThis, API)
    const logger: unknown = isRecord(api) ? api['diag'] : undefined
    const write = isRecord(logger) ? logger[level] : undefined
    if (typeof write !== 'function') return false
    hasLogger = true
    Reflect.apply(write, logger, ['spanscore', message])
  } catch {}
  return hasLogger
}

function isShown(level: NoticeLevel): boolean {
  const setting = process.env['SPANSCORE_LOG']?.trim().toLowerCase() ?? ''
  return setting !== 'off' && (level !== 'info' || setting === 'info')
}

function isSet(value: unknown): value is Set<string> {
  return value instanceof Set
}
