import { describeError } from '../../scoring/format-value.ts'
import { callForeign } from '../../scoring/run-foreign.ts'
import { LimitedSet } from '../../spans/limited-set.ts'
import type { NoticeCode, NoticeLevel } from '../notices/notices.ts'
import { log, notify } from '../notices/notify.ts'
import type { NotifyOptions } from '../notices/notify.ts'

/** Kinds of problems that are reported; further kinds are not. */
const MAX_KINDS = 200

/** Reports what goes wrong at run time, each kind of problem once. Counters show how often it happens. */
export class Reporter {
  readonly #reported = new LimitedSet<string>(MAX_KINDS)

  /** Reports a problem of the set-up, which is shown without a `diag` logger too. */
  notify(code: NoticeCode, message: string, options: NotifyOptions & { readonly kind?: string } = {}): void {
    if (this.#reported.add(`${code}:${options.kind ?? options.subject ?? ''}`)) notify(code, message, options)
  }

  info(message: string): void {
    log('info', message)
  }

  warnOnce(kind: string, message: string): void {
    this.#logOnce('warn', kind, message)
  }

  errorOnce(kind: string, message: string): void {
    this.#logOnce('error', kind, message)
  }

  /** Runs code that must not throw into the application; `undefined` if it threw. */
  guard<Result>(what: string, run: () => Result): Result | undefined {
    try {
      return run()
    } catch (error) {
      this.threw(what, error)
      return undefined
    }
  }

  /** Runs a callback of the application in isolation. It may be async. What it throws or rejects with is reported. */
  callBack(what: string, run: () => unknown): void {
    callForeign(run, (error) => this.notify('SPANSCORE_CALLBACK', thrown(what, error), { subject: what }))
  }

  /** Awaits work that must not reject into the application. What it throws or rejects with is reported. */
  async settle(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.threw(what, error)
    }
  }

  /** Reports that something threw. The error's message is left out, because it may quote content of a run. */
  threw(what: string, error: unknown): void {
    this.errorOnce(`threw:${what}`, thrown(what, error))
  }

  #logOnce(level: NoticeLevel, kind: string, message: string): void {
    if (this.#reported.add(kind)) log(level, message)
  }
}

/** Names an error without its message. */
function thrown(what: string, error: unknown): string {
  return `${what} threw ${describeError(error)}. The application is not affected.`
}
