import { contentFree, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Skipped } from '../../model/score.ts'
import { closestName } from '../../scoring/closest-name.ts'
import { LimitedSet } from '../../spans/limited-set.ts'
import { skip } from '../skip.ts'
import { listNames } from './code-scorer.ts'

/** How many tools of agents are remembered. */
const MOST_TOOLS = 1000

/** Longer names are cut where they are shown. */
const LONGEST_NAME = 80

/**
 * The tools that each agent was offered or called so far, among those that a scorer expects. They tell a misspelt expectation from a tool
 * that is no longer offered.
 */
export class KnownTools {
  readonly #id: string
  readonly #configured: ReadonlySet<string>
  readonly #known = new LimitedSet<string>(MOST_TOOLS)

  /** @param configured names that the developer wrote, which are no content of a run */
  constructor(id: string, configured: ReadonlySet<string>) {
    this.#id = id
    this.#configured = configured
  }

  /**
   * `skipped: no-such-tool` if an expected tool was never offered to this agent, while one of a similar name is. Otherwise a sentence about
   * expected tools that were not offered in this run; it is empty if all were, or if the offered tools were not recorded.
   *
   * @param calls the names of the tools that the run called
   */
  check(run: AgentRun, calls: readonly string[], expected: readonly string[]): Skipped | Explanation {
    const { agent } = run
    const called = new Set(calls)
    const open = [...new Set(expected)].filter((name) => {
      if (called.has(name)) this.#known.add(keyOf(agent.name, name))
      return !called.has(name)
    })
    // The offered tools take longer to read than anything else here.
    const availableTools = open.length === 0 ? undefined : run.availableTools
    if (availableTools === undefined) return NOTHING
    const offered = new Set(availableTools.map(({ name }) => name))
    const lacking = open.filter((name) => {
      if (offered.has(name)) this.#known.add(keyOf(agent.name, name))
      return !offered.has(name)
    })
    for (const name of lacking) {
      const meant = this.#known.has(keyOf(agent.name, name)) ? undefined : closestName(name, offered)
      if (meant !== undefined) return this.#misspelt(name, meant)
    }
    if (lacking.length === 0) return NOTHING
    return explain` Not offered in this run: ${listNames(lacking, this.#configured)}.`
  }

  #misspelt(name: string, meant: string): Skipped {
    // The developer named the offered tool, and so the name that is nearly the same, also if a function returned it.
    const shown = contentFree(name.slice(0, LONGEST_NAME))
    const offered = contentFree(meant.slice(0, LONGEST_NAME))
    return skip(
      'no-such-tool',
      explain`${contentFree(this.#id)}: the expected tool ${shown} was never offered to this agent, and ${offered} is. Correct the name.`,
    )
  }
}

const NOTHING: Explanation = explain``

function keyOf(agentName: string | undefined, tool: string): string {
  return `${agentName ?? ''}\n${tool}`
}
