import { diag } from '@opentelemetry/api'
import type { DiagLogger } from '@opentelemetry/api'

import { show } from '../../scoring/format-value.ts'
import { isThenable } from '../../scoring/thenable.ts'

/** Kinds of trouble that are told apart; further ones are not reported. */
const MAX_KINDS = 200

/** Says what goes wrong at run time, each kind once: the counters say how often. */
export class Reporter {
  readonly #log: DiagLogger = diag.createComponentLogger({ namespace: 'spanscore' })
  readonly #reported = new Set<string>()

  info(message: string): void {
    this.#say('info', message)
  }

  warnOnce(kind: string, message: string): void {
    if (this.#isNew(kind)) this.#say('warn', message)
  }

  errorOnce(kind: string, message: string): void {
    if (this.#isNew(kind)) this.#say('error', message)
  }

  /** Runs code that must not throw into the application; `undefined` where it threw. */
  guard<Result>(what: string, run: () => Result): Result | undefined {
    try {
      return run()
    } catch (error) {
      this.errorOnce(`guard:${what}`, `${what} threw ${show(error, 300)}. The application is not affected.`)
      return undefined
    }
  }

  /** Runs a callback of the application's, which may be async: what it throws or rejects with goes no further. */
  callBack(what: string, run: () => unknown): void {
    const returned = this.guard(what, run)
    if (!isThenable(returned)) return
    this.guard(what, () => {
      void returned.then(undefined, (error: unknown) =>
        this.guard(what, () => {
          throw error
        }),
      )
    })
  }

  /** The logger is the application's; what it throws has nobody left to be told. */
  #say(level: 'info' | 'warn' | 'error', message: string): void {
    try {
      this.#log[level](message)
    } catch {}
  }

  #isNew(kind: string): boolean {
    if (this.#reported.has(kind) || this.#reported.size >= MAX_KINDS) return false
    this.#reported.add(kind)
    return true
  }
}
