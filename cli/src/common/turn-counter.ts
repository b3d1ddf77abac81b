import { conversationKey } from '../../../src/conversations/conversation-key.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'

/** Counts the turns of conversations. */
export class TurnCounter {
  readonly #turns = new Map<string, number>()

  /** The turn of a run that no other run started, from 1. Call it once a run, in the order of their starts. */
  next(run: AgentRun): number | undefined {
    const key = conversationKey(run)
    if (key === undefined) return undefined
    const turn = (this.#turns.get(key) ?? 0) + 1
    this.#turns.set(key, turn)
    return turn
  }
}
