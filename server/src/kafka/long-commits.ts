import type { Commit } from './offset-states.ts'
import type { RecordWriter } from './record-writer.ts'
import { COMMIT_HEADER } from './records-of.ts'
import type { FetchedRecord } from './records-of.ts'

/** What long commits need. */
export interface LongCommitsParts {
  readonly writer: Pick<RecordWriter, 'append'>
  /** The record at an offset of a partition; `undefined` if there is none. @throws if the partition's leader does not answer */
  readonly recordAt: (topic: string, partition: number, offset: number) => Promise<FetchedRecord | undefined>
  /** Maximum characters of metadata. @default `MAX_LENGTH` */
  readonly maxLength?: number
}

/** The first character of metadata that names the offsets of the messages which have the actual metadata. */
const NAMES_OFFSETS = '2'
const BASE = 36

/** The brokers' default for `offset.metadata.max.bytes`. */
const MAX_LENGTH = 4096
/** With less room than this, a commit could not even name its metadata. */
const LEAST_LENGTH = 32

/** Characters in one message. `checkMessageBytes` makes sure that topics accept larger ones. */
const PART_LENGTH = 256 * 1024

/**
 * Commits with more metadata than brokers accept. Their metadata is appended to the partition itself, in messages without spans that
 * readers pass, and the commit names the offsets of these messages. The messages are on the partition before the commit is sent, and they
 * are younger than the committed offset: while the broker has the messages that a new owner reads again, it has these, too.
 */
export class LongCommits {
  readonly #parts: LongCommitsParts
  #maxLength: number
  /** The commits that name their metadata, by the commits that have it. A commit that has not changed is not written again. */
  readonly #written = new WeakMap<Commit, Commit>()

  constructor(parts: LongCommitsParts) {
    this.#parts = parts
    this.#maxLength = parts.maxLength ?? MAX_LENGTH
  }

  /** Whether a commit must be written to its partition. */
  isLong({ metadata }: Commit): boolean {
    return metadata.length > this.#maxLength
  }

  /**
   * Called when the broker accepts less metadata than one of these commits has: from now on, shorter ones are written to the partition,
   * too.
   *
   * @returns characters of metadata that a commit may have now; `undefined` if that has not changed
   */
  shorten(commits: readonly Commit[]): number | undefined {
    const longest = Math.max(...commits.map(({ metadata }) => metadata.length))
    const maxLength = Math.max(LEAST_LENGTH, longest >> 1)
    if (maxLength >= this.#maxLength) return undefined
    this.#maxLength = maxLength
    return maxLength
  }

  /** Writes the metadata of a commit to its partition. @returns the commit that names it @throws if it could not be written */
  async write(topic: string, partition: number, commit: Commit): Promise<Commit> {
    const known = this.#written.get(commit)
    if (known !== undefined) return known
    const { offset, metadata } = commit
    const offsets: string[] = []
    for (let at = 0; at < metadata.length; at += PART_LENGTH) {
      const headers = { [COMMIT_HEADER]: `${offset} ${metadata.slice(at, at + PART_LENGTH)}` }
      const written = await this.#parts.writer.append(topic, partition, [{ value: new Uint8Array(), headers }])
      offsets.push(written.toString(BASE))
    }
    const short = { offset, metadata: NAMES_OFFSETS + offsets.join(',') }
    this.#written.set(commit, short)
    return short
  }

  /** Whether the metadata of a commit is on its partition. */
  isElsewhere({ metadata }: Commit): boolean {
    return metadata.startsWith(NAMES_OFFSETS)
  }

  /**
   * The commit with its actual metadata. If the partition does not have that any more, the commit itself, whose metadata nobody can read.
   *
   * @throws if the partition's leader does not answer
   */
  async read(topic: string, partition: number, commit: Commit): Promise<Commit> {
    if (!this.isElsewhere(commit)) return commit
    const { offset, metadata } = commit
    const prefix = `${offset} `
    let whole = ''
    for (const position of metadata.slice(NAMES_OFFSETS.length).split(',')) {
      const record = await this.#parts.recordAt(topic, partition, Number.parseInt(position, BASE))
      const text = record?.headers.get(COMMIT_HEADER)
      if (text?.startsWith(prefix) !== true) return commit
      whole += text.slice(prefix.length)
    }
    return { offset, metadata: whole }
  }
}
