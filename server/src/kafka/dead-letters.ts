import type { Unreadable } from './assigned-partition.ts'
import { isProtocolError } from './answered-errors.ts'
import { FailingTime } from './failing-time.ts'
import type { RecordWriter } from './record-writer.ts'
import type { Refusals, Tried } from './refusals.ts'

/** What dead letters need. */
export interface DeadLettersParts {
  readonly writer: Pick<RecordWriter, 'anyPartition' | 'append'>
  readonly topic: string
  readonly refusals: Refusals
  readonly report: (message: string) => void
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

interface Waiting {
  readonly unreadable: Unreadable
  readonly isWanted: () => boolean
  readonly settle: (isPut: boolean) => void
}

const RETRY_MS = 1000

/** Maximum number of messages, and bytes, in one request. */
const TOGETHER = 100
const TOGETHER_BYTES = 512 * 1024

/** Maximum number of waiting messages, and bytes, before reading pauses. */
const MAX_WAITING = 1000
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/** Readiness fails if messages could not be moved for this long. */
const UNMOVED_MS = 10_000

/** Keeps unreadable messages on a separate topic, where people can look at them. */
export class DeadLetters {
  readonly #parts: DeadLettersParts
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  readonly #failing: FailingTime
  #isSending = false
  #together = TOGETHER

  constructor(parts: DeadLettersParts) {
    this.#parts = parts
    this.#failing = new FailingTime(parts.now)
  }

  /** Whether reading should pause. A sender with a wrong encoding writes only unreadable messages. */
  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES
  }

  /** For how many milliseconds messages could not be moved; 0 if they can. */
  get failingForMs(): number {
    return this.#failing.ms
  }

  /** Why messages cannot be moved; `undefined` if they can. */
  get unavailable(): string | undefined {
    const { failingForMs } = this
    if (failingForMs < UNMOVED_MS) return undefined
    const effect = this.isFull ? 'Nothing is read until they can' : 'They stay on Kafka'
    return `Messages that cannot be read could not be moved to ${this.#parts.topic} for ${Math.round(failingForMs / 1000)} s. ${effect}.`
  }

  /**
   * Resolves when the message is on the topic, or no longer wanted.
   *
   * @returns whether it is on the topic
   */
  put(unreadable: Unreadable, isWanted: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const { byteLength } = unreadable.record.value
      this.#waitingBytes += byteLength
      const settle = (isPut: boolean): void => {
        this.#waitingBytes -= byteLength
        resolve(isPut)
      }
      this.#waiting.push({ unreadable, isWanted, settle })
      if (!this.#isSending) void this.#sendAll()
    })
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    // Messages of the same moment share a request.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#batch()
      if (batch.length === 0) continue
      const outcome = await this.#send(batch)
      if (outcome === 'put') this.#waiting.splice(0, batch.length)
      if (outcome === 'failed') await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
    this.#failing.ended()
    this.#isSending = false
  }

  /** The first wanted messages; others are dropped. */
  #batch(): readonly Waiting[] {
    while (this.#waiting[0]?.isWanted() === false) this.#waiting.shift()?.settle(false)
    let bytes = 0
    let count = 0
    for (const { unreadable, isWanted } of this.#waiting.slice(0, this.#together)) {
      bytes += unreadable.record.value.byteLength
      if (!isWanted() || (count > 0 && bytes > TOGETHER_BYTES)) break
      count += 1
    }
    return this.#waiting.slice(0, count)
  }

  /** @returns `smaller` if the next batch must be smaller than this one */
  async #send(batch: readonly Waiting[]): Promise<'put' | 'failed' | 'smaller'> {
    try {
      await this.#produce(batch, (value) => value)
    } catch (error) {
      if (!isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) return this.#failed(error)
      if (batch.length > 1) {
        this.#together = 1
        return 'smaller'
      }
      // Place and reason are kept in any case; the message itself is still on its own topic.
      try {
        await this.#produce(batch, () => new Uint8Array())
      } catch (again) {
        return this.#failed(again)
      }
    }
    for (const { settle } of batch) settle(true)
    this.#failing.ended()
    this.#parts.refusals.succeeded(this.#tried)
    return 'put'
  }

  #failed(error: unknown): 'failed' {
    const { refusals, report } = this.#parts
    this.#failing.failed()
    report(
      `Messages that cannot be read could not be moved to the dead-letter topic: ${refusals.failed(this.#tried, error)}.`,
    )
    return 'failed'
  }

  get #tried(): Tried {
    return { right: 'WRITE', topics: [{ name: this.#parts.topic }] }
  }

  async #produce(batch: readonly Waiting[], toValue: (value: Uint8Array) => Uint8Array): Promise<void> {
    const { writer, topic: deadTopic } = this.#parts
    await writer.append(
      deadTopic,
      await writer.anyPartition(deadTopic),
      batch.map(({ unreadable: { topic, partition, record, reason } }) => ({
        value: toValue(record.value),
        headers: {
          'spanscore-topic': topic,
          'spanscore-partition': String(partition),
          'spanscore-offset': String(record.offset),
          'spanscore-reason': reason,
        },
      })),
    )
  }
}
