/** Parts of messages, as templates of Prometheus. */

/**
 * Asks Prometheus, and runs the body for each result.
 *
 * @param query in the notation of Go's `printf`: `%[1]s` is the first value
 */
export const each = (query: string, values: readonly string[], body: string): string =>
  `{{ range printf ${JSON.stringify(query)} ${values.join(' ')} | query }}${body}{{ end }}`

/** A result that is a time. */
export const TIME = '{{ (toTime .Value).Format "2 Jan 15:04" }} UTC'

/** When each value of a label was first seen in four days: to a minute in the last two hours, which a fall is most likely due to. */
export function firstSeenBy(label: string, series: string): string {
  const seen = ['4d:10m', '2h:1m'].map((range) => `min_over_time(timestamp(${series})[${range}])`)
  return `min by (${label}) (${seen.map((time, index) => `label_replace(${time}, "of", "${index}", "", "")`).join(' or ')})`
}

const VERSIONS = firstSeenBy('service_version', 'spanscore_runs_total{job=%[1]q,service_version!=""}')

/** The version of the service, and since when: most falls and silences begin with one. */
export const VERSION: string =
  each(
    `topk(1, ${VERSIONS}) and on () count(${VERSIONS}) > 1`,
    ['$labels.job'],
    ` New version {{ .Labels.service_version }} of {{ $labels.job }} since ${TIME}.`,
  ) +
  each(
    `${VERSIONS} and on () count(${VERSIONS}) == 1`,
    ['$labels.job'],
    ' Version {{ .Labels.service_version }} of {{ $labels.job }} did not change.',
  )

/** An agent and its service. */
export const AGENT = '{{ $labels.gen_ai_agent_name }} ({{ $labels.job }})'

/** `$of`: the labels of a scorer of an agent, as a selector. */
export const SCORER =
  '{{ $of := printf "job=%q,gen_ai_agent_name=%q,gen_ai_evaluation_name=%q" $labels.job $labels.gen_ai_agent_name $labels.gen_ai_evaluation_name }}'

/** What a scorer looks for, in its own words. */
export const DESCRIPTION: string = each(
  'topk(1, spanscore_scorer_info{job=%[1]q,gen_ai_evaluation_name=%[2]q})',
  ['$labels.job', '$labels.gen_ai_evaluation_name'],
  '{{ with .Labels.spanscore_scorer_description }} {{ $labels.gen_ai_evaluation_name }}: {{ . }}{{ end }}',
)
