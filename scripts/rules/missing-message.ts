/** The words of alerts on missing scores, as templates of Prometheus: since when there are none, and why. */
import { literalsOf } from '../docs-reference/declarations.ts'
import { oneLine } from '../docs-reference/tsdoc.ts'
import { PAGE } from './limits.ts'
import { each, TIME } from './template.ts'

type Labels = Readonly<Record<string, string>>

/** The labels of a scorer of a service. */
export const SCORER_OF_JOB: Labels = { job: '$labels.job', gen_ai_evaluation_name: '$labels.gen_ai_evaluation_name' }
/** The labels of a scorer of an agent. */
export const SCORER_OF_AGENT: Labels = { ...SCORER_OF_JOB, gen_ai_agent_name: '$labels.gen_ai_agent_name' }

const selector = (of: Labels, first = 1) =>
  Object.keys(of)
    .map((label, index) => `${label}=%[${first + index}]q`)
    .join(',')

/** What a reason means, as docs/reference/reasons.md has it. */
const MEANING = ['SkipReason', 'FailureCode']
  .flatMap((type) => literalsOf('src/model/score.ts', type))
  .map(({ literal, comment }, index) => {
    const words = oneLine(comment.summary).replaceAll('`', '').replace(/\.$/, '').split('. ')[0]
    return `{{ ${index === 0 ? 'if' : 'else if'} eq .Labels.spanscore_reason "${literal}" }}${words}`
  })
  .concat('{{ else }}{{ .Labels.spanscore_reason }}{{ end }}')
  .join('')

/** Why runs have no score: the three most frequent reasons, in words. An open circuit comes last: it is what follows. */
export function reasons(matcher: string, range: string, of: Labels): string {
  const counts = (which: string) =>
    `round(sum by (spanscore_reason) (increase(spanscore_evaluations_total{${matcher},${which},${selector(of)}}[${range}]))) > 0`
  return (
    each(
      `topk(3, ${counts('spanscore_reason!~"|circuit-open"')})`,
      Object.values(of),
      ` ${MEANING} ({{ .Labels.spanscore_reason }}, {{ .Value }} runs).`,
    ) +
    each(
      counts('spanscore_reason="circuit-open"'),
      Object.values(of),
      ' Meanwhile it is not asked (circuit-open, {{ .Value }} runs), and tried again by itself.',
    )
  )
}

/** When there was last a score. */
export function lastScore(of: Labels): string {
  const some = `sum(increase(spanscore_evaluations_total{spanscore_outcome="scored",${selector(of)}}[2m])) > 0`
  return each(
    `max_over_time((timestamp(${some}))[1d:1m]) < time() - 180`,
    Object.values(of),
    ` The last score was at ${TIME}.`,
  )
}

/** That scores were low before they stopped. `$of` are the scorer's labels. */
export const wasLow: string = each(
  `max(max_over_time(spanscore:evidence:now{%[1]s}[6h])) > ${PAGE}`,
  ['$of'],
  ' They were low before they stopped, so the fault may go on.',
)
