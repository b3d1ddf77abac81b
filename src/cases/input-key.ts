import { createHash } from 'node:crypto'
import type { AgentRun } from '../model/agent-run.ts'

/**
 * A key that runs of the same agent with the same input share: 16 hex digits of a hash, so that reports hold no content.
 * `undefined` if the spans hold no input.
 */
export function inputKeyOf(run: Pick<AgentRun, 'agent' | 'input'>): string | undefined {
  if (run.input.length === 0) return undefined
  const messages = run.input.map(({ role, text, parts }) => [role, text ?? JSON.stringify(parts)])
  const hash = createHash('sha256').update(JSON.stringify([run.agent.name ?? null, messages]))
  return hash.digest('hex').slice(0, 16)
}

/** The ids that a case of the run's question may have: that of its agent, then that of no agent, which a case for any agent has. */
export function caseIdsOf({ agent, input }: AgentRun): readonly string[] {
  return [agent, {}].flatMap((each) => inputKeyOf({ agent: each, input }) ?? [])
}
