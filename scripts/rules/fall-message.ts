/**
 * The words of an alert on scores, as templates of Prometheus: what fell, from what to what, over how many runs, since when, and whether
 * something else changed. They read the rules `spanscore:fell…`, which have values only while there is a fall.
 */

type Kind = 'target' | 'usual'

/** Asks Prometheus, and runs the body for each result. Quotes in the query are escaped here. */
const each = (query: string, values: readonly string[], body: string) =>
  `{{ range printf ${JSON.stringify(query)} ${values.join(' ')} | query }}${body}{{ end }}`

const SCORER =
  '{{ $of := printf "job=%q,gen_ai_agent_name=%q,gen_ai_evaluation_name=%q" $labels.job $labels.gen_ai_agent_name $labels.gen_ai_evaluation_name }}'

const LINE =
  '{{ $window := .Labels.window }}{{ $measure := .Labels.measure }}' +
  '{{ $line := printf "%s,measure=%q,window=%q,spanscore_scorer_version=%q,spanscore_judge_model=%q" $of $measure $window (or .Labels.spanscore_scorer_version "") (or .Labels.spanscore_judge_model "") }}'

const VALUE = '{{ .Value | printf "%.3g" }}'
const UNIT = '{{ if eq $measure "passed" }} %{{ end }}'

const NOW = each('spanscore:fell_level{of="now",%s}', ['$line'], VALUE)

/** Sorted, because the better bound is the smaller one of a scorer for which lower is better. */
const INTERVAL = each('sort(spanscore:fell_level{of=~"lower|upper",%s})', ['$line'], VALUE)
  .replace('{{ range ', '{{ range $index, $bound := ')
  .replace(VALUE, `{{ if $index }} to {{ end }}${VALUE}`)

const WINDOW =
  '{{ if eq $window "15m" }}15 minutes{{ else if eq $window "1h" }}hour{{ else if eq $window "6h" }}6 hours{{ else if eq $window "1d" }}day{{ else }}3 days{{ end }}'

const TIME = '{{ (toTime .Value).Format "2 Jan 15:04" }} UTC'

/** Of the series of a scorer, the one with the most evidence. */
const strongest = (kind: Kind, body: string) =>
  `${SCORER}${each(`topk(1, spanscore:fell{kind="${kind}",%s})`, ['$of'], `${LINE}${body}`)}`

/** One sentence: what fell, from what to what, over how many runs. */
export function summary(kind: Kind): string {
  const runs = each('spanscore:fell_runs{%s}', ['$line'], '{{ .Value | printf "%.0f" }} runs')
  const level = `${each(`spanscore:fell_level{of="good",kind="${kind}",%s}`, ['$line'], VALUE)}${UNIT}`
  const good = kind === 'target' ? `target ${level}` : `usual is ${level} or better`
  return strongest(
    kind,
    '{{ $labels.gen_ai_agent_name }}: {{ $labels.gen_ai_evaluation_name }} ' +
      `{{ if eq $measure "passed" }}passes ${NOW}${UNIT} of ${runs}` +
      `{{ else }}has a mean of ${NOW} over ${runs}{{ end }} (${INTERVAL}${UNIT}) in the last ${WINDOW}; ${good}.`,
  )
}

/** When there was last no evidence. */
const lastGood = (kind: Kind) => `max(max_over_time(timestamp(spanscore:evidence{kind="${kind}",%s} <= 0)[4d:5m]))`

/** When evidence was first seen, if there was never none: the fall may be older than the target, or than what is usual. */
const firstSeen = (kind: Kind) =>
  `min(min_over_time(timestamp(spanscore:evidence{kind="${kind}",%s})[4d:5m])) unless ${lastGood(kind)}`

/** When each version of the service was first seen: to a minute in the last two hours, which a fall is most likely due to. */
const VERSIONS = `min by (service_version) (${['4d:10m', '2h:1m']
  .map((range) => `min_over_time(timestamp(spanscore_runs_total{job=%q,service_version!=""})[${range}])`)
  .map((seen, index) => `label_replace(${seen}, "of", "${index}", "", "")`)
  .join(' or ')})`

/** Since when, the version of the service, and what limits the trust in the figures. */
export function description(kind: Kind): string {
  const job = '$labels.job'
  return strongest(
    kind,
    [
      each(lastGood(kind), ['$line'], `Since about ${TIME}.`),
      each(firstSeen(kind), ['$line', '$line'], `Since ${TIME} or earlier.`),
      each(
        `topk(1, ${VERSIONS}) and on () count(${VERSIONS}) > 1`,
        [job, job, job, job],
        ` Version {{ .Labels.service_version }} of {{ $labels.job }} since ${TIME}.`,
      ),
      each(
        `${VERSIONS} and on () count(${VERSIONS}) == 1`,
        [job, job, job, job],
        ' Version {{ .Labels.service_version }} of {{ $labels.job }} did not change.',
      ),
      each(
        '100 * (1 - (spanscore:accounted:1d{%s} < 0.95))',
        ['$of'],
        ' Of the runs chosen in the last day, {{ .Value | printf "%.0f" }} % have no score, so the real figure may be another.',
      ),
      each(
        'max(spanscore:together_measured{%s} > 1.5 * spanscore:together)',
        ['$of'],
        ' Its hours differ as if {{ .Value | printf "%.0f" }} runs at a time had one outcome, which alerts.runsTogether would take into account.',
      ),
    ].join(''),
  )
}
