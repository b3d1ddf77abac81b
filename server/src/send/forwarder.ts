import { certificateTrouble } from 'spanscore/engine'

import { INSTANCE_HEADER } from '../receive/receive.ts'
import type { ForwardedRequest, SpanLog } from '../log/span-log.ts'
import { isOfContent, OPTIONS_OF_TO } from './acknowledged-exporter.ts'
import type { Destination } from './acknowledged-exporter.ts'
import { postForStatus } from './post-for-status.ts'
import type { TakenSignals } from './taken-signals.ts'

/** The counts of a forwarder. */
export interface ForwardCounts {
  forwarded: number
  /** Requests that the destination refused permanently. */
  refused: number
  failures: number
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000
const PAGE = 32

/** The sender chose encoding and compression. */
const UNSUPPORTED_TYPE = 415

/** Forwards requests unchanged and in order, from the log, so that acknowledged requests are forwarded even after a crash. */
export class Forwarder {
  readonly #log: SpanLog
  readonly #destination: Destination
  readonly #taken: TakenSignals
  readonly #report: (message: string) => void
  readonly counts: ForwardCounts = { forwarded: 0, refused: 0, failures: 0 }
  readonly #controller = new AbortController()
  readonly #done = new Set<number>()
  #isSending = false

  constructor(log: SpanLog, destination: Destination, taken: TakenSignals, report: (message: string) => void) {
    this.#log = log
    this.#destination = destination
    this.#taken = taken
    this.#report = report
  }

  /** Must be called when requests may wait. */
  wake(): void {
    if (!this.#isSending && !this.#controller.signal.aborted && this.#log.waitingToForward > 0) void this.#sendAll()
  }

  stop(): void {
    this.#controller.abort()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    const { signal } = this.#controller
    while (!signal.aborted) {
      const waiting = this.#log.nextToForward(PAGE + this.#done.size).filter(({ id }) => !this.#done.has(id))
      if (waiting.length === 0) break
      for (const each of waiting) {
        if (!(await this.#send(each))) break
        // The log deletes it with its next transaction.
        this.#done.add(each.id)
        this.#log.forwarded([each.id])
      }
      if (!signal.aborted && this.#done.size > 10 * PAGE) this.#forgetDone()
    }
    this.#isSending = false
  }

  #describe(error: unknown): string {
    const what = error instanceof Error ? error.message : 'no answer'
    return certificateTrouble(error, `--to ${this.#destination.url}`, OPTIONS_OF_TO) ?? what
  }

  #forgetDone(): void {
    const [oldest] = this.#log.nextToForward(1)
    for (const id of this.#done) if (oldest === undefined || id < oldest.id) this.#done.delete(id)
  }

  /** @returns false if the service stops before there is an answer */
  async #send(each: ForwardedRequest): Promise<boolean> {
    let pauseMs = FIRST_PAUSE_MS
    const { signal } = this.#controller
    while (!signal.aborted) {
      const outcome = await post(this.#destination, each, signal).catch((error: unknown) => this.#describe(error))
      const status = typeof outcome === 'number' ? outcome : undefined
      if (status !== undefined && status >= 200 && status < 300) {
        this.#taken.accepted(each.signal)
        this.counts.forwarded += 1
        return true
      }
      if (signal.aborted) return false
      this.#report(`A request could not be forwarded: ${status === undefined ? outcome : `HTTP ${status}`}.`)
      if (
        this.#taken.lacks(each.signal, status) ||
        (status !== undefined && (isOfContent(status) || status === UNSUPPORTED_TYPE))
      ) {
        this.counts.refused += 1
        return true
      }
      this.counts.failures += 1
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }
    return false
  }
}

/** @returns the status of the answer */
function post(
  { url, headers, agent, timeoutMs }: Destination,
  { signal: kind, contentType, contentEncoding, body, passed }: ForwardedRequest,
  signal: AbortSignal,
): Promise<number> {
  return postForStatus(`${url.replace(/\/$/, '')}/v1/${kind}`, body, {
    agent,
    timeoutMs,
    signal,
    headers: {
      ...headers,
      ...(passed !== '' && { [INSTANCE_HEADER]: `${passed},${headers[INSTANCE_HEADER] ?? ''}` }),
      'content-type': contentType,
      ...(contentEncoding !== '' && { 'content-encoding': contentEncoding }),
    },
  })
}
