import type { Conversation } from 'spanscore/engine'

/** A conversation that is over. */
export interface EndedConversation {
  /** `conversationKey` of its runs. */
  readonly key: string
  /** The name of its service. */
  readonly service: string
  readonly endedBy: Conversation['endedBy']
  /** When it was over, in milliseconds of the log's time. */
  readonly endedMs: number
}

/** A conversation that is kept. */
interface Kept {
  readonly service: string
  /** When its latest run came, in milliseconds of the log's time. */
  latestMs: number
  /** Whether it has been over before. */
  readonly wasOver: boolean
  /** Whether its scores were delivered since its latest run. */
  isScored: boolean
}

/** The conversations of a service. */
interface OfService {
  /** In the order of their latest run. */
  readonly open: Map<string, Kept>
  /** Those that are over and were not taken. */
  readonly ended: Map<string, EndedConversation>
}

/** Most conversations that wait for their end. Above it, the oldest one of the service with the most is over. */
const MAX_OPEN = 50_000

/** For so many idle times after its end, a conversation goes on with a further run. */
const KEPT_IDLE_TIMES = 4

/**
 * Which conversations are open, over, and to be forgotten. It holds a few numbers of each; their runs are on the disk. A conversation is over when no
 * run has come for the idle time, or a run says so; a further run opens it again, until it is forgotten. Services take turns, so that none waits for
 * the many conversations of another.
 */
export class OpenConversations {
  readonly #idleMs: number
  readonly #maxOpen: number
  /** Services with conversations that are open or not taken. */
  readonly #services = new Map<string, OfService>()
  /** Those with conversations that are over and not taken, in the order of their turns. */
  readonly #ready = new Map<string, OfService>()
  readonly #over = new Map<string, Kept>()
  #open = 0
  #ended = 0
  #nowMs = 0

  constructor(idleMs: number, maxOpen: number = MAX_OPEN) {
    this.#idleMs = idleMs
    this.#maxOpen = maxOpen
  }

  /** Conversations that are not over. */
  get open(): number {
    return this.#open
  }

  /** Conversations that are over and wait to be taken. */
  get waiting(): number {
    return this.#ended
  }

  /** Whether something of a conversation is kept. */
  has(key: string, service: string): boolean {
    return this.#over.has(key) || this.#services.get(service)?.open.has(key) === true
  }

  /**
   * A run of a conversation came. One that says that it is the last ends the conversation at once, unless it has been over before: then the
   * conversation is over after the idle time, so that it is scored once for each quiet time.
   */
  add(key: string, service: string, atMs: number, isLast: boolean): void {
    const ofService = this.#services.get(service) ?? { open: new Map<string, Kept>(), ended: new Map() }
    this.#services.set(service, ofService)
    if (ofService.ended.delete(key)) this.#ended -= 1
    const { open } = ofService
    const wasOver = this.#over.delete(key) || open.get(key)?.wasOver === true
    if (!open.delete(key)) this.#open += 1
    const kept = { service, latestMs: atMs, wasOver, isScored: false }
    open.set(key, kept)
    if (isLast && !wasOver) this.#end(ofService, key, kept, 'marked')
    if (this.#open > this.#maxOpen) this.#closeOldest(ofService)
  }

  /** A conversation that was kept when the service ended, in the order of the latest runs. */
  restore(key: string, service: string, atMs: number, isScored: boolean): void {
    if (isScored) this.#over.set(key, { service, latestMs: atMs, wasOver: true, isScored })
    else this.add(key, service, atMs, false)
  }

  /** The scores of a conversation that was over were delivered. */
  scored(key: string): void {
    const kept = this.#over.get(key)
    if (kept !== undefined) kept.isScored = true
  }

  /**
   * Takes at most so many conversations that are over, of all services in turn.
   *
   * @param isReady whether the next conversation of a service is taken; otherwise it waits
   */
  takeOver(
    nowMs: number,
    most: number,
    isReady: (ended: EndedConversation) => boolean = () => true,
  ): readonly EndedConversation[] {
    this.#nowMs = nowMs
    for (const [service, ofService] of this.#services) {
      const { open, ended } = ofService
      for (const [key, kept] of open) {
        if (kept.latestMs + this.#idleMs > nowMs) break
        this.#end(ofService, key, kept, 'idle')
      }
      if (open.size + ended.size === 0) this.#services.delete(service)
    }
    const taken: EndedConversation[] = []
    let left = this.#ready.size
    while (taken.length < most && left > 0) {
      const [next] = this.#ready
      if (next === undefined) break
      const [service, ofService] = next
      const { ended } = ofService
      const [first] = ended.values()
      // Its next turn comes after those of all others.
      this.#ready.delete(service)
      if (first === undefined) continue
      if (!isReady(first)) {
        this.#ready.set(service, ofService)
        left -= 1
        continue
      }
      if (ended.size > 1) this.#ready.set(service, ofService)
      ended.delete(first.key)
      this.#ended -= 1
      taken.push(first)
      left = this.#ready.size
    }
    return taken
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

  /** Of a service with more than an equal part, or of the one with the most. */
  #closeOldest(latest: OfService): void {
    let most = latest
    if (latest.open.size <= this.#maxOpen / this.#services.size)
      for (const each of this.#services.values()) if (each.open.size > most.open.size) most = each
    for (const [key, kept] of most.open) {
      this.#end(most, key, kept, 'limit')
      return
    }
  }

  #end(ofService: OfService, key: string, kept: Kept, endedBy: Conversation['endedBy']): void {
    if (ofService.open.delete(key)) this.#open -= 1
    this.#over.set(key, kept)
    ofService.ended.set(key, { key, service: kept.service, endedBy, endedMs: Math.max(this.#nowMs, kept.latestMs) })
    this.#ready.set(kept.service, ofService)
    this.#ended += 1
  }
}
