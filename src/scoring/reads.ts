import type { AgentRun } from '../model/agent-run.ts'
import type { Skipped } from '../model/score.ts'
import { contentFree, explain } from '../model/explanation.ts'
import type { RunFact } from './absence.ts'
import { skipped } from './unscored.ts'

/** Why input and output that were passed to `.run()` are not read as messages. */
export interface UnreadForms {
  readonly input?: TypeError
  readonly output?: TypeError
}

/** The reads of a scorer: the first fact that it read and that its run lacks. */
export class Reads {
  /** The run itself, whose reads are not noted. */
  readonly run: AgentRun
  readonly scorerId: string
  readonly #mayLack: ReadonlySet<RunFact>
  readonly #unread: UnreadForms
  #absence: Skipped | undefined
  #refusal: TypeError | undefined

  /** @param mayLack facts whose absence the scorer itself takes into account */
  constructor(run: AgentRun, scorerId: string, mayLack: ReadonlySet<RunFact>, unread: UnreadForms = {}) {
    this.run = run
    this.scorerId = scorerId
    this.#mayLack = mayLack
    this.#unread = unread
  }

  /** Why the score is skipped; `undefined` if the run had everything that was read. */
  get absence(): Skipped | undefined {
    return this.#absence
  }

  /** The error of a form that cannot be read, if the fact that was read would be in it. */
  get refusal(): TypeError | undefined {
    return this.#refusal
  }

  /** The same run, of which nothing was read yet: a scorer of calls lacks facts of each call alone. */
  forCall(): Reads {
    return new Reads(this.run, this.scorerId, this.#mayLack, this.#unread)
  }

  /** Notes that a fact was read which may be absent. */
  note(fact: RunFact, whyAbsent: () => Skipped | undefined): void {
    if (this.#absence !== undefined) return
    const unread = this.#unread[fact === 'output' || fact === 'toolCalls' ? 'output' : 'input']
    if (unread !== undefined) {
      this.#refusal = unread
      this.#absence = skipped('no-content', explain`${contentFree(this.scorerId)}: ${unread.message}`)
    } else if (!this.#mayLack.has(fact)) this.#absence = whyAbsent()
  }

  /** Notes reads of an object whose facts can be copied. A copy reads all of them, in order, and nobody has looked at them: it is no read. */
  watch(view: object, facts: readonly string[]): (place: number) => void {
    let expected = 0
    let before: readonly [Skipped | undefined, TypeError | undefined] = [undefined, undefined]
    return (place) => {
      if (place === 0) [expected, before] = [0, [this.#absence, this.#refusal]]
      expected = place === expected ? place + 1 : Number.NaN
      Reflect.get(view, facts[place] ?? '')
      if (expected === facts.length) [this.#absence, this.#refusal] = before
    }
  }
}
