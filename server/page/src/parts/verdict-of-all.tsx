import type { Evaluation } from '../api.ts'

/** How many scorers fail a run or conversation. */
export function VerdictOfAll({ evaluations }: { readonly evaluations: readonly Evaluation[] }) {
  const labels = evaluations.flatMap(({ score }) => (score.status === 'scored' ? (score.label ?? []) : []))
  const fails = labels.filter((label) => label === 'fail').length
  if (labels.length === 0) return <span class="mark none">not scored</span>
  return fails === 0 ? (
    <span class="mark pass">✓ {labels.length === 1 ? 'passes' : `all ${labels.length} pass`}</span>
  ) : (
    <span class="mark fail">
      ✗ {fails} of {labels.length} {fails === 1 ? 'fails' : 'fail'}
    </span>
  )
}
