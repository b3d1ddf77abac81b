import { plural } from '../../../server/page/src/format.ts'
import type { ResolvedScorer } from '../../../src/engine/config/options.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'

/** How many names of agents are kept. */
const MAX_NAMES = 20

/** The runs that might have been scored, to say why none was. */
export class SeenRuns {
  readonly #wanted: ReadonlySet<string>
  readonly #names = new Set<string>()
  #hasWanted = false
  #runs = 0

  constructor(scorers: readonly ResolvedScorer[]) {
    this.#wanted = new Set(scorers.flatMap(({ agents = [] }) => [...agents]))
  }

  add({ agent: { name } }: AgentRun): void {
    this.#runs++
    if (name === undefined) return
    if (this.#wanted.has(name)) this.#hasWanted = true
    if (this.#names.size < MAX_NAMES) this.#names.add(name)
  }

  /** Says why no run was scored; `undefined` if there was none. It is a mistake if no run is of an agent that scorers are for. */
  whyNone(isAsked: boolean): { readonly text: string; readonly isMistake: boolean } | undefined {
    if (this.#runs === 0) return undefined
    const among = plural(this.#runs, 'run')
    if (!isAsked) return { text: `no question of the cases was asked in ${among}`, isMistake: true }
    if (this.#wanted.size === 0 || this.#hasWanted)
      return { text: `no scorer is for any of ${among}: see scope and when of its entry`, isMistake: false }
    const seen = this.#names.size === 0 ? 'none with a name' : [...this.#names].join(', ')
    return { text: `No agent named ${[...this.#wanted].join(', ')} was among ${among}; seen: ${seen}`, isMistake: true }
  }
}
