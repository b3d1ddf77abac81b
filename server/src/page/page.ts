import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import type { Evaluation } from 'spanscore/engine'

import type { LogRecord } from '../log/span-log.ts'
import type { OfferedRun } from '../score/run-scorer.ts'
import type { ScoreIds } from '../score/score-ids.ts'
import type { ServiceObserver } from '../service-observer.ts'
import type { SettledSpans } from '../traces/trace-buffer.ts'
import type { FromPage, PageBatch, PageWorkerData, ToPage } from './messages.ts'

/** How long messages are collected before they are sent to the other thread. */
const GATHER_MS = 25

/** How often the page is informed that this thread runs. */
const ALIVE_MS = 1000

/** Maximum bytes of spans on their way to the page. Above it, they are dropped: a slow page must not affect the service. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024

/** The page. It runs in a separate thread, and this sends it copies of all data. */
export class Page implements ServiceObserver {
  readonly #worker: Worker
  #items: ToPage[] = []
  #itemBytes = 0
  #waitingBytes = 0
  #left = 0
  #timer: NodeJS.Timeout | undefined
  readonly #aliveTimer: NodeJS.Timeout
  #isStopped = false
  #onStopped: () => void = () => undefined
  readonly #data: PageWorkerData
  #port = 0

  private constructor(worker: Worker, data: PageWorkerData) {
    this.#worker = worker
    this.#data = data
    this.#aliveTimer = setInterval(() => this.#post({ kind: 'alive' }), ALIVE_MS).unref()
  }

  /** The address with the token, in a part that browsers do not send. */
  get url(): string {
    const { host } = this.#data.options
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.#port}/#token=${this.#data.token}`
  }

  /** Sets where applications send their spans, which the page shows if there are no runs yet. */
  takesSpansAt(otlpUrl: string): void {
    this.#post({ kind: 'address', otlpUrl })
  }

  /** @throws Error if the page cannot listen, or its database cannot be opened. */
  static async start(data: PageWorkerData, report: (line: string) => void): Promise<Page> {
    // Tests run the sources, which Node.js loads directly.
    const entry = import.meta.url.endsWith('.ts') ? './page-worker.ts' : './page-worker.js'
    const worker = new Worker(new URL(entry, import.meta.url), { workerData: data, name: 'spanscore-page' })
    const page = new Page(worker, data)
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: FromPage) => {
        if (message.kind === 'listening') {
          page.#port = message.port
          resolve()
        } else if (message.kind === 'failed') {
          void worker.terminate()
          reject(new Error(message.message))
        } else if (message.kind === 'taken') page.#waitingBytes -= message.bytes
        else if (message.kind === 'trouble') report(message.message)
        else page.#onStopped()
      })
      worker.once('error', (error) => {
        page.#end()
        report(`The page ended because of an error (${error.name}); spans are scored as before.`)
        reject(error)
      })
      worker.once('exit', () => page.#end())
    })
    return page
  }

  arrived(records: readonly LogRecord[]): void {
    for (const { signal, encoding, contentEncoding, body } of records) {
      // A view of a larger buffer would transfer all of it.
      this.#add({ kind: 'record', signal, encoding, contentEncoding, body: new Uint8Array(body) }, body.byteLength)
    }
  }

  settled({ traceId, spans, lacksSpans }: SettledSpans, offers: readonly OfferedRun[]): void {
    this.#add({
      kind: 'settled',
      traceId,
      spanIds: spans.map(({ spanId }) => spanId),
      lacksSpans,
      revisions: Object.fromEntries(offers.map(({ run, spans: { count } }) => [run.id, count])),
    })
  }

  scored(runId: string, { key }: ScoreIds, evaluation: Evaluation): void {
    this.#add({ kind: 'score', runId, scoreKey: key, evaluation: toJson(evaluation) })
  }

  finished(traceId: string, spanIds: readonly string[]): void {
    this.#add({ kind: 'finished', traceId, spanIds })
  }

  /** Stores pending data, and ends the thread. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#isStopped) return
    this.#send()
    const stopped = new Promise<void>((resolve) => {
      this.#onStopped = resolve
    })
    this.#post({ kind: 'stop' })
    await Promise.race([stopped, new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref())])
    this.#end()
    await this.#worker.terminate()
  }

  #add(item: ToPage, bytes = 200): void {
    if (this.#isStopped) return
    if (this.#waitingBytes + this.#itemBytes + bytes > MAX_WAITING_BYTES) {
      this.#left += 1
      return
    }
    this.#items.push(item)
    this.#itemBytes += bytes
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS)
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#items.length === 0 || this.#isStopped) return
    const batch: PageBatch = { kind: 'batch', items: this.#items, bytes: this.#itemBytes, left: this.#left }
    this.#waitingBytes += this.#itemBytes
    this.#items = []
    this.#itemBytes = 0
    this.#post(batch)
  }

  #post(batch: PageBatch): void {
    const payloads =
      batch.kind === 'batch' ? batch.items.flatMap((item) => (item.kind === 'record' ? [item.body.buffer] : [])) : []
    this.#worker.postMessage(
      batch,
      payloads.filter((buffer) => buffer instanceof ArrayBuffer),
    )
  }

  #end(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearInterval(this.#aliveTimer)
    this.#items = []
  }
}

/** Details come from scorers, and may contain anything. */
function toJson(evaluation: Evaluation): string {
  try {
    return JSON.stringify(evaluation)
  } catch {
    const { score } = evaluation
    if (score.status !== 'scored') return JSON.stringify(evaluation)
    const { details: _details, ...rest } = score
    return JSON.stringify({ ...evaluation, score: rest })
  }
}

/**
 * The token of the page. It stays the same after a restart, so that links remain valid, and is in the folder that only its owner may read.
 */
export function pageToken(folder: string): string {
  const path = join(folder, 'page-token')
  if (existsSync(path)) {
    const known = readFileSync(path, 'utf8').trim()
    if (/^[\w-]{32,}$/.test(known)) return known
  }
  const token = randomBytes(24).toString('base64url')
  writeFileSync(path, `${token}\n`, { mode: 0o600 })
  return token
}
