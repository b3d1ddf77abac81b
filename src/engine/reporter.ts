import { describeError } from '../scoring/format-value.ts'
import { callForeign } from '../scoring/run-foreign.ts'
import { LimitedSet } from '../spans/limited-set.ts'
import type { NoticeCode } from './notices/notices.ts'
import { log, notify } from './notices/notify.ts'
import type { NotifyOptions } from './notices/notify.ts'

/** Maximum number of kinds of problems that are reported. */
const MAX_KINDS = 200

/** Reports problems at run time, each kind once. Counters show how often they happen. */
export class Reporter {
  readonly #reported = new LimitedSet<string>(MAX_KINDS)

  /** Reports a set-up problem, which is also shown without a `diag` logger. */
  notify(
    code: NoticeCode,
    message: string | (() => string),
    options: NotifyOptions & { readonly kind?: string } = {},
  ): void {
    if (!this.#reported.add(`${code}:${options.kind ?? options.subject ?? ''}`)) return
    notify(code, typeof message === 'string' ? message : message(), options)
  }

  info(message: string): void {
    log('info', message)
  }

  warnOnce(kind: string, message: string): void {
    if (this.#reported.add(kind)) log('warn', message)
  }

  /** Runs code that must not throw into the application; returns `undefined` if it threw. */
  guard<Result>(what: string, run: () => Result): Result | undefined {
    try {
      return run()
    } catch (error) {
      this.threw(what, error)
      return undefined
    }
  }

  /** Runs an application callback in isolation. It may be async. Its errors and rejections are reported. */
  callBack(what: string, run: () => unknown): void {
    callForeign(run, (error) => this.notify('SPANSCORE_CALLBACK', () => thrown(what, error), { subject: what }))
  }

  /** Awaits work that must not reject into the application. Its errors and rejections are reported. */
  async settle(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.threw(what, error)
    }
  }

  /** Reports an error without its message, which may quote content of a run. */
  threw(what: string, error: unknown): void {
    // To describe an error takes longer than most of what throws, and a broken provider throws for each of thousands of values.
    if (this.#reported.add(`threw:${what}`)) log('error', thrown(what, error))
  }
}

/** Names an error without its message. */
function thrown(what: string, error: unknown): string {
  return `${what} threw ${describeError(error)}. The application is not affected.`
}
