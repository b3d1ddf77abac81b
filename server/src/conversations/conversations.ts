import { ConversationWarnings } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'

import { serviceOf } from '../log/turn-table.ts'
import type { KeptTurn, TurnTable } from '../log/turn-table.ts'
import type { ConversationScorer } from '../score/conversation-scorer.ts'
import type { GatheredRecords } from '../send/gathered-scores.ts'
import type { Outbox } from '../send/outbox.ts'
import { OpenConversations } from './open-conversations.ts'
import type { EndedConversation } from './open-conversations.ts'

/** What conversations need. */
export interface ConversationsParts {
  readonly turns: TurnTable
  readonly scorer: ConversationScorer
  readonly outbox: Outbox
  /** Records written since the last call. */
  readonly take: () => GatheredRecords
  /** For so many milliseconds no run may come before a conversation is over. */
  readonly idleMs: number
  /** Resolves when what observes the service has stored everything up to now. @default at once */
  readonly stored?: (() => Promise<void>) | undefined
  readonly report: (message: string) => void
}

/** Conversations that are scored at the same time. Others wait, and lose nothing. */
const MAX_AT_ONCE = 16

/** A conversation waits at most this long for room in the judges' budget of its service, and is then treated as a run is. */
const MAX_WAIT_MS = 600_000

/** Collects runs to conversations, and scores each when it is over. */
export class Conversations {
  readonly #parts: ConversationsParts
  readonly #open: OpenConversations
  readonly #warnings: ConversationWarnings
  readonly #released = new AbortController()
  readonly #scoring = new Set<Promise<void>>()
  readonly #storing = new Set<Promise<void>>()
  #leftOut = 0

  constructor(parts: ConversationsParts) {
    const { turns, idleMs, report } = parts
    this.#parts = parts
    this.#open = new OpenConversations(idleMs)
    this.#warnings = new ConversationWarnings(report)
    // The service may have been down for long, so their users get the idle time anew.
    const { nowMs } = turns
    for (const { key, service, isScored } of turns.conversations()) this.#open.restore(key, service, nowMs, isScored)
  }

  /** Conversations that are not over. */
  get open(): number {
    return this.#open.open
  }

  /** Conversations that are over and wait for their scores. */
  get waiting(): number {
    return this.#open.waiting + this.#scoring.size
  }

  /** Runs that were not kept, because their service had taken its part of the room, or the disk is almost full. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Resolves when the scores of all conversations that were over are in. */
  async settled(): Promise<void> {
    await Promise.all(this.#scoring)
  }

  /** Resolves when all scores that were delivered are marked so. */
  async stored(): Promise<void> {
    await Promise.all(this.#storing)
  }

  /** What runs add to their conversations; nothing where no scorer wants it. */
  async turnsOf(runs: readonly AgentRun[]): Promise<KeptTurn[]> {
    const turns = await Promise.all(runs.map((run) => this.#parts.scorer.turnOf(run, this.#warnings)))
    return turns.filter((turn) => turn !== undefined)
  }

  /** Keeps runs whose scores were delivered. They are written together with the states of their spans. */
  keep(kept: readonly KeptTurn[]): void {
    const { turns, report } = this.#parts
    const { nowMs } = turns
    for (const { key, member } of kept) {
      const service = serviceOf(member)
      const isKnown = this.#open.has(key, service)
      if (turns.hasRoomFor(service)) {
        // Only the first run shows what was said before it.
        turns.keep({ key, member: isKnown ? { ...member, earlier: [] } : member })
      } else {
        this.#leftOut += 1
        report(
          'Runs of conversations are left out: those that are kept take a quarter of limits.logMiB, or the disk is almost full.',
        )
        if (!isKnown) continue
        turns.leaveOut(key)
      }
      this.#open.add(key, service, nowMs, member.isLast)
    }
  }

  /** Scores the conversations that are over, and forgets those that are over for long. */
  sweep(): void {
    const { turns, scorer } = this.#parts
    const { nowMs } = turns
    turns.forget(this.#open.takeForgotten(nowMs))
    const room = MAX_AT_ONCE - this.#scoring.size
    if (room <= 0) return
    const isReady = ({ service, endedMs }: EndedConversation): boolean =>
      nowMs - endedMs > MAX_WAIT_MS || scorer.isFreeFor(service)
    for (const ended of this.#open.takeOver(nowMs, room, isReady)) track(this.#scoring, this.#score(ended))
  }

  /** Leaves what is not scored to the next process. */
  release(): void {
    this.#released.abort()
  }

  async #score({ key, service, endedBy }: EndedConversation): Promise<void> {
    const { turns, scorer, outbox, take, stored, report } = this.#parts
    try {
      const kept = turns.of(key)
      // The disk is full: it is tried again after the idle time.
      if (kept === undefined) this.#open.add(key, service, turns.nowMs, false)
      if (kept === undefined || kept.members.length === 0) return
      this.#warnings.ended(kept.members, kept.leftOut)
      const isWhole = await scorer.offerConversation({ key, endedBy, ...kept }, this.#released.signal)
      if (!isWhole) return
      const delivered = async (): Promise<void> => {
        await stored?.()
        turns.scored(key, kept)
        this.#open.scored(key)
      }
      outbox.add({ ...take(), onDelivered: () => track(this.#storing, delivered()) })
    } catch (error) {
      // An error message may quote its subject.
      report(
        `A conversation could not be scored because of an error in the service: ${error instanceof Error ? error.name : 'unknown'}.`,
      )
    }
  }
}

function track(all: Set<Promise<void>>, one: Promise<void>): void {
  const tracked = one.finally(() => all.delete(tracked))
  all.add(tracked)
}
