import { VERSION } from './version.ts'

/** What readiness depends on. */
export interface Condition {
  /** Milliseconds since the main loop last ran. */
  readonly idleMs: number
  /** For how many milliseconds scores could not be delivered. */
  readonly undeliveredMs: number
  /** Why they could not; `undefined` if they could. */
  readonly undelivered?: string | undefined
  readonly isOutboxFull: boolean
  /** Why nothing can be accepted; `undefined` if it can. */
  readonly unavailable: string | undefined
  /** Why there is no page although there should be one; `undefined` if there is no trouble. */
  readonly page?: string | undefined
  /** Why the configuration file is not in effect as it is now; `undefined` if it is. */
  readonly configuration?: string | undefined
  /** Files that are not in effect as they are now, and why. */
  readonly files?: readonly string[] | undefined
  /** Judges that give no scores now, and why. */
  readonly judges?: readonly string[] | undefined
}

/** A main loop that has not run for this long is stuck. */
const STUCK_MS = 30_000

/** Readiness fails if scores could not be delivered for this long. */
const UNDELIVERED_MS = 10_000

/** Whether the process itself works. If not, an orchestrator restarts it. An unreachable destination does not count. */
export function healthOf({ idleMs }: Condition): { readonly status: number; readonly body: unknown } {
  return idleMs < STUCK_MS
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, body: { status: 'stuck', idleMs } }
}

/**
 * Whether it accepts spans and delivers scores. A page that ended, a configuration that cannot be used and judges that are not asked are named; runs are
 * scored as before, so it is ready.
 *
 * @param saysWhy whether the reasons are for the caller, who may send: they may quote the configuration
 */
export function readinessOf(
  condition: Condition,
  saysWhy: boolean,
): { readonly status: number; readonly body: unknown } {
  const reasons = [
    ...(condition.unavailable === undefined ? [] : [condition.unavailable]),
    ...(condition.isOutboxFull ? ['Scores wait for their destination; spans stay on the log.'] : []),
    ...(condition.undeliveredMs >= UNDELIVERED_MS
      ? [`Nothing was acknowledged by the destination for ${Math.round(condition.undeliveredMs / 1000)} s.`]
      : []),
  ]
  const status = reasons.length === 0 ? 200 : 503
  if (!saysWhy) return { status, body: { status: status === 200 ? 'ready' : 'not ready' } }
  const { page, configuration, undelivered, judges = [], files = [] } = condition
  const named = {
    ...(page !== undefined && { page }),
    ...(configuration !== undefined && { configuration }),
    ...(undelivered !== undefined && { delivery: undelivered }),
    ...(files.length > 0 && { files }),
    ...(judges.length > 0 && { judges }),
    version: VERSION,
  }
  return reasons.length === 0
    ? { status, body: { status: 'ready', ...named } }
    : { status, body: { status: 'not ready', reasons, ...named } }
}
