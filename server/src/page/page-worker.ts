import { parentPort, resourceLimits, workerData } from 'node:worker_threads'

import { useProxies } from 'spanscore/engine'
import type { WorkSteps } from 'spanscore/engine'

import { listen } from '../listen.ts'
import { RequestReader } from '../receive/read-request.ts'
import { RefusedTokens } from '../receive/refused-tokens.ts'
import { createApi } from './api.ts'
import { readAssets } from './assets.ts'
import { Ingest, ingestLimits } from './ingest.ts'
import type { ConversationCounts, FromPage, PageBatch, PageWorkerData, ToPage } from './messages.ts'
import { OverviewReader } from './overview.ts'
import { PageAudit } from './page-audit.ts'
import { createPageServer } from './page-server.ts'
import { isDamaged, openPageDatabase, setAside } from './store/page-database.ts'
import type { Forgotten, Person } from '../person.ts'
import { countRuns, forgetTraces, tracesOfPerson } from './store/forget-person.ts'
import { Forgetting } from './store/forgetting.ts'
import { HourCounter } from './store/hours.ts'
import { Trials } from './trials.ts'

/** Maximum milliseconds of writing before requests of the page are answered. */
const SLICE_MS = 8

/** If the receiving thread, which reports every second, is silent for this long, it is stuck. */
const STUCK_MS = 10_000

/** How often the hours that changed are counted again, so that they are not all counted when somebody looks. */
const COUNT_EVERY_MS = 5000

/** How often old runs are deleted. */
const RETENTION_EVERY_MS = 30_000

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the page starts this thread with it
await main(workerData as PageWorkerData).catch((error: unknown) => {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
})

function nowMs(): number {
  return Date.now()
}

async function main({
  options,
  folder,
  tokens: given,
  limits,
  configPath,
  configText,
  redact,
}: PageWorkerData): Promise<void> {
  useProxies(process.env)
  const assets = readAssets()
  const report = (message: string) => answer({ kind: 'trouble', message })
  const database = openPageDatabase(folder, report)
  // People look at all spans of a run's trace, including those of a database client.
  const reader = await RequestReader.create(limits, { skipsOrdinary: false })
  const ingest = new Ingest(
    database,
    reader,
    nowMs,
    ingestLimits(resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY),
  )
  ingest.redactBy(redact)
  const waiting: { readonly items: readonly ToPage[]; readonly bytes: number; next: number }[] = []
  let left = 0
  let tokens = given
  let otlpUrl = ''
  let judges: readonly string[] = []
  let conversations: ConversationCounts = { openConversations: 0, waitingConversations: 0 }
  let heardMs = performance.now()
  let isWriting = false
  let isForgetting = false
  const forgetting = new Forgetting(database)

  let taking: WorkSteps | undefined
  /** Does a step of taking in an item. Returns whether it was the last one. */
  const take = (item: ToPage): boolean => {
    taking ??= ingest.takeInSteps(item)
    try {
      if (taking.next().done !== true) return false
    } catch (error) {
      // An error message may quote its subject.
      report(`The page could not take in part of a run (${error instanceof Error ? error.name : 'unknown error'}).`)
    }
    taking = undefined
    return true
  }
  const writeSlice = (): void => {
    const endMs = performance.now() + SLICE_MS
    let batches = 0
    let bytes = 0
    database.exec('BEGIN')
    for (let batch = waiting[0]; batch !== undefined && performance.now() < endMs; batch = waiting[0]) {
      const item = batch.items[batch.next]
      if (item !== undefined && !take(item)) continue
      batch.next += 1
      if (batch.next < batch.items.length) continue
      waiting.shift()
      batches += 1
      bytes += batch.bytes
    }
    try {
      database.exec('COMMIT')
    } finally {
      // What cannot be written is left out, so that scoring never waits for the page's disk.
      if (batches > 0) answer({ kind: 'stored', batches, bytes })
    }
  }
  const writeAll = (): void => {
    try {
      writeSlice()
    } catch (error) {
      failed(error)
    }
    isWriting = waiting.length > 0
    forget()
    // Between two slices, the event loop answers waiting requests.
    if (isWriting) setImmediate(writeAll)
  }
  /** The thread ends if the database is damaged, and begins a new one when it is started again. */
  const failed = (error: unknown): void => {
    report(`The page could not store runs: ${error instanceof Error ? error.message : 'unknown error'}.`)
    if (database.isTransaction) database.exec('ROLLBACK')
    if (!isDamaged(error)) return
    database.close()
    report(setAside(folder))
    throw error
  }
  /** Does one step if some are due. Steps follow each other while nothing is written, and slices otherwise. */
  const forget = (): void => {
    if (!isForgetting) return
    try {
      isForgetting = forgetting.step(options.retention, nowMs())
    } catch (error) {
      isForgetting = false
      failed(error)
    }
    if (isForgetting && !isWriting) setImmediate(forget)
  }
  let latestId = 0
  const asked = new Map<number, (answer: Forgotten | { readonly error: string }) => void>()
  const askToForget = (person: Person, isCount: boolean) =>
    new Promise<Forgotten | { readonly error: string }>((resolve) => {
      const id = (latestId += 1)
      asked.set(id, resolve)
      answer({ kind: 'ask-to-forget', id, person, isCount })
    })
  /** Deletes traces, and then their words in the text index. Resolves when no file has any of it. */
  const forgetAll = async (traceIds: readonly string[]): Promise<void> => {
    while (waiting.length > 0) writeSlice()
    ingest.forget(traceIds)
    database.exec('BEGIN')
    forgetTraces(database, traceIds)
    database.exec('COMMIT')
    forgetting.soon()
    while (forgetting.step(options.retention, nowMs())) await new Promise((resolve) => setImmediate(resolve))
  }
  const hours = new HourCounter(database)
  const counting = setInterval(() => {
    hours.count().catch(failed)
  }, COUNT_EVERY_MS)
  const trials = new Trials(configPath, report, configText)
  const refused = new RefusedTokens('The page', report)
  const server = createPageServer(
    options,
    () => tokens,
    assets,
    createApi({
      database,
      hours,
      runs: ingest,
      ingest,
      overview: new OverviewReader(database, nowMs),
      trials,
      about: () => ({
        left: left + ingest.dropped,
        otlpUrl,
        judges,
        ...conversations,
        jaegerUrl: options.jaegerUrl,
        retention: options.retention,
      }),
      nowMs,
      random: () => Math.random(),
      forget: askToForget,
      isStuck: () => performance.now() - heardMs > STUCK_MS,
    }),
    (address) => refused.add(address),
    options.userHeader === undefined
      ? undefined
      : new PageAudit(options.userHeader, (message) => answer({ kind: 'audit', message }), nowMs),
  )
  const retention = setInterval(() => {
    const wasForgetting = isForgetting
    isForgetting = true
    if (!isWriting && !wasForgetting) forget()
  }, RETENTION_EVERY_MS)
  const stop = (): void => {
    clearInterval(retention)
    clearInterval(counting)
    while (waiting.length > 0) writeSlice()
    server.close()
    server.closeAllConnections()
    database.close()
    answer({ kind: 'stopped' })
  }
  parentPort?.on('message', (batch: PageBatch) => {
    heardMs = performance.now()
    if (batch.kind === 'alive') ({ conversations, judges } = batch)
    else if (batch.kind === 'batch') {
      left = batch.left
      waiting.push({ items: batch.items, bytes: batch.bytes, next: 0 })
      if (!isWriting) writeAll()
    } else if (batch.kind === 'address') otlpUrl = batch.otlpUrl
    else if (batch.kind === 'find')
      answer({ kind: 'answer', id: batch.id, value: tracesOfPerson(database, batch.person) })
    else if (batch.kind === 'count')
      answer({ kind: 'answer', id: batch.id, value: countRuns(database, batch.traceIds) })
    else if (batch.kind === 'forget')
      void forgetAll(batch.traceIds).finally(() => answer({ kind: 'answer', id: batch.id, value: true }))
    else if (batch.kind === 'forgotten') {
      asked.get(batch.id)?.(batch.answer)
      asked.delete(batch.id)
    } else if (batch.kind === 'tokens') tokens = batch.tokens
    else if (batch.kind === 'configuration') {
      trials.change(batch.text)
      ingest.redactBy(batch.redact)
    } else stop()
  })
  answer({ kind: 'listening', port: await listen(server, options.host, options.port, '--page-port') })
}

function answer(message: FromPage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}
