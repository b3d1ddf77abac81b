import type { AgentRun } from '../model/agent-run.ts'
import { textOf } from '../spans/json.ts'
import { nodeCrypto } from '../spans/node-crypto.ts'

/**
 * Identifies the conversation of a run: 32 hex digits, of its service and of the whole id. `undefined` if the run has no id. Ids such as `42` repeat in
 * other services, whose runs are no part of it.
 */
export function conversationKey({
  conversationId,
  resource,
}: Pick<AgentRun, 'conversationId' | 'resource'>): string | undefined {
  if (conversationId === undefined) return undefined
  const service = textOf(resource['service.name']) ?? ''
  return nodeCrypto()
    .createHash('sha256')
    .update(JSON.stringify([service, conversationId]))
    .digest('hex')
    .slice(0, 32)
}
