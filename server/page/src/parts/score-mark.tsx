import { positionInRange } from '../../../../src/emit/position-in-range.ts'
import type { Evaluation, ListedRun } from '../api.ts'
import { score as formatScore } from '../format.ts'
import { useService } from '../service.ts'
import { isLowerBetter } from './scorer-choice.tsx'

type ListedScore = ListedRun['scores'][number]

/** The mark of a score: a sign and a word as well as a colour. */
export function markOf(
  status: string,
  label: string | null | undefined,
): { readonly sign: string; readonly tone: string; readonly word: string } {
  if (label === 'pass') return { sign: '✓', tone: 'pass', word: 'passes' }
  if (label === 'fail') return { sign: '✗', tone: 'fail', word: 'fails' }
  if (status === 'withheld') return { sign: '?', tone: 'none', word: 'is yours to label' }
  return status === 'failed'
    ? { sign: '!', tone: 'warn', word: 'could not be scored' }
    : { sign: '–', tone: 'none', word: 'not scored' }
}

const LOWER_IS_BETTER = ' (lower is better)'

/** A score in the scorer's own units. A range whose lower end is the better one is marked. */
export function ScoreValue({
  value,
  isLower,
}: {
  readonly value: number | null | undefined
  readonly isLower: boolean
}) {
  if (value === null || value === undefined) return null
  return (
    <b>
      {formatScore(value)}
      {isLower && (
        <span class="lower" role="img" aria-label="lower is better" title="lower is better">
          ↓
        </span>
      )}
    </b>
  )
}

/** Failing scorers that a row names; more would leave no room for the question. */
const NAMED = 1

interface ScoreMarksProps {
  readonly scores: readonly ListedScore[]
  /** The scorer that the list is filtered by. It is named first, whatever its score. */
  readonly chosen?: string | undefined
}

/** The scores of a run in a line: failing ones are named, the worst first, and passing ones are counted. */
export function ScoreMarks({ scores, chosen }: ScoreMarksProps) {
  const { overview } = useService()
  const textOf = ({ scorer, value }: ListedScore) =>
    `${value === null ? 'its label' : formatScore(value)}${isLowerBetter(overview, scorer) ? LOWER_IS_BETTER : ''}`
  const asked = scores.find(({ scorer, label }) => scorer === chosen && label === 'pass')
  const fails = scores
    .filter(({ label }) => label === 'fail')
    .toSorted((left, right) => rankOf(left, chosen) - rankOf(right, chosen))
  const broken = scores.filter(({ status }) => status === 'failed')
  const passes = scores.filter((each) => each.label === 'pass' && each !== asked)
  const withheld = scores.filter(({ status }) => status === 'withheld')
  const left = scores.find(({ scorer, status }) => scorer === chosen && status === 'skipped')
  return (
    <span class="marks">
      {asked !== undefined && (
        <span class="mark pass" title={`${asked.scorer} passes with ${textOf(asked)}`}>
          <span aria-label="passes">✓</span> <span class="name">{asked.scorer}</span>{' '}
          <ScoreValue value={asked.value} isLower={isLowerBetter(overview, asked.scorer)} />
        </span>
      )}
      {fails.slice(0, NAMED).map((each) => (
        <span key={each.scorer} class="mark fail" title={`${each.scorer} fails with ${textOf(each)}`}>
          <span aria-label="fails">✗</span> <span class="name">{each.scorer}</span>{' '}
          <ScoreValue value={each.value} isLower={isLowerBetter(overview, each.scorer)} />
        </span>
      ))}
      {fails.length > NAMED && (
        <span
          class="mark fail"
          title={fails
            .slice(NAMED)
            .map((each) => `${each.scorer} ${textOf(each)}`)
            .join(', ')}
        >
          <span aria-label="fail too">✗</span> +{fails.length - NAMED}
        </span>
      )}
      {broken.map(({ scorer, reason }) => (
        <span key={scorer} class="mark warn" title={`${scorer} could not be scored: ${reason ?? ''}`}>
          <span aria-label="could not be scored">!</span> {scorer}
        </span>
      ))}
      {passes.length > 0 && (
        <span class="mark pass" title={passes.map((each) => `${each.scorer} ${textOf(each)}`).join(', ')}>
          <span aria-label="pass">✓</span> {passes.length}
        </span>
      )}
      {withheld.map(({ scorer }) => (
        <span
          key={scorer}
          class="mark none"
          title={`The verdict of ${scorer} is shown once you have labelled this run.`}
        >
          {scorer}: to label
        </span>
      ))}
      {left !== undefined && <span class="mark none">not scored: {left.reason}</span>}
      {asked === undefined &&
        left === undefined &&
        fails.length + broken.length + passes.length + withheld.length === 0 && (
          <span class="mark none" title={scores.map(({ scorer, reason }) => `${scorer}: ${reason ?? ''}`).join(', ')}>
            not scored
          </span>
        )}
    </span>
  )
}

/** Converts a result to a score of the list. */
export function toListed(evaluation: Evaluation): ListedScore {
  const { scorer, score, judge } = evaluation
  const isScored = score.status === 'scored'
  return {
    scorer: scorer.id,
    status: score.status,
    reason: score.status === 'failed' ? score.code : score.status === 'skipped' ? score.reason : null,
    value: isScored ? (score.value ?? null) : null,
    position: isScored && score.value !== undefined ? positionOf(scorer, score.value) : null,
    label: isScored ? (score.label ?? null) : null,
    cost_usd: judge?.costUsd ?? null,
  }
}

function positionOf({ range, better }: Evaluation['scorer'], value: number): number | null {
  return range === undefined || better === undefined ? null : positionInRange({ scorer: { range, better } }, value)
}

function rankOf({ scorer, position }: ListedScore, chosen: string | undefined): number {
  return scorer === chosen ? -1 : (position ?? 1)
}

/** One score with its sign, for a verdict. */
export function VerdictMark({ score, scorer }: Pick<Evaluation, 'score' | 'scorer'>) {
  const { sign, tone, word } = markOf(score.status, score.status === 'scored' ? score.label : undefined)
  return (
    <span class={`mark ${tone}`}>
      <span aria-label={word}>{sign}</span>{' '}
      {score.status === 'scored' ? (
        <ScoreValue value={score.value} isLower={scorer.better === 'lower'} />
      ) : score.status === 'skipped' ? (
        score.reason
      ) : (
        score.code
      )}
    </span>
  )
}
