import { positionInRange } from '../../../../src/emit/position-in-range.ts'
import type { Evaluation, ServiceOverview } from '../api.ts'
import { useService } from '../service.ts'
import { Choice } from './choice.tsx'
import { sharedOf, TIMES, useChoices } from './place.ts'
import type { Choices } from './place.ts'

/** What a scorer's scores are about. */
export type Units = 'runs' | 'calls' | 'conversations'

/** The units of a level. */
export function unitsOf(level: Evaluation['scorer']['level']): Units {
  if (level === 'conversation') return 'conversations'
  return level === 'tool-call' || level === 'retrieval' ? 'calls' : 'runs'
}

/** What a scorer's stored scores are about. */
export function unitsOfScorer({ scorers }: ServiceOverview, scorer: string): Units {
  return unitsOf(scorers.find((each) => each.scorer === scorer)?.level)
}

/** The scorers with stored scores, each once. @param of only those of conversations, or those of runs and their calls */
export function scorersOf({ scorers }: ServiceOverview, of?: 'conversations' | 'runs'): readonly string[] {
  const chosen = scorers.filter(
    ({ level }) => of === undefined || (level === 'conversation') === (of === 'conversations'),
  )
  return [...new Set(chosen.map(({ scorer }) => scorer))]
}

/** Scorers to choose from, with what their scores are about, if it is not runs: `retrieval_relevance (calls)`. */
export function namedScorers(
  overview: ServiceOverview,
  scorers: readonly string[],
): readonly { readonly value: string; readonly name: string }[] {
  return scorers.map((scorer) => {
    const units = unitsOfScorer(overview, scorer)
    return { value: scorer, name: units === 'runs' ? scorer : `${scorer} (${units})` }
  })
}

/** The views of one scorer, and of what they show scorers. */
const OF_ONE_SCORER = { '/scores': undefined, '/compare': undefined, '/why': 'runs' } as const

function isOfOneScorer(view: string): view is keyof typeof OF_ONE_SCORER {
  return Object.hasOwn(OF_ONE_SCORER, view)
}

/** The scorer that a view of one scorer shows: the chosen one, or else the one that fails most; `''` without scores. */
export function scorerOf(view: keyof typeof OF_ONE_SCORER, choices: Choices, overview: ServiceOverview): string {
  return choices['scorer'] ?? mostFailing(overview, OF_ONE_SCORER[view]) ?? ''
}

/** What a link to another view keeps: its scorer is the one that is looked at, also if nobody chose it. */
export function keptBetween(shown: string, next: string, choices: Choices, overview: ServiceOverview): Choices {
  const kept = sharedOf(choices)
  if (!isOfOneScorer(shown) || !isOfOneScorer(next)) return kept
  const scorer = scorerOf(shown, choices, overview)
  return scorersOf(overview, OF_ONE_SCORER[next]).includes(scorer) ? { ...kept, scorer } : kept
}

/** The scorer that surely fails most; `undefined` without scores. @param of as for `scorersOf` */
function mostFailing(overview: ServiceOverview, of?: 'conversations' | 'runs'): string | undefined {
  const chosen = new Set(scorersOf(overview, of))
  return overview.scorers
    .filter(({ scorer }) => chosen.has(scorer))
    .toSorted((left, right) => right.failsAtLeast - left.failsAtLeast)[0]?.scorer
}

/** Whether lower values of a scorer are better. */
export function isLowerBetter({ scorers }: ServiceOverview, scorer: string): boolean {
  return scorers.some((each) => each.scorer === scorer && each.better === 'lower')
}

/** The place of a scorer's pass mark in its range, of which 1 is the better end; `undefined` if it has none. */
export function passPositionOf({ scorers }: ServiceOverview, scorer: string): number | undefined {
  const found = scorers.find((each) => each.scorer === scorer)
  if (found?.range === null || found?.range === undefined || found.passAt === null) return undefined
  return positionInRange({ scorer: { range: found.range, better: found.better } }, found.passAt)
}

/** The versions of a scorer, the one with most scores first. */
export function versionsOf(overview: ServiceOverview, scorer: string): readonly string[] {
  const versions = overview.scorers.filter((each) => each.scorer === scorer).map(({ version }) => version)
  return [...new Set(versions)].filter((version) => version !== '')
}

interface ScorerChoiceProps {
  readonly value: string
  readonly options: readonly string[]
  /** Choices that have no meaning for another scorer. */
  readonly clears: readonly string[]
}

/** Chooses the scorer of the view. */
export function ScorerChoice({ value, options, clears }: ScorerChoiceProps) {
  const { overview } = useService()
  const { choose } = useChoices()
  return (
    <Choice
      label="Scorer"
      value={value}
      options={namedScorers(overview, options)}
      onChange={(scorer) => choose({ scorer, ...Object.fromEntries(clears.map((each) => [each, ''])) })}
    />
  )
}

/** Chooses the agent of the view; all if none is chosen. */
export function AgentChoice({
  value,
}: {
  /** The agent that is meant without a choice. @default all */
  readonly value?: string | undefined
}) {
  const { overview } = useService()
  const { choices, choose } = useChoices()
  return (
    <Choice
      label="Agent"
      any="all"
      value={choices['agent'] ?? value ?? ''}
      options={overview.agents}
      onChange={(agent) => choose({ agent })}
    />
  )
}

/** Chooses the period of the view. The runs of files may be old, and have none. */
export function TimeChoice({ any }: { readonly any: string }) {
  const { overview } = useService()
  const { choices, choose } = useChoices()
  if (overview.files !== undefined) return null
  return (
    <Choice
      label="Time"
      any={any}
      value={choices['time'] ?? ''}
      options={TIMES}
      onChange={(time) => choose({ time, since: '', from: '', to: '' })}
    />
  )
}

/** Chooses the verdict of the chosen scorer. */
export function VerdictChoice({
  others = [],
}: {
  readonly others?: readonly { readonly value: string; readonly name: string }[]
}) {
  const { choices, choose } = useChoices()
  return (
    <Choice
      label="Verdict"
      any="any"
      value={choices['label'] ?? ''}
      options={[{ value: 'fail', name: '✗ fails' }, { value: 'pass', name: '✓ passes' }, ...others]}
      onChange={(label) => choose({ label })}
    />
  )
}
