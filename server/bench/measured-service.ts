import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { startProcess } from '../test/kills/server-process.ts'
import { createSink } from '../test/sink.ts'
import type { Sink } from '../test/sink.ts'

const HEAP_FILE = 'heap.json'

/** A service in a process of its own, and a backend that keeps nothing. */
export class MeasuredService implements AsyncDisposable {
  readonly url: string
  readonly pid: number
  readonly #folder: string
  readonly #sink: Sink
  readonly #stop: () => Promise<void>

  private constructor(url: string, pid: number, folder: string, sink: Sink, stop: () => Promise<void>) {
    this.url = url
    this.pid = pid
    this.#folder = folder
    this.#sink = sink
    this.#stop = stop
  }

  /** @param nodeOptions Options of Node.js itself, such as those of its profiler. */
  static async start(args: readonly string[], nodeOptions: readonly string[]): Promise<MeasuredService> {
    const folder = mkdtempSync(join(tmpdir(), 'spanscore-bench-'))
    const sink = await createSink({ keeps: false })
    const reporter = new URL('report-heap.ts', import.meta.url)
    reporter.searchParams.set('to', join(folder, HEAP_FILE))
    const server = await startProcess(['--to', sink.url, '--data', folder, ...args], undefined, [
      '--expose-gc',
      `--import=${reporter.href}`,
      ...nodeOptions,
    ])
    return new MeasuredService(
      `http://127.0.0.1:${server.httpPort}/v1/traces`,
      server.child.pid ?? 0,
      folder,
      sink,
      async () => {
        await server.stop()
        rmSync(folder, { recursive: true, force: true })
      },
    )
  }

  /** Resolves when no score has come for a while. */
  async quiet(ms = 5000): Promise<void> {
    let count = -1
    while (this.#sink.scoreRequests !== count) {
      count = this.#sink.scoreRequests
      await new Promise((resolve) => setTimeout(resolve, ms))
    }
  }

  /** Resolves when everything that was sent has left the log, because it was scored, delivered, and waited for late spans. */
  async drained(): Promise<void> {
    using database = new DatabaseSync(join(this.#folder, 'spans.db'), { readOnly: true })
    const count = database.prepare('SELECT count(*) AS count FROM records')
    while (count.get()?.['count'] !== 0) await new Promise((resolve) => setTimeout(resolve, 1000))
  }

  /** The heap that is in use once all garbage was collected, in MiB. */
  async heapMiB(): Promise<number> {
    const file = join(this.#folder, HEAP_FILE)
    rmSync(file, { force: true })
    process.kill(this.pid, 'SIGUSR2')
    let text = ''
    while (!text.endsWith('}')) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    }
    const { heapUsed }: NodeJS.MemoryUsage = JSON.parse(text)
    return Math.round(heapUsed / 1024 ** 2)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
    await this.#sink[Symbol.asyncDispose]()
  }
}
