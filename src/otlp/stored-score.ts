import type { Finding } from '../model/finding.ts'
import { readEventAttribute } from '../attributes/event-attributes.ts'
import { MAX_WEIGHT, weightAt } from '../sampling/weight.ts'

/** A score that the traces already have, or the reason why there is none. */
export interface StoredScore {
  /** The id of the scorer, or the name of another tool's evaluation. */
  readonly scorerId: string
  /** The score, in the scorer's own units. */
  readonly value?: number
  /** `pass` or `fail`; other tools that write `gen_ai.evaluation.result` use other labels. */
  readonly label?: string
  /** How many runs the run counts for, at most 1,000, if the agent's span says so: see `storedWeight`. */
  readonly weight?: number
  /** How many things of the kind that it looks for the scorer found, such as attacks, whether they count or not. */
  readonly found?: number
  /** The reason for the score. */
  readonly explanation?: string
  /** What the scorer found, if an event or late span has it. */
  readonly findings?: readonly Finding[]
  /** `skipped` or `failed`, if there is no value. */
  readonly status?: string
  /** Why there is no value, as a code such as `no-content` or `judge-timeout`. */
  readonly reason?: string
  /** One sentence about why there is no value. */
  readonly message?: string
  /** Who says it, if it is recorded: `user` for feedback of the agent's user, or another tool's `human`, `llm_judge` or `deterministic`. */
  readonly evaluatorType?: string
  /** Whether a user or another tool says it. */
  readonly isForeign?: true
  /** The origin of the score, if a spanscore event or late span has it. */
  readonly about?: ScoreIdentity
  /** What the score is about, if it is not the run. */
  readonly level?: string
  /** The scores of the run's calls, of a scorer of calls. */
  readonly calls?: readonly StoredCallScore[]
  /** The number of turns of the conversation, if the score is that of one. */
  readonly turns?: number
}

/** How many runs the run of a stored score counts for: 1 if nothing of it is recorded. */
export function storedWeight({ weight, about }: Pick<StoredScore, 'weight' | 'about'>): number {
  return weight ?? toWeight(weightAt(about?.probability ?? 1, about?.upstreamProbability)) ?? 1
}

/** What is said of the span of a tool call. */
export interface ToolScore extends StoredScore {
  /** The index of the call in `run.toolCalls`. */
  readonly toolCall: number
}

/** The score of one call that the traces have. */
export interface StoredCallScore extends Omit<StoredScore, 'scorerId' | 'about' | 'level' | 'calls' | 'turns'> {
  /** The index of the call in `run.toolCalls`, or in `run.retrievals`; absent if the call is none of the run's. */
  readonly index?: number
}

/** What is needed to weigh a stored score, and to compare it with scores of the same scorer and judge only. */
export interface ScoreIdentity {
  readonly revision: number
  /** The scorer's version: 8 characters. */
  readonly version: string
  /** The model that answered, if a judge was asked. */
  readonly judgeModel?: string
  readonly range: readonly [number, number]
  readonly better: 'higher' | 'lower'
  /** The probability with which the run was chosen, if known. */
  readonly probability?: number
  /** The probability with which the tracer kept the run, if known. */
  readonly upstreamProbability?: number
}

/** The attributes of a span or event. */
export type Attributes = Readonly<Record<string, unknown>>

/** What every event of an evaluation may have, whoever wrote it. */
export function evaluationIn(attributes: Attributes): PartsOfScore {
  const value = readEventAttribute(attributes, 'gen_ai.evaluation.score.value')
  const label = readEventAttribute(attributes, 'gen_ai.evaluation.score.label')
  return {
    value,
    label,
    explanation: readEventAttribute(attributes, 'gen_ai.evaluation.explanation'),
    status: value === undefined && label === undefined ? 'failed' : undefined,
    reason: readEventAttribute(attributes, 'error.type'),
  }
}

type PartsOfScore = { readonly [Key in keyof StoredScore]?: StoredScore[Key] | undefined }

/** The score with those of its parts that are there. */
export function toStoredScore(scorerId: string, parts: PartsOfScore): StoredScore {
  const there = Object.entries(parts).filter(([, part]) => part !== undefined)
  return { scorerId, ...Object.fromEntries(there) }
}

/** A weight that somebody sent; `undefined` if it is none. */
export function toWeight(given: number | undefined): number | undefined {
  return given !== undefined && Number.isFinite(given) && given > 0 ? Math.min(MAX_WEIGHT, given) : undefined
}
