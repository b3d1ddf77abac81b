import type { ServiceOverview } from '../api.ts'
import { useService } from '../service.ts'
import { Choice } from './choice.tsx'
import { useChoices } from './place.ts'

/** The scorers of which scores are stored, each once. */
export function scorersOf(overview: ServiceOverview): readonly string[] {
  return [...new Set(overview.scorers.map(({ scorer }) => scorer))]
}

/** The versions of a scorer, the one with most scores first. */
export function versionsOf(overview: ServiceOverview, scorer: string): readonly string[] {
  return [...new Set(overview.scorers.filter((each) => each.scorer === scorer).map(({ version }) => version))]
}

interface ScorerChoiceProps {
  readonly value: string
  readonly options: readonly string[]
  /** Choices that mean nothing with another scorer. */
  readonly clears: readonly string[]
}

/** Whose scores the view is of. */
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

/** Which agent the view is of: all, where nobody has chosen one. */
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
