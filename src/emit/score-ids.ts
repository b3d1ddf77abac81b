import { conversationKey } from '../conversations/conversation-key.ts'
import type { AgentRun, Conversation } from '../model/agent-run.ts'
import { nodeCrypto } from '../spans/node-crypto.ts'

/** Identifies a score, however often and wherever it is computed. */
export interface ScoreIds {
  /** Equal for all revisions of a score: 32 hex digits of trace, agent span, scorer and its version. */
  readonly key: string
  /** Equal for the same spans and log records of the run: 32 hex digits of the key and the digest of the set. */
  readonly id: string
  /** The id of the score's late span: 16 hex digits. */
  readonly spanId: string
}

/** The recognised spans of a run, reduced to what its scores need. */
export interface SpanSet {
  /** Their number and that of those with log records. It is the run's revision: it only grows, and does not depend on the process. */
  readonly count: number
  /** 32 hex digits of their ids. It is computed once for all scorers of a run. */
  readonly digest: string
}

/**
 * The ids of spans as a set with its digest.
 *
 * @param spanIds in any order
 * @param withLogs those of them with content in log records
 */
export function toSpanSet(spanIds: readonly string[], withLogs: readonly string[] = []): SpanSet {
  const parts = [...spanIds, ...withLogs.map((spanId) => `${spanId} logs`)]
  return { count: parts.length, digest: digest(parts.toSorted().join('\n')) }
}

/**
 * The ids of a score. Computing it again from the same spans, after a crash or elsewhere, gives the same ids.
 *
 * @param callIndex present if the score is that of one call: its index among the run's tool calls, or among its retrievals
 */
export function scoreIds(
  run: { readonly traceId: string; readonly spanId: string },
  scorer: { readonly id: string; readonly version: string; readonly level: string },
  spans: SpanSet,
  callIndex?: number,
): ScoreIds {
  const ofCall = callIndex === undefined ? '' : `\n${scorer.level}\n${callIndex}`
  const key = digest(`${run.traceId}\n${run.spanId}\n${scorer.id}\n${scorer.version}${ofCall}`)
  const id = digest(`${key}\n${spans.digest}`)
  return { key, id, spanId: nonZero(id.slice(0, 16)) }
}

/** The ids of a score of a conversation: its key stays when the conversation goes on. */
function conversationScoreIds(
  { runs }: Pick<Conversation, 'runs'>,
  scorer: { readonly id: string; readonly version: string },
): ScoreIds {
  const [first] = runs
  const conversation = first === undefined ? '' : `${conversationKey(first)}\n${first.id}`
  const key = digest(`${conversation}\n${scorer.id}\n${scorer.version}`)
  const members = runs.map(({ id, revision }) => `${id} ${revision}`)
  const id = digest(`${key}\n${members.toSorted().join('\n')}`)
  return { key, id, spanId: nonZero(id.slice(0, 16)) }
}

/** The ids of a score of a run, of one of its calls, or of a conversation. */
export function idsOfScore(
  place: { readonly traceId: string; readonly spanId: string },
  scorer: Parameters<typeof scoreIds>[1],
  spans: SpanSet,
  { run, call }: { readonly run: AgentRun | undefined; readonly call: number | undefined },
): ScoreIds {
  return run?.conversation === undefined
    ? scoreIds(place, scorer, spans, call)
    : conversationScoreIds(run.conversation, scorer)
}

function digest(text: string): string {
  return nodeCrypto().hash('sha256', text).slice(0, 32)
}

/** A span id of all zeros is invalid. */
function nonZero(spanId: string): string {
  return /[^0]/.test(spanId) ? spanId : '0000000000000001'
}
