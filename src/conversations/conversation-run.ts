import type { AgentRun, Conversation, Missing, ModelCall, ToolCall } from '../model/agent-run.ts'
import { facts, plain } from '../model/facts.ts'
import type { Usage } from '../model/message.ts'
import { frozen } from '../runs/view/frozen.ts'
import { textMessage } from '../spans/content/messages.ts'

/**
 * A conversation as one run, so that sampling, scorers, judges and signals treat it as they treat any run: its calls, steps and tokens are
 * those of all its runs, its answer is the last one, its ids are those of the last run, and its agent is that of the first.
 */
export function toConversationRun(conversation: Conversation): AgentRun {
  const { runs } = conversation
  const first = runs[0]
  const last = runs.at(-1)
  if (first === undefined || last === undefined) throw new Error('expected a conversation with runs, got none')
  const userId = runs.find((run) => run.userId !== undefined)?.userId
  const toolCalls: ToolCall[] = []
  const steps: ModelCall[] = []
  const missing = new Map<string, Missing>()
  for (const run of runs) {
    for (const each of run.missing) {
      const what = each.what.replace(
        /^toolCalls\[(\d+)\]/,
        (_, index) => `toolCalls[${toolCalls.length + Number(index)}]`,
      )
      if (what !== 'output' || run === last) missing.set(what, { ...each, what })
    }
    const cutHere = new Set(run.missing.flatMap(({ what, why }) => (why === 'limit' ? [what] : [])))
    for (const [index, call] of run.toolCalls.entries()) {
      const { arguments: given, result, ...rest } = call
      const isWhole = (fact: string): boolean => !cutHere.has(`toolCalls[${index}].${fact}`)
      toolCalls.push({
        ...rest,
        ...(given !== undefined && isWhole('arguments') && { arguments: given }),
        ...(result !== undefined && isWhole('result') && { result }),
        step: steps.length + call.step,
      })
    }
    steps.push(...run.steps)
  }
  for (const each of conversation.missing) missing.set(each.what, each)
  return frozen({
    ...plain(last, OF_LAST),
    id: conversation.id ?? last.id,
    dialect: first.dialect,
    agent: first.agent,
    ...(conversation.id !== undefined && { conversationId: conversation.id }),
    ...(userId !== undefined && { userId }),
    input: messagesOf(conversation),
    toolCalls,
    steps,
    sideCalls: [],
    retrievals: [],
    children: [],
    models: [...new Set(runs.flatMap(({ models }) => models))],
    usage: sumOf(runs),
    startTimeMs: conversation.startTimeMs,
    endTimeMs: conversation.endTimeMs,
    content: runs.every(({ content }) => content === first.content) ? first.content : 'partial',
    missing: [...missing.values()],
    complete: conversation.complete,
    revision: conversation.revision,
    attributes: {},
    conversation,
  } satisfies AgentRun)
}

const OF_LAST = facts(
  'traceId',
  'spanId',
  'userInput',
  'output',
  'unanswered',
  'status',
  'error',
  'surrounding',
  'resource',
  'scope',
)

/** What was said before the last answer. */
function messagesOf({ turns }: Conversation): AgentRun['input'] {
  const messages = turns.flatMap(({ user, runs }) => [
    ...(user === undefined ? [] : [textMessage('user', user)]),
    ...runs.flatMap(({ output }) => (output === undefined ? [] : [textMessage('assistant', output)])),
  ])
  return turns.at(-1)?.runs.at(-1)?.output === undefined ? messages : messages.slice(0, -1)
}

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

/** A count that a run lacks is unknown for the conversation too. */
function sumOf(runs: readonly AgentRun[]): Usage {
  const sums: Partial<Record<(typeof COUNTS)[number], number>> = {}
  for (const name of COUNTS) {
    const counts = runs.map(({ usage }) => usage[name])
    if (counts.every((count) => count !== undefined)) sums[name] = counts.reduce((sum, count) => sum + count, 0)
  }
  return sums
}
