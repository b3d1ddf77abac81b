import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startProcess } from '../test/load/server-process.ts'
import { createSink } from '../test/sink.ts'
import type { Sink } from '../test/sink.ts'

/** A service in a process of its own, and a backend that keeps nothing. */
export class MeasuredService implements AsyncDisposable {
  readonly url: string
  readonly pid: number
  readonly #sink: Sink
  readonly #stop: () => Promise<void>

  private constructor(url: string, pid: number, sink: Sink, stop: () => Promise<void>) {
    this.url = url
    this.pid = pid
    this.#sink = sink
    this.#stop = stop
  }

  /** @param nodeOptions Options of Node.js itself, such as those of its profiler. */
  static async start(args: readonly string[], nodeOptions: readonly string[]): Promise<MeasuredService> {
    const folder = mkdtempSync(join(tmpdir(), 'spanscore-bench-'))
    const sink = await createSink({ keeps: false })
    const server = await startProcess(['--to', sink.url, '--data', folder, ...args], undefined, nodeOptions)
    return new MeasuredService(
      `http://127.0.0.1:${server.httpPort}/v1/traces`,
      server.child.pid ?? 0,
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
    await this.#sink[Symbol.asyncDispose]()
  }
}
