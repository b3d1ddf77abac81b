import type { AgentRun, ConversationWarnings } from 'spanscore/engine'

import type { KeptTurn } from '../log/turn-table.ts'
import type { GatheredRecords } from '../send/gathered-scores.ts'
import type { ConversationScorer, OfferedConversation } from './conversation-scorer.ts'
import type { OfferedRun, RunScorer } from './run-scorer.ts'
import { ServiceScorer } from './service-scorer.ts'
import type { ServiceScorerParts } from './service-scorer.ts'

/** A scorer whose configuration may change: each run is scored by the configuration that is in effect when it is complete. */
export class ReplaceableScorer implements RunScorer, ConversationScorer {
  readonly #parts: Omit<ServiceScorerParts, 'options' | 'redactor' | 'replaced'>
  #current: ServiceScorer
  /** Replaced scorers that may still have runs or records, and the number of their runs. */
  readonly #runs = new Map<ServiceScorer, number>()

  /** @throws TypeError `<path>: expected …, got …` */
  constructor({ options, redactor, ...parts }: Omit<ServiceScorerParts, 'replaced'>) {
    this.#parts = parts
    this.#current = new ServiceScorer({ options, redactor, ...parts })
    this.#runs.set(this.#current, 0)
  }

  /** The scorer of new runs. */
  get current(): ServiceScorer {
    return this.#current
  }

  get isBusy(): boolean {
    return this.#current.isBusy
  }

  /**
   * Runs that are offered from now on are scored with these options.
   *
   * @throws TypeError `<path>: expected …, got …`; then nothing changes
   */
  replace({ options, redactor }: Pick<ServiceScorerParts, 'options' | 'redactor'>): void {
    this.#current = new ServiceScorer({ options, redactor, ...this.#parts, replaced: this.#current })
    this.#runs.set(this.#current, 0)
  }

  offer(offered: OfferedRun, lost: AbortSignal): Promise<boolean> {
    return this.#with((scorer) => scorer.offer(offered, lost))
  }

  turnOf(run: AgentRun, warnings: ConversationWarnings): Promise<KeptTurn | undefined> {
    return this.#current.turnOf(run, warnings)
  }

  isFreeFor(service: string): boolean {
    return this.#current.isFreeFor(service)
  }

  offerConversation(offered: OfferedConversation, lost: AbortSignal): Promise<boolean> {
    return this.#with((scorer) => scorer.offerConversation(offered, lost))
  }

  leaveUnasked(): void {
    for (const scorer of this.#runs.keys()) scorer.leaveUnasked()
  }

  /** Records written since the last call. Replaced scorers without runs end after it. */
  take(): GatheredRecords {
    const taken = [...this.#runs.keys()].map((scorer) => scorer.take())
    for (const [scorer, runs] of this.#runs) {
      if (scorer === this.#current || runs > 0) continue
      this.#runs.delete(scorer)
      void scorer.shutdown()
    }
    return {
      logRecords: taken.flatMap(({ logRecords }) => logRecords),
      spans: taken.flatMap(({ spans }) => spans),
    }
  }

  /** Drops pending scores. */
  async shutdown(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((scorer) => scorer.shutdown()))
  }

  async #with(offer: (scorer: ServiceScorer) => Promise<boolean>): Promise<boolean> {
    const scorer = this.#current
    this.#count(scorer, 1)
    const isScored = await offer(scorer)
    this.#count(scorer, -1)
    return isScored
  }

  #count(scorer: ServiceScorer, change: number): void {
    this.#runs.set(scorer, (this.#runs.get(scorer) ?? 0) + change)
  }
}
