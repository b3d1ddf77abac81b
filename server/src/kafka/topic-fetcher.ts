import type { Cluster } from './cluster.ts'
import { askForOffsets, listOffsets } from './end-offsets.ts'
import type { PartitionOffset } from './end-offsets.ts'
import { fetchFrom, isOutOfRange } from './fetch-request.ts'
import type { KafkaClient } from './kafka-client.ts'
import { COMMIT_HEADER, recordsOf } from './records-of.ts'
import type { FetchedRecord } from './records-of.ts'
import type { Refusals, Tried } from './refusals.ts'

/** A partition of a topic to read, and the receiver of its records. */
export interface FetchSource {
  readonly topic: string
  readonly partition: number
  /** The offset to read next. */
  readonly next: number
  /** Whether more can be accepted now. */
  readonly isReady: boolean
  /**
   * @param next the offset to read next, after any that the broker left out
   * @param end the offset after the partition's last record
   */
  take(records: readonly FetchedRecord[], next: number, end: number): void
  /** The offset to read next is no longer on the partition. Called with the first one that is. */
  lost(first: number): void
  /** The topic was deleted and created again, or ends before the offset to read next. Called with its first offset. */
  recreated(first: number): void
}

/** What a fetcher needs. */
export interface TopicFetcherParts {
  readonly client: KafkaClient
  readonly topics: readonly string[]
  readonly sources: () => readonly FetchSource[]
  readonly refusals: Refusals
  readonly report: (message: string) => void
  /** Called with whether the times of a topic's latest batch are the broker's. */
  readonly onTimes?: ((topic: string, isAppendTime: boolean) => void) | undefined
}

/** How long a broker may wait to fill its response. Many small responses cost both sides more than the records. */
const MAX_WAIT_MS = 250
const ENOUGH_BYTES = 64 * 1024
const PAUSE_MS = 100
const RETRY_MS = 500

/** Reads the records of partitions from their leaders, with one request per broker at a time, until it is stopped. */
export class TopicFetcher {
  readonly #parts: TopicFetcherParts
  readonly #loops = new Map<number, Promise<void>>()
  /** The brokers' id of each topic. */
  readonly #ids = new Map<string, string>()
  /** Partitions of topics that were created again, whose first offset is not known yet. They are not read until then. */
  readonly #replaced = new Set<string>()
  #metadata: Cluster | undefined
  #isStopped = false

  constructor(parts: TopicFetcherParts) {
    this.#parts = parts
  }

  /** Reads until `stop`. */
  async run(): Promise<void> {
    const { report } = this.#parts
    while (!this.#isStopped) {
      try {
        await this.#look()
      } catch (error) {
        this.#metadata = undefined
        report(`The brokers could not be asked where to read: ${this.#failed(error)}.`)
      }
      await pause(RETRY_MS)
    }
    await Promise.all(this.#loops.values())
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Finds the brokers, and reads from each of them. */
  async #look(): Promise<void> {
    const { client, topics } = this.#parts
    const metadata = await client.metadata(topics, this.#metadata === undefined)
    await this.#startAgain(metadata)
    this.#metadata = metadata
    for (const node of metadata.brokers.keys()) {
      if (this.#loops.has(node)) continue
      this.#loops.set(
        node,
        this.#read(node).finally(() => this.#loops.delete(node)),
      )
    }
  }

  /** A topic that was deleted and created again has another id; earlier offsets mean nothing in it. */
  async #startAgain({ topics }: Cluster): Promise<void> {
    const { client, sources } = this.#parts
    const all = sources()
    for (const [topic, { id }] of topics) {
      const isReplaced = (this.#ids.get(topic) ?? id) !== id
      this.#ids.set(topic, id)
      if (isReplaced) for (const source of all) if (source.topic === topic) this.#replaced.add(nameOf(source))
    }
    // A partition that another process reads now is its concern.
    for (const name of this.#replaced) if (!all.some((each) => nameOf(each) === name)) this.#replaced.delete(name)
    const replaced = all.filter((source) => this.#replaced.has(nameOf(source)))
    if (replaced.length === 0) return
    const answers = await Promise.allSettled(await askForOffsets(client, 'first', replaced))
    const firsts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    for (const source of replaced) {
      const first = firsts.find((each) => nameOf(each) === nameOf(source))
      if (first === undefined) continue
      this.#replaced.delete(nameOf(source))
      if (source.next > first.offset) source.recreated(first.offset)
    }
  }

  async #read(node: number): Promise<void> {
    while (!this.#isStopped && this.#metadata?.brokers.has(node) === true) {
      const sources = this.#parts
        .sources()
        .filter((source) => this.#isReadable(source) && this.#leaderOf(source) === node)
      if (sources.length === 0) {
        await pause(PAUSE_MS)
        continue
      }
      try {
        await this.#fetch(node, sources)
        this.#succeeded(this.#topics(sources))
      } catch (error) {
        this.#parts.report(`Records could not be read from broker ${node}: ${this.#failed(error)}.`)
        this.#metadata = undefined
        await pause(RETRY_MS)
        return
      }
    }
  }

  #topics(sources?: readonly FetchSource[]): Tried['topics'] {
    const names = sources === undefined ? this.#parts.topics : new Set(sources.map(({ topic }) => topic))
    return [...names].map((name) => ({ name, id: this.#ids.get(name) }))
  }

  #succeeded(topics: Tried['topics']): void {
    this.#parts.refusals.succeeded({ right: 'READ', topics })
  }

  /** @returns what to report */
  #failed(error: unknown): string {
    return this.#parts.refusals.failed({ right: 'READ', topics: this.#topics() }, error)
  }

  #isReadable(source: FetchSource): boolean {
    return source.isReady && !this.#replaced.has(nameOf(source))
  }

  #leaderOf({ topic, partition }: FetchSource): number | undefined {
    return this.#metadata?.topics.get(topic)?.partitions[partition]?.leader
  }

  async #fetch(node: number, sources: readonly FetchSource[]): Promise<void> {
    const byTopic = Map.groupBy(sources, ({ topic }) => topic)
    const topics = [...byTopic].map(([topic, ofTopic]) => ({
      topicId: this.#metadata?.topics.get(topic)?.id ?? '',
      partitions: ofTopic.map(({ partition, next }) => ({ partition, next })),
    }))
    const asked = new Map(sources.map((source) => [source, source.next]))
    let answer
    try {
      answer = await fetchFrom(this.#parts.client, node, topics, { maxWaitMs: MAX_WAIT_MS, enoughBytes: ENOUGH_BYTES })
    } catch (error) {
      if (!isOutOfRange(error)) throw error
      await this.#findAgain(sources)
      return
    }
    for (const { topicId, partitions } of answer.responses) {
      for (const { partitionIndex, records, highWatermark } of partitions) {
        const source = sources.find(
          ({ topic, partition }) => partition === partitionIndex && this.#metadata?.topics.get(topic)?.id === topicId,
        )
        if (source === undefined) continue
        const from = asked.get(source)
        // Meanwhile another worker may have had the partition.
        if (from !== source.next) continue
        const { read, next, isAppendTime } = recordsOf(records ?? [], from)
        if (isAppendTime !== undefined) this.#parts.onTimes?.(source.topic, isAppendTime)
        // A part of a commit is no message.
        const messages = read.filter(({ headers }) => !headers.has(COMMIT_HEADER))
        source.take(messages, next, Number(highWatermark))
      }
    }
  }

  async #findAgain(sources: readonly FetchSource[]): Promise<void> {
    const { client } = this.#parts
    const ends = await listOffsets(client, 'end', sources)
    const firsts = await listOffsets(client, 'first', sources)
    for (const source of sources) {
      const isHere = (each: PartitionOffset) => nameOf(each) === nameOf(source)
      const [first, end] = [firsts.find(isHere)?.offset, ends.find(isHere)?.offset]
      if (first === undefined || end === undefined || source.next < 0) continue
      if (first > source.next) source.lost(first)
      else if (end < source.next) source.recreated(first)
    }
  }
}

function nameOf({ topic, partition }: Pick<FetchSource, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
