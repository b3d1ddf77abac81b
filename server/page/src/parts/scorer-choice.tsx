import type { ServiceOverview } from '../api.ts'

/** The scorers of which scores are stored, each once. */
export function scorersOf(overview: ServiceOverview): readonly string[] {
  return [...new Set(overview.scorers.map(({ scorer }) => scorer))]
}

/** The versions of a scorer, the one with most scores first. */
export function versionsOf(overview: ServiceOverview, scorer: string): readonly string[] {
  return [...new Set(overview.scorers.filter((each) => each.scorer === scorer).map(({ version }) => version))]
}
