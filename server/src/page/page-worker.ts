import { parentPort, workerData } from 'node:worker_threads'

import { listen } from '../listen.ts'
import { RequestReader } from '../receive/read-request.ts'
import { createApi } from './api.ts'
import { readAssets } from './assets.ts'
import { Ingest } from './ingest.ts'
import type { FromPage, PageBatch, PageWorkerData, ToPage } from './messages.ts'
import { OverviewReader } from './overview.ts'
import { createPageServer } from './page-server.ts'
import { openPageDatabase } from './store/page-database.ts'
import { Forgetting } from './store/forgetting.ts'
import { Trials } from './trials.ts'

/** Maximum milliseconds of writing before requests of the page are answered. */
const SLICE_MS = 8

/** If the receiving thread, which reports every second, is silent for this long, it is stuck. */
const STUCK_MS = 10_000

/** How often old runs are deleted. */
const RETENTION_EVERY_MS = 30_000

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the page starts this thread with it
await main(workerData as PageWorkerData).catch((error: unknown) => {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
})

function nowMs(): number {
  return Date.now()
}

async function main({ options, folder, token, limits, configPath, configText }: PageWorkerData): Promise<void> {
  const assets = readAssets()
  const database = openPageDatabase(folder)
  // People look at all spans of a run's trace, including those of a database client.
  const reader = await RequestReader.create(limits, { skipsOrdinary: false })
  const report = (message: string) => answer({ kind: 'trouble', message })
  const ingest = new Ingest(database, reader, nowMs)
  const waiting: { readonly items: readonly ToPage[]; readonly bytes: number; next: number }[] = []
  let left = 0
  let otlpUrl = ''
  let heardMs = performance.now()
  let isWriting = false

  const take = (item: ToPage): void => {
    try {
      ingest.take(item)
    } catch (error) {
      // An error message may quote its subject.
      report(`The page could not take in part of a run (${error instanceof Error ? error.name : 'unknown error'}).`)
    }
  }
  const writeSlice = (): void => {
    const endMs = performance.now() + SLICE_MS
    database.exec('BEGIN')
    for (let batch = waiting[0]; batch !== undefined && performance.now() < endMs; batch = waiting[0]) {
      const item = batch.items[batch.next++]
      if (item !== undefined) take(item)
      if (batch.next < batch.items.length) continue
      waiting.shift()
      answer({ kind: 'taken', bytes: batch.bytes })
    }
    database.exec('COMMIT')
  }
  const writeAll = (): void => {
    try {
      writeSlice()
    } catch (error) {
      report(`The page could not store runs: ${error instanceof Error ? error.message : 'unknown error'}.`)
      if (database.isTransaction) database.exec('ROLLBACK')
    }
    isWriting = waiting.length > 0
    // Between two slices, the event loop answers waiting requests.
    if (isWriting) setImmediate(writeAll)
  }
  const trials = new Trials(configPath, report, configText)
  const server = createPageServer(
    options,
    token,
    assets,
    createApi({
      database,
      runs: ingest,
      ingest,
      overview: new OverviewReader(database, nowMs),
      trials,
      about: () => ({
        left: left + ingest.dropped,
        otlpUrl,
        jaegerUrl: options.jaegerUrl,
        retention: options.retention,
      }),
      nowMs,
      random: () => Math.random(),
      isStuck: () => performance.now() - heardMs > STUCK_MS,
    }),
  )
  const forgetting = new Forgetting(database)
  const retention = setInterval(() => {
    if (isWriting) return
    const step = (): void => {
      if (!isWriting && forgetting.step(options.retention, nowMs())) setImmediate(step)
    }
    step()
  }, RETENTION_EVERY_MS)
  parentPort?.on('message', (batch: PageBatch) => {
    heardMs = performance.now()
    if (batch.kind === 'alive') return
    if (batch.kind === 'batch') {
      left = batch.left
      waiting.push({ items: batch.items, bytes: batch.bytes, next: 0 })
      if (!isWriting) writeAll()
      return
    }
    if (batch.kind === 'address') {
      otlpUrl = batch.otlpUrl
      return
    }
    if (batch.kind === 'configuration') {
      trials.change(batch.text)
      return
    }
    clearInterval(retention)
    while (waiting.length > 0) writeSlice()
    server.close()
    server.closeAllConnections()
    database.close()
    answer({ kind: 'stopped' })
  })
  answer({ kind: 'listening', port: await listen(server, options.host, options.port, '--page-port') })
}

function answer(message: FromPage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}
