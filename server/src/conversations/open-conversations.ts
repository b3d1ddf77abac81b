import type { Conversation } from 'spanscore/engine'

/** A conversation that is over. */
export interface EndedConversation {
  /** `conversationKey` of its runs. */
  readonly key: string
  readonly endedBy: Conversation['endedBy']
}

/** A conversation that is kept. */
interface Kept {
  /** When its latest run came, in milliseconds of the log's time. */
  latestMs: number
  /** Whether a run said that it was the last. */
  isMarked: boolean
  /** Whether its scores were delivered since its latest run. */
  isScored: boolean
}

/** Most conversations that wait for their end. The oldest one above it is over. */
const MAX_OPEN = 50_000

/** For so many idle times after its end, a conversation goes on with a further run. */
const KEPT_IDLE_TIMES = 4

/**
 * Which conversations are open, over, and to be forgotten. It holds a few numbers of each; their runs are on the disk. A conversation is over when no
 * run has come for the idle time, or a run says so; a further run opens it again, until it is forgotten.
 */
export class OpenConversations {
  readonly #idleMs: number
  readonly #maxOpen: number
  /** In the order of their latest run. */
  readonly #open = new Map<string, Kept>()
  readonly #over = new Map<string, Kept>()
  /** Those that were closed before their time. */
  readonly #closed: EndedConversation[] = []

  constructor(idleMs: number, maxOpen: number = MAX_OPEN) {
    this.#idleMs = idleMs
    this.#maxOpen = maxOpen
  }

  /** Conversations that are not over. */
  get open(): number {
    return this.#open.size
  }

  /** Whether something of a conversation is kept. */
  has(key: string): boolean {
    return this.#open.has(key) || this.#over.has(key)
  }

  /** A run of a conversation came. */
  add(key: string, atMs: number, isLast: boolean): void {
    this.#over.delete(key)
    this.#open.delete(key)
    this.#open.set(key, { latestMs: atMs, isMarked: isLast, isScored: false })
    if (this.#open.size <= this.#maxOpen) return
    for (const [oldest, kept] of this.#open) {
      this.#end(oldest, kept, 'limit')
      break
    }
  }

  /** A conversation that was kept when the service ended, in the order of the latest runs. */
  restore(key: string, atMs: number, isScored: boolean): void {
    if (isScored) this.#over.set(key, { latestMs: atMs, isMarked: false, isScored })
    else this.add(key, atMs, false)
  }

  /** The scores of a conversation that was over were delivered. */
  scored(key: string): void {
    const kept = this.#over.get(key)
    if (kept !== undefined) kept.isScored = true
  }

  /** Takes at most so many conversations that are over. */
  takeOver(nowMs: number, most: number): readonly EndedConversation[] {
    for (const [key, kept] of this.#open) {
      if (this.#closed.length >= most) break
      if (kept.isMarked) this.#end(key, kept, 'marked')
      else if (kept.latestMs + this.#idleMs <= nowMs) this.#end(key, kept, 'idle')
    }
    return this.#closed.splice(0, most)
  }

  /** Takes the conversations that a further run does not open again. */
  takeForgotten(nowMs: number): readonly string[] {
    const keptMs = (1 + KEPT_IDLE_TIMES) * this.#idleMs
    const forgotten: string[] = []
    for (const [key, { latestMs, isScored }] of this.#over) {
      const isTooMany = this.#over.size > this.#maxOpen
      if (!isTooMany && latestMs + keptMs > nowMs) break
      if (!isScored) continue
      this.#over.delete(key)
      forgotten.push(key)
    }
    return forgotten
  }

  #end(key: string, kept: Kept, endedBy: Conversation['endedBy']): void {
    this.#open.delete(key)
    this.#over.set(key, kept)
    this.#closed.push({ key, endedBy })
  }
}
