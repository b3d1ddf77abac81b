import { readGiven } from '../read-given.ts'
import { loadServiceConfig } from './load-config.ts'
import type { LoadedConfig } from './load-config.ts'

/** How often the file is read. Notifications of the system do not come from network and container file systems. */
const READ_EVERY_MS = 1000

/** What a watcher needs. */
export interface ConfigWatcherParts {
  /** The path of a file of YAML or JSON. */
  readonly path: string
  /** The text of the configuration that is in effect. */
  readonly text: string
  /** Puts a configuration into effect, or throws. */
  readonly take: (config: LoadedConfig) => void
  readonly report: (line: string) => void
}

/** Reads the configuration file again whenever it changes. A file that cannot be used leaves the configuration before it in effect. */
export class ConfigWatcher {
  readonly #parts: ConfigWatcherParts
  /** The text in effect. */
  #text: string
  /** What was read last, and what was read last of all that was taken or refused. */
  #latest: string | Error
  #judged: string | Error
  #trouble: string | undefined
  readonly #timer: NodeJS.Timeout

  constructor(parts: ConfigWatcherParts) {
    this.#parts = parts
    this.#text = parts.text
    this.#latest = parts.text
    this.#judged = parts.text
    this.#timer = setInterval(() => this.check(), READ_EVERY_MS).unref()
  }

  /** Why the file as it is now is not in effect; `undefined` if it is. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Reads the file, and judges it if it has not changed since the last check: editors write a file in several steps. */
  check(): void {
    const read = readAgain(this.#parts.path)
    const isSteady = isSame(read, this.#latest)
    this.#latest = read
    if (!isSteady || isSame(read, this.#judged)) return
    this.#judged = read
    try {
      if (read instanceof Error) throw read
      if (read !== this.#text) this.#parts.take(loadServiceConfig(this.#parts.path, this.#parts.report, read))
      this.#text = read
      this.#trouble = undefined
    } catch (error) {
      this.#trouble = `The changed configuration cannot be used, and the one before it stays in effect: ${toError(error).message}`
      this.#parts.report(this.#trouble)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

function readAgain(path: string): string | Error {
  try {
    return readGiven('--config', path)
  } catch (error) {
    return toError(error)
  }
}

function isSame(left: string | Error, right: string | Error): boolean {
  return left instanceof Error && right instanceof Error ? left.message === right.message : left === right
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
