import type { ServiceOverview } from '../api.ts'
import { useService } from '../service.ts'
import { Choice } from './choice.tsx'
import { TIMES, useChoices } from './place.ts'

/** The scorers with stored scores, each once. */
export function scorersOf(overview: ServiceOverview): readonly string[] {
  return [...new Set(overview.scorers.map(({ scorer }) => scorer))]
}

/** The scorer that surely fails most runs; `undefined` without scores. */
export function mostFailing({ scorers }: ServiceOverview): string | undefined {
  return scorers.toSorted((left, right) => right.failsAtLeast - left.failsAtLeast)[0]?.scorer
}

/** Whether lower values of a scorer are better. */
export function isLowerBetter({ scorers }: ServiceOverview, scorer: string): boolean {
  return scorers.some((each) => each.scorer === scorer && each.better === 'lower')
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
  const { choose } = useChoices()
  return (
    <Choice
      label="Scorer"
      value={value}
      options={options}
      onChange={(scorer) => choose({ scorer, ...Object.fromEntries(clears.map((each) => [each, ''])) })}
    />
  )
}

/** Chooses the agent of the view; all if none is chosen. */
export function AgentChoice({ label = 'Agent', any = 'all' }: { readonly label?: string; readonly any?: string }) {
  const { overview } = useService()
  const { choices, choose } = useChoices()
  return (
    <Choice
      label={label}
      any={any}
      value={choices['agent'] ?? ''}
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
      onChange={(time) => choose({ time })}
    />
  )
}
