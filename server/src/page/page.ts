import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import type { Conversation, Evaluation, SourceLog } from 'spanscore/engine'

import type { LogRecord } from '../log/span-log.ts'
import { pageMemory } from '../memory.ts'
import { readTokens } from '../read-given.ts'
import type { OfferedRun } from '../score/run-scorer.ts'
import type { ScoredUnit } from '../score/service-scorer.ts'
import type { ServiceObserver } from '../service-observer.ts'
import type { SettledSpans } from '../traces/held-traces.ts'
import { boundedRemark } from './store/remarks.ts'
import type { Forgotten, PageRuns, Person } from '../person.ts'
import type { AboutForgetting, ConversationCounts, FromPage, PageBatch, PageWorkerData, ToPage } from './messages.ts'

/** How long messages are collected before they are sent to the other thread. */
const GATHER_MS = 25

/** How often the page is informed that this thread runs. */
const ALIVE_MS = 1000

/** How long an ended page waits until it is started again. */
const RESTART_MS = 2000

/** Nothing waits longer than this for a slow page to store something. */
const STORED_WITHIN_MS = 30_000

const MEBIBYTE = 1024 * 1024

/** In place of an answer. */
const ENDED = Symbol('the page ended')

/** The page. It runs in a separate thread, and this sends it copies of all data. If that thread ends, it is started again. */
export class Page implements ServiceObserver, PageRuns {
  readonly #report: (line: string) => void
  readonly #audit: (line: string) => void
  readonly #memory = pageMemory()
  /** Questions to the thread without an answer. */
  readonly #asked = new Map<number, (value: unknown) => void>()
  #latestId = 0
  #forget: ((person: Person, isCount: boolean) => Promise<Forgotten>) | undefined
  #data: PageWorkerData
  #worker: Worker | undefined
  #trouble: string | undefined
  #items: ToPage[] = []
  #itemBytes = 0
  #waitingBytes = 0
  #left = 0
  /** How many batches were sent to the thread, and how many of them it has stored. */
  #sentBatches = 0
  #storedBatches = 0
  #waitingForStored: { readonly batch: number; readonly untilMs: number; readonly resolve: () => void }[] = []
  #timer: NodeJS.Timeout | undefined
  #restartTimer: NodeJS.Timeout | undefined
  readonly #aliveTimer: NodeJS.Timeout
  #isStopped = false
  #otlpUrl = ''
  #judges: () => readonly string[] = () => []
  #conversations = (): ConversationCounts => ({ openConversations: 0, waitingConversations: 0 })
  #onStopped: () => void = () => undefined

  /** Its token. */
  readonly token: PageToken

  private constructor(
    data: PageWorkerData,
    token: PageToken,
    report: (line: string) => void,
    audit: (line: string) => void,
  ) {
    this.#data = data
    this.token = token
    this.#report = report
    this.#audit = audit
    this.#aliveTimer = setInterval(() => {
      this.#post({ kind: 'alive', conversations: this.#conversations(), judges: this.#judges() })
      this.#wake()
    }, ALIVE_MS).unref()
  }

  /** @throws Error if the page cannot listen, or its database cannot be opened. */
  static async start(
    data: Omit<PageWorkerData, 'tokens'>,
    token: PageToken,
    report: (line: string) => void,
    audit: (line: string) => void,
  ): Promise<Page> {
    const page = new Page({ ...data, tokens: token.tokens }, token, report, audit)
    try {
      await page.#launch()
    } catch (error) {
      page.#end()
      throw error
    }
    return page
  }

  /** The address with the token, in a part that browsers do not send. */
  get url(): string {
    return withToken(this.place, this.#data.tokens[0])
  }

  /** The address without the token. */
  get place(): string {
    const { host, port, publicUrl } = this.#data.options
    return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  }

  /** Why there is no page now; `undefined` if there is one. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Sets where applications send their spans, which the page shows if there are no runs yet. */
  takesSpansAt(otlpUrl: string): void {
    this.#otlpUrl = otlpUrl
    this.#post({ kind: 'address', otlpUrl })
  }

  /** The configuration has changed to this text: the page tries its scorers from now on. */
  configured(configText: string, redact: readonly string[] | undefined): void {
    this.#data = { ...this.#data, configText, redact }
    this.#post({ kind: 'configuration', text: configText, redact })
  }

  /** The tokens of the page have changed to these. */
  replaceTokens(tokens: readonly string[]): void {
    this.#data = { ...this.#data, tokens }
    this.#post({ kind: 'tokens', tokens })
  }

  /** Sets what names the judges that give no scores now, and why. */
  namesJudgesBy(troubles: () => readonly string[]): void {
    this.#judges = troubles
  }

  /** Sets what counts the conversations that have no scores yet. */
  countsConversationsBy(count: () => ConversationCounts): void {
    this.#conversations = count
  }

  /** Sets what forgets a person when somebody asks the page to. */
  forgetsBy(forget: (person: Person, isCount: boolean) => Promise<Forgotten>): void {
    this.#forget = forget
  }

  find(person: Person): Promise<readonly string[]> {
    return this.#ask<readonly string[]>((id) => ({ kind: 'find', id, person }))
  }

  count(traceIds: readonly string[]): Promise<number> {
    return this.#ask<number>((id) => ({ kind: 'count', id, traceIds }))
  }

  async forget(traceIds: readonly string[]): Promise<void> {
    this.#send()
    await this.#ask((id) => ({ kind: 'forget', id, traceIds }))
  }

  /** @throws Error if the page does not run, or ends */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the thread answers each kind with its type
  #ask<Answer>(message: (id: number) => AboutForgetting): Promise<Answer> {
    if (this.#worker === undefined) throw new Error('The page does not run now; try again later.')
    const id = (this.#latestId += 1)
    return new Promise((resolve, reject) => {
      this.#asked.set(id, (value) => {
        this.#asked.delete(id)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
        if (value === ENDED) reject(new Error('The page ended; try again later.'))
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
        else resolve(value as Answer)
      })
      this.#post(message(id))
    })
  }

  async #answer(id: number, person: Person, isCount: boolean): Promise<void> {
    const answer = await this.#forget?.(person, isCount).catch((error: unknown) => ({
      error: error instanceof Error ? error.message : 'unknown error',
    }))
    this.#post({ kind: 'forgotten', id, answer: answer ?? { error: 'The service is starting; try again later.' } })
  }

  /** Starts the thread. @returns when the page listens */
  async #launch(): Promise<void> {
    // Tests run the sources, which Node.js loads directly.
    const entry = import.meta.url.endsWith('.ts') ? './page-worker.ts' : './page-worker.js'
    const worker = new Worker(new URL(entry, import.meta.url), {
      workerData: this.#data,
      name: 'spanscore-page',
      // A thread without a limit of its own shares that of the process, and ends the process at it.
      resourceLimits: {
        maxOldGenerationSizeMb: this.#memory.heapMiB,
        maxYoungGenerationSizeMb: this.#memory.heapMiB / 8,
      },
    })
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    let why = 'it was ended'
    worker.on('message', (message: FromPage) => {
      if (message.kind === 'listening') resolve(message.port)
      else if (message.kind === 'failed') {
        void worker.terminate()
        reject(new Error(message.message))
      } else if (message.kind === 'stored') {
        this.#waitingBytes -= message.bytes
        this.#storedBatches += message.batches
        this.#wake()
      } else if (message.kind === 'trouble') this.#report(message.message)
      else if (message.kind === 'audit') this.#audit(message.message)
      else if (message.kind === 'answer') this.#asked.get(message.id)?.(message.value)
      else if (message.kind === 'ask-to-forget') void this.#answer(message.id, message.person, message.isCount)
      else if (message.kind === 'stopped') this.#onStopped()
    })
    worker.once('error', (error: NodeJS.ErrnoException) => {
      // An error message may quote its subject.
      why = error.code ?? error.name
      reject(error)
    })
    worker.once('exit', () => {
      reject(new Error(why))
      if (this.#worker === worker) this.#ended(why)
    })
    const port = await promise
    this.#data = { ...this.#data, options: { ...this.#data.options, port } }
    this.#worker = worker
    this.#trouble = undefined
    this.#post({ kind: 'address', otlpUrl: this.#otlpUrl })
  }

  #ended(why: string): void {
    this.#worker = undefined
    this.#waitingBytes = 0
    this.#storedBatches = this.#sentBatches
    this.#wake()
    for (const end of this.#asked.values()) end(ENDED)
    if (this.#isStopped) return
    this.#trouble = `The page ended because of an error (${why}), and is started again; runs are scored as before.`
    this.#report(this.#trouble)
    this.#restartTimer = setTimeout(() => {
      this.#launch().catch((error: unknown) => this.#ended(error instanceof Error ? error.message : 'unknown'))
    }, RESTART_MS)
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

  scored(scored: ScoredUnit): void {
    const evaluation = toJson(scored.evaluation)
    if ('runId' in scored) {
      this.#add({ kind: 'score', runId: scored.runId, scoreKey: scored.key, evaluation })
      return
    }
    const { conversation, key } = scored
    this.#add({ kind: 'conversation-score', key, turns: turnsOf(conversation), evaluation })
  }

  /** Shows what a sender's event says of a span, however late it comes. */
  said(log: SourceLog): void {
    this.feedback(boundedRemark(log))
  }

  /** Shows what a user said by `POST /v1/feedback`. */
  feedback(log: SourceLog): void {
    this.#add({ kind: 'said', log }, JSON.stringify(log).length)
  }

  /** Resolves when everything up to now is on the disk, or there is no page. */
  stored(): Promise<void> {
    // What was not sent yet is in the next batch.
    const batch = this.#items.length > 0 ? this.#sentBatches + 1 : this.#sentBatches
    if (this.#worker === undefined || this.#isStopped || batch <= this.#storedBatches) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waitingForStored.push({ batch, untilMs: performance.now() + STORED_WITHIN_MS, resolve })
    })
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
    if (this.#worker === undefined) this.#onStopped()
    this.#post({ kind: 'stop' })
    await Promise.race([stopped, new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref())])
    this.#end()
    await this.#worker?.terminate()
  }

  #add(item: ToPage, bytes = 200): void {
    if (this.#isStopped) return
    const isFull = this.#waitingBytes + this.#itemBytes + bytes > this.#memory.waitingMiB * MEBIBYTE
    // A slow page must not affect the service.
    if (this.#worker === undefined || isFull) {
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
    this.#sentBatches += 1
    this.#items = []
    this.#itemBytes = 0
    this.#post(batch)
  }

  #post(batch: PageBatch): void {
    const payloads =
      batch.kind === 'batch' ? batch.items.flatMap((item) => (item.kind === 'record' ? [item.body.buffer] : [])) : []
    this.#worker?.postMessage(
      batch,
      payloads.filter((buffer) => buffer instanceof ArrayBuffer),
    )
  }

  #wake(): void {
    const nowMs = performance.now()
    const over = this.#waitingForStored.findIndex(
      ({ batch, untilMs }) => batch > this.#storedBatches && untilMs > nowMs,
    )
    for (const { resolve } of this.#waitingForStored.splice(0, over === -1 ? this.#waitingForStored.length : over))
      resolve()
  }

  #end(): void {
    this.#isStopped = true
    for (const { resolve } of this.#waitingForStored) resolve()
    this.#waitingForStored = []
    clearTimeout(this.#timer)
    clearTimeout(this.#restartTimer)
    clearInterval(this.#aliveTimer)
    this.#items = []
  }
}

/** The first run of each turn that a scorer saw. */
function turnsOf({ turns }: Conversation): readonly string[] {
  return turns.flatMap(({ runs }) => runs[0]?.id ?? [])
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

/** The token of a page. */
export interface PageToken {
  /** Two, while one replaces the other. */
  readonly tokens: readonly string[]
  /** The file that holds it. */
  readonly path: string
  /** True if this start made the token. Only this start prints it, because others may read the output. */
  readonly isNew: boolean
}

/** A token of the page has at least so many characters. */
export const MIN_PAGE_TOKEN = 32

/** The file that holds the token of a data folder. */
export function pageTokenPath(folder: string): string {
  return join(folder, 'page-token')
}

/** The file that holds the address at which the page was last served, without the token. */
export function pageAddressPath(folder: string): string {
  return join(folder, 'page-address')
}

/** The address with which a browser opens the page. */
export function withToken(place: string, token: string | undefined): string {
  return `${place.replace(/\/+$/, '')}/#token=${token}`
}

/**
 * The token of the page. It stays the same after a restart, so that links remain valid, and is in the folder that only its owner may read.
 */
export function pageToken(folder: string): PageToken {
  const path = pageTokenPath(folder)
  const isNew = !existsSync(path)
  if (isNew) writeFileSync(path, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
  return { tokens: readTokens('--data', path, MIN_PAGE_TOKEN), path, isNew }
}
