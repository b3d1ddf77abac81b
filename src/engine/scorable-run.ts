import type { AgentRun } from '../model/agent-run.ts'
import type { WorkSteps } from '../scoring/background.ts'
import type { ResolvedScorer } from './config/options.ts'
import type { ConversationOffer } from './conversation-offers.ts'

/**
 * A run to score, whatever its source. Sampling, scorers, budgets, judges, emission and ledger treat a run of this process and one from a
 * service's log alike.
 */
export interface ScorableRun {
  /** 32 hex digits, from which samples are drawn: the trace id, or the key of a conversation. */
  readonly traceId: string
  /** Whether the agent was started by another agent's tool call. */
  readonly nested: boolean
  /** True if the run has no agent span. Its scores are then only on events and late spans. */
  readonly agentless: boolean
  /** False if no scorer could want the run; then `current` returns `undefined`. */
  readonly wanted: boolean
  /** Bytes of content in its spans, which stay in memory while the run waits. */
  readonly contentBytes: number
  /** Estimated bytes of content that scorers read, placing the spans included. Requests that repeat what earlier ones said are not read. */
  readonly readBytes: number
  /** Whether more spans of the run may arrive. */
  readonly hasOpenSpans: boolean
  /** Which scorers a conversation is for. Its runs were redacted before they were kept. Absent for a run. */
  readonly isFor?: (scorer: ResolvedScorer) => boolean
  /** Whether judges have seen enough revisions of the run, so that only code scores this one. @default false */
  readonly isJudgedEnough?: boolean
  /** The engine's own state of the run. A weak map keyed by runs would slow down every garbage collection. */
  scoringState: object | undefined
  /** Reads the spans of a large run in steps, which is most of the work of putting it together. */
  readInSteps(): WorkSteps
  /** The run with all spans so far; `undefined` if they do not form one. */
  current(): AgentRun | undefined
}

/** A run that was read from a log, as a run to score. */
export function toScorable(run: AgentRun, nested: boolean, wanted: boolean): ScorableRun {
  return {
    traceId: run.traceId,
    nested,
    agentless: false,
    wanted,
    // The service limits the size of traces, and its scorers delay no application request.
    contentBytes: 0,
    readBytes: 0,
    hasOpenSpans: false,
    scoringState: undefined,
    readInSteps: nothing,
    current: () => run,
  }
}

/** A conversation to score, as a run. @param key `conversationKey` of its runs */
export function conversationToScore(key: string, { run, isFor }: ConversationOffer, wanted: boolean): ScorableRun {
  return { ...toScorable(run, false, wanted), traceId: key, isFor }
}

function* nothing(): WorkSteps {}
