import type { Report } from './log-line.ts'

/** How often files are read again. Notifications of the system do not come from network and container file systems. */
const READ_EVERY_MS = 1000

/** A value that is read from files, and changes when they do. */
export interface FromFiles<Value> {
  readonly value: Value
  /** Calls a listener with each further value. */
  onChange(listener: (value: Value) => void): void
}

interface Watched {
  trouble: string | undefined
  check(): void
}

/** The files that options name, such as certificates and tokens: each is read again when it changes. One that cannot be used leaves the one before it in effect. */
export class GivenFiles {
  readonly #report: Report
  readonly #watched: Watched[] = []
  readonly #timer: NodeJS.Timeout

  constructor(report: Report) {
    this.#report = report
    this.#timer = setInterval(() => this.check(), READ_EVERY_MS).unref()
  }

  /** Which files are not in effect as they are now, and why. */
  get troubles(): readonly string[] {
    return this.#watched.flatMap(({ trouble }) => trouble ?? [])
  }

  /**
   * Reads a value from files, now and whenever they change.
   *
   * @param what the options that name the files
   * @param read reads the files and checks them; equal values are equal as JSON
   * @throws Error of `read`, the first time
   */
  read<Value>(what: string, read: () => Value): FromFiles<Value> {
    let value = read()
    let latest = JSON.stringify(value)
    let failures = 0
    const listeners: ((value: Value) => void)[] = []
    const watched: Watched = {
      trouble: undefined,
      check: () => {
        try {
          const next = read()
          const text = JSON.stringify(next)
          watched.trouble = undefined
          failures = 0
          if (text === latest) return
          latest = text
          value = next
          for (const listener of listeners) listener(next)
          this.#report(`${what}: the changed file is in effect.`)
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error)
          watched.trouble = `The changed file cannot be used, and the one before it stays in effect: ${why}`
          failures += 1
          // While somebody writes it, a file is incomplete for a moment.
          if (failures === 2) this.#report(watched.trouble, 'warn')
        }
      },
    }
    this.#watched.push(watched)
    return {
      get value() {
        return value
      },
      onChange: (listener) => void listeners.push(listener),
    }
  }

  /** Reads all files again. */
  check(): void {
    for (const each of this.#watched) each.check()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
