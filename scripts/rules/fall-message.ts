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
  '{{ if eq $window "15m" }}15 minutes{{ else if eq $window "1h" }}hour{{ else if eq $window "6h" }}6 hours{{ else if eq $window "1d" }}day{{ else if eq $window "3d" }}3 days{{ else }}week{{ end }}'

const TIME = '{{ (toTime .Value).Format "2 Jan 15:04" }} UTC'

/**
 * Of the series of a scorer, the one with the most evidence. Of a scorer that says yes or no, the mean and the share that passes have the same: the
 * share is easier to read.
 */
const strongest = (kind: Kind, body: string) => {
  const of = (measure: string) => `spanscore:fell{kind="${kind}",measure="${measure}",%s}`
  return `${SCORER}${each(`topk(1, 1.01 * ${of('passed')} or ${of('mean')})`, ['$of', '$of'], `${LINE}${body}`)}`
}

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

/** Both the last two hours to a minute, and four days. */
const soonOrLater = (of: (range: string) => string) =>
  ['4d:10m', '2h:1m'].map((range, index) => `label_replace(${of(range)}, "of", "${index}", "", "")`).join(' or ')

/** When there was last no evidence. */
const lastGood = (kind: Kind) =>
  `max(${soonOrLater((range) => `max_over_time(timestamp(spanscore:evidence{kind="${kind}",%s} <= 0)[${range}])`)})`

/** When evidence was first seen, if there was never none: the fall may be older than the target, or than what is usual. */
const firstSeen = (kind: Kind) =>
  `min(min_over_time(timestamp(spanscore:evidence{kind="${kind}",%s})[4d:5m])) unless ${lastGood(kind)}`

/** When each value of a label was first seen: to a minute in the last two hours, which a fall is most likely due to. */
const firstSeenBy = (label: string, series: string) =>
  `min by (${label}) (${soonOrLater((range) => `min_over_time(timestamp(${series})[${range}])`)})`

const VERSIONS = firstSeenBy('service_version', 'spanscore_runs_total{job=%q,service_version!=""}')

/** What an agent is made of, and how a message calls a change of it. */
const MAKES = {
  spanscore_agent_prompt: 'Its prompt changed',
  spanscore_agent_tools: 'Its tools changed',
  gen_ai_request_model: 'Model {{ .Labels.gen_ai_request_model }}',
} as const

/** The newest prompt, set of tools and model of an agent that had others before. */
const changedMakes = Object.entries(MAKES)
  .map(([label, text]) => {
    const seen = firstSeenBy(label, `spanscore_agent_info{job=%q,gen_ai_agent_name=%q,${label}!=""}`)
    const agent = ['$labels.job', '$labels.gen_ai_agent_name']
    return each(
      `topk(1, ${seen}) and on () count(${seen}) > 1`,
      Array.from({ length: 4 }, () => agent).flat(),
      ` ${text} at ${TIME}.`,
    )
  })
  .join('')

/** The two traits with the most evidence, far more than chance has among all of them. */
const inCommon = each(
  'topk(2, spanscore:trait_evidence:1h{%s} > 10)',
  ['$of'],
  '{{ $trait := printf "%s,spanscore_trait=%q,spanscore_trait_value=%q" $of .Labels.spanscore_trait .Labels.spanscore_trait_value }}' +
    ' In common: {{ .Labels.spanscore_trait }} = {{ .Labels.spanscore_trait_value }}, ' +
    each('spanscore:trait_rate:1h{of="with",%s}', ['$trait'], 'of which {{ .Value | printf "%.0f" }} % fail') +
    each('spanscore:trait_rate:1h{of="without",%s}', ['$trait'], ', of the others {{ .Value | printf "%.2g" }} %') +
    '.',
)

const examples =
  each('spanscore_example{%s}', ['$of'], '{{ .Labels.spanscore_trace_id }}')
    .replace('{{ range ', '{{ range $index, $example := ')
    .replace('{{ .Labels', '{{ if $index }},{{ else }} For example traces{{ end }} {{ .Labels') +
  each('count(spanscore_example{%s})', ['$of'], '.')

/** What a scorer looks for. */
const checks = each(
  'topk(1, spanscore_scorer_info{job=%q,gen_ai_evaluation_name=%q})',
  ['$labels.job', '$labels.gen_ai_evaluation_name'],
  '{{ with .Labels.spanscore_scorer_description }} {{ $labels.gen_ai_evaluation_name }}: {{ . }}{{ end }}',
)

/** The call and the trace of failing runs, and what their scorer looks for. */
export const failingRuns: string = `${SCORER}${[
  each(
    'spanscore_example{%s}',
    ['$of'],
    '{{ with .Labels.gen_ai_tool_name }}Call of {{ . }} in trace{{ else }}Trace{{ end }} {{ .Labels.spanscore_trace_id }}. ',
  ),
  'This ends 30 minutes after the last failing run, and no second message comes before.',
  checks,
].join('')}`

/** The share of failing runs since the scores were last good, which is worse than that of a window with good runs in it. */
const sinceThen = (kind: Kind) =>
  each(
    `time() - ${lastGood(kind)} > 0`,
    ['$line', '$line'],
    '{{ $seconds := .Value | printf "%.0f" }}' +
      each(
        '100 * sum(increase(spanscore_sum_w_total{gen_ai_evaluation_score_label="fail",%s}[%ss])) / sum(increase(spanscore_sum_w_total{%s}[%ss]))',
        ['$of', '$seconds', '$of', '$seconds'],
        ' Since then {{ .Value | printf "%.0f" }} % fail.',
      ),
  )

/** Since when, the version of the service, and what limits the trust in the figures. */
export function description(kind: Kind): string {
  const job = '$labels.job'
  return strongest(
    kind,
    [
      each(lastGood(kind), ['$line', '$line'], `Since about ${TIME}.`),
      each(firstSeen(kind), ['$line', '$line', '$line'], `Since ${TIME} or earlier.`),
      sinceThen(kind),
      inCommon,
      examples,
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
      changedMakes,
      checks,
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
