import type { DatabaseSync } from 'node:sqlite'

import type { WeightedMean, WorkSteps } from 'spanscore/engine'

import { all, namesIn } from './page-database.ts'
import { chosenScores, countOpinions, summaryOf, withheldAmong } from './score-sums.ts'
import type { OpinionCounts, ScoreFilter, ScoreSummary } from './score-sums.ts'

/** One side of a question that both sides answered. */
export interface ComparedRun {
  readonly id: string
  readonly answer: string
  readonly label: string
  readonly position: number
}

/** A question with different scores on both sides. */
export interface ChangedRun {
  readonly question: string
  readonly before: ComparedRun
  readonly after: ComparedRun
}

/** A difference with its interval. */
export interface Difference {
  readonly mean: number
  readonly interval95: readonly [number, number]
}

/** A share of fewer runs says little. */
export const FEW_RUNS = 20

/** Whether the whole interval of a change is on one side, or not; `few` if there are too few runs to say anything. */
export type ChangeState = 'worse' | 'better' | 'same' | 'few'

/** The difference of two sets of scores. */
export interface Comparison {
  readonly before: ScoreSummary
  readonly after: ScoreSummary
  /** The difference of the shares that fail; `undefined` if a side has no labels. */
  readonly difference: Difference | undefined
  /** Questions that both sides answered, and how many have the same score. */
  readonly paired: number
  readonly same: number
  readonly changed: readonly ChangedRun[]
  /** What users say of the runs of both sides; empty of conversations. */
  readonly opinions: readonly OpinionCounts[]
  /** Withheld scores that would be on a side. */
  readonly withheld: number
}

/** Maximum number of runs of each side to search for equal questions: the latest ones. */
const MAX_RUNS = 5000

/** Maximum number of changed runs to return: those with the largest change. */
const MAX_CHANGED = 100

/** Compares two sets of scores: two versions, models, agents, or periods. */
export function compareScores(database: DatabaseSync, before: ScoreFilter, after: ScoreFilter): Comparison {
  const sides = [before, after].map((filter) => summaryOf(database, filter))
  const chosen = [before, after].map((filter) => chosenScores(database, filter))
  const [first = NOTHING, second = NOTHING] = sides
  const old = byQuestion(database, before)
  const pairs = [...byQuestion(database, after)].flatMap(([key, row]): [QuestionRow, QuestionRow][] => {
    const partner = old.get(key)
    return partner === undefined || partner.id === row.id ? [] : [[partner, row]]
  })
  const changed = pairs.filter(([left, right]) => left.label !== right.label || left.position !== right.position)
  return {
    before: first,
    after: second,
    difference: differenceBetween(first.failing, second.failing),
    paired: pairs.length,
    same: pairs.length - changed.length,
    changed: changed
      .toSorted((left, right) => changeOf(right) - changeOf(left))
      .slice(0, MAX_CHANGED)
      .map(([left, right]) => ({ question: right.question, before: toCompared(left), after: toCompared(right) })),
    opinions: chosen.flatMap((side) => countOpinions(database, side) ?? []),
    withheld: withheldAmong(database, ...chosen),
  }
}

function differenceBetween(before: WeightedMean | undefined, after: WeightedMean | undefined): Difference | undefined {
  return before === undefined || after === undefined ? undefined : differenceOf(before, after)
}

/** A scorer on both sides. */
export interface ComparedScorer {
  readonly scorer: string
  readonly before: ScoreSummary
  readonly after: ScoreSummary
  readonly difference: Difference
  readonly state: ChangeState
}

/** All scorers with labels on both sides, by the difference of the shares that fail: what surely got worse comes first. A scorer a step. */
export function* compareScorers(
  database: DatabaseSync,
  before: Omit<ScoreFilter, 'scorer'>,
  after: Omit<ScoreFilter, 'scorer'>,
): WorkSteps<readonly ComparedScorer[]> {
  const found: ComparedScorer[] = []
  const scorers = [...namesIn(database, 'scores', 'scorer'), ...namesIn(database, 'conversation_scores', 'scorer')]
  for (const scorer of new Set(scorers)) {
    const old = summaryOf(database, { ...before, scorer })
    yield
    const now = summaryOf(database, { ...after, scorer })
    const difference = differenceBetween(old.failing, now.failing)
    if (difference !== undefined)
      found.push({
        scorer,
        before: old,
        after: now,
        difference,
        state: stateOf(Math.min(old.runs, now.runs), difference),
      })
    yield
  }
  return found.toSorted((left, right) => rankOf(right) - rankOf(left))
}

function stateOf(runs: number, { interval95: [low, high] }: Difference): ComparedScorer['state'] {
  if (runs < FEW_RUNS) return 'few'
  return low > 0 ? 'worse' : high < 0 ? 'better' : 'same'
}

/** Surely worse ones are above 1, surely better ones below -1. */
function rankOf({ difference: { mean, interval95 }, state }: ComparedScorer): number {
  const [low, high] = interval95
  return state === 'worse' ? 1 + low : state === 'better' ? high - 1 : mean
}

const NOTHING: ScoreSummary = { runs: 0, mean: undefined, failing: undefined }

/**
 * The difference of two means, with an interval from both of theirs: Newcombe's square-and-add method ("Interval estimation for the
 * difference between independent proportions: comparison of eleven methods", Statistics in Medicine 17, 1998, method 10).
 */
export function differenceOf(before: WeightedMean, after: WeightedMean): Difference {
  const mean = after.mean - before.mean
  const [lowBefore, highBefore] = before.interval95
  const [lowAfter, highAfter] = after.interval95
  return {
    mean,
    interval95: [
      Math.max(-1, mean - Math.hypot(after.mean - lowAfter, highBefore - before.mean)),
      Math.min(1, mean + Math.hypot(highAfter - after.mean, before.mean - lowBefore)),
    ],
  }
}

interface QuestionRow extends ComparedRun {
  readonly question: string
  readonly agent: string
}

/** The latest run of each question. */
function byQuestion(database: DatabaseSync, filter: ScoreFilter): Map<string, QuestionRow> {
  const { sql, values, viewer, source, isOfConversations } = chosenScores(database, filter)
  if (isOfConversations) return new Map()
  const rows = all<QuestionRow>(
    database,
    `SELECT r.id, r.question, r.answer, r.agent, s.label, s.position
     FROM (SELECT run_seq, label, position FROM ${source} WHERE ${sql} ORDER BY time_ms DESC LIMIT ${MAX_RUNS}) s
     JOIN runs r ON r.seq = s.run_seq WHERE r.question <> ''`,
    viewer,
    ...values,
  )
  const latest = new Map<string, QuestionRow>()
  for (const row of rows) {
    const key = JSON.stringify([row.agent, row.question])
    if (!latest.has(key)) latest.set(key, row)
  }
  return latest
}

function toCompared({ id, answer, label, position }: QuestionRow): ComparedRun {
  return { id, answer, label, position }
}

function changeOf([left, right]: [QuestionRow, QuestionRow]): number {
  return Math.abs(right.position - left.position) + (left.label === right.label ? 0 : 1)
}
