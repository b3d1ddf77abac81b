import type { OpenView, ViewOptions } from '../../../server/src/page/view.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { loadFromServer } from '../server-package.ts'
import { safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import type { PageSource } from './page-client.ts'

/** Runs of files or of a backend. */
export interface RunsToRead extends ViewOptions {
  /** Why there are none. */
  readonly whyNone: () => string
}

/** A turn of the event loop reads no longer than this, so that the tools can say how far it is. */
const TURN_MS = 20

/** Runs that are read into this process, once. */
export class ReadSource implements PageSource {
  readonly #find: () => RunsToRead
  #view: OpenView | undefined
  #isReading = false
  #trouble: string | undefined
  #count = 0

  constructor(find: () => RunsToRead) {
    this.#find = find
  }

  /** Begins to read, unless that has happened. */
  start(): void {
    if (this.#isReading || this.#view !== undefined) return
    this.#isReading = true
    void this.#read()
      .catch((error: unknown) => (this.#trouble = error instanceof Error ? error.message : String(error)))
      .finally(() => (this.#isReading = false))
  }

  async ask(path: string, query: URLSearchParams): Promise<unknown> {
    const trouble = this.#trouble
    this.#trouble = undefined
    this.start()
    if (trouble !== undefined)
      throw new UsageError(`The runs could not be read: ${safeLine(trouble)}. They are being read again; ask again.`)
    if (this.#view === undefined)
      throw new UsageError(`The runs are still being read: ${this.#count} by now. Ask again in some seconds.`)
    const answer = await this.#view.answer({ method: 'GET', path, query, body: undefined })
    const json = 'json' in answer ? answer.json : undefined
    if (isRecord(json) && typeof json['error'] === 'string') throw new UsageError(json['error'])
    return json
  }

  async #read(): Promise<void> {
    this.#count = 0
    const openView = await loadFromServer<(given: ViewOptions) => Promise<OpenView>>('openView')
    const { runs, files, whyNone } = this.#find()
    const view = await openView({ runs: this.#counted(runs), files })
    if (view.runs === 0) throw new UsageError(whyNone())
    this.#view = view
  }

  async *#counted(runs: AsyncIterable<StoredRun>): AsyncGenerator<StoredRun> {
    let sinceMs = performance.now()
    for await (const run of runs) {
      this.#count += 1
      yield run
      if (performance.now() - sinceMs < TURN_MS) continue
      await new Promise(setImmediate)
      sinceMs = performance.now()
    }
  }
}
