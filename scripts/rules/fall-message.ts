/**
 * The words of an alert on scores, as templates of Prometheus: how many runs fail, since when, what failing runs have in common, and what
 * changed.
 */
import { FREEZE } from './limits.ts'
import { AGENT, DESCRIPTION, each, firstSeenBy, SCORER, TIME, VERSION } from './template.ts'

type Kind = 'target' | 'usual'

const LINE =
  '{{ $measure := .Labels.measure }}' +
  '{{ $series := printf "%s,spanscore_scorer_version=%q,spanscore_judge_model=%q" $of (or .Labels.spanscore_scorer_version "") (or .Labels.spanscore_judge_model "") }}' +
  '{{ $line := printf "%s,measure=%q" $series $measure }}'

/**
 * Of the series of a scorer, the one with the most evidence. Of a scorer that says yes or no, the mean and the share that passes have the same: the
 * share is easier to read.
 */
const strongest = (kind: Kind, body: string) => {
  const of = (measure: string) => `spanscore:evidence:now{kind="${kind}",measure="${measure}",%[1]s}`
  return `${SCORER}${each(`topk(1, 1.01 * ${of('passed')} or ${of('mean')})`, ['$of'], `${LINE}${body}`)}`
}

/** Since when running evidence says so; for a fall that is too small for it, since when that of its window does. */
const beganAt = (kind: Kind, body: string) => {
  const running = `max(spanscore:good_at{kind="${kind}",window="running",%[1]s}) and on () max(spanscore:running{kind="${kind}",%[1]s}) > ${FREEZE}`
  return each(`(${running}) or max(spanscore:good_at{kind="${kind}",window!="running",%[1]s})`, ['$line'], body)
}

/** `$since` and `$seconds`, as texts. */
const began = (kind: Kind, body: string) =>
  beganAt(
    kind,
    `{{ $since := (toTime .Value).Format "2 Jan 15:04 UTC" }}` +
      each('clamp_min(vector(time() - %[1]f), 60)', ['.Value'], `{{ $seconds := .Value | printf "%.0f" }}${body}`),
  )

/** Gives `$since` of a link the time, as RFC 3339 in UTC. */
export function since(kind: Kind): string {
  return strongest(kind, beganAt(kind, '{{ $since = (toTime .Value).Format "2006-01-02T15:04:05Z" }}'))
}

/** A position in the scorer's own units; the position itself if its range is not known. */
const inOwnUnits = (position: string, of: string) => {
  const setting = (name: string) => `max(spanscore:setting{spanscore_setting="${name}",${of}})`
  return `(${position}) * (${setting('best_score')} - ${setting('worst_score')}) + ${setting('worst_score')} or (${position})`
}

const SINCE = ['$series', '$seconds', '$of']
const VALUE = '{{ .Value | printf "%.3g" }}'
const sum = (metric: string, matcher = '') => `sum(increase(${metric}{${matcher}%[1]s}[%[2]ss]))`
const failing = sum('spanscore_sum_w_total', 'gen_ai_evaluation_score_label="fail",')
const FAILS = each(
  `100 * (${failing} or vector(0)) / ${sum('spanscore_sum_w_total')}`,
  SINCE,
  '{{ .Value | printf "%.0f" }}',
)
const MEAN = each(
  inOwnUnits(`${sum('spanscore_sum_wy_total')} / ${sum('spanscore_sum_w_total')}`, '%[3]s'),
  SINCE,
  VALUE,
)

/** Runs, or conversations. */
const COUNT = each(
  `topk(1, sum by (spanscore_level) (increase(spanscore_evaluations_total{spanscore_outcome="scored",%[3]s}[%[2]ss])))`,
  SINCE,
  '{{ .Value | printf "%.0f" }} {{ if eq (or .Labels.spanscore_level "") "conversation" }}conversations{{ else }}runs{{ end }}',
)

const DIRECTION =
  each(
    'max(spanscore:setting{spanscore_setting="best_score",%[1]s}) < max(spanscore:setting{spanscore_setting="worst_score",%[1]s})',
    ['$of'],
    ', lower is better',
  ) +
  each(
    'max(spanscore:setting{spanscore_setting="best_score",%[1]s}) > max(spanscore:setting{spanscore_setting="worst_score",%[1]s})',
    ['$of'],
    ', higher is better',
  )

/** One sentence: how many runs fail, since when, and what is usual. */
export function summary(kind: Kind): string {
  const level = (measure: string) => `max(spanscore:${kind}_${measure}{%[1]s})`
  const failingLevel = each(`100 * (1 - ${level('passed')})`, ['$series'], VALUE)
  const meanLevel = each(inOwnUnits(level('mean'), '%[2]s'), ['$series', '$of'], VALUE)
  const [most, good] = kind === 'target' ? ['target: at most ', 'target '] : ['usually at most ', 'usually ']
  return strongest(
    kind,
    `${AGENT}: ` +
      began(
        kind,
        `{{ if eq $measure "passed" }}${FAILS} % of ${COUNT} fail {{ $labels.gen_ai_evaluation_name }} since {{ $since }} (${most}${failingLevel} %)` +
          `{{ else }}the mean of {{ $labels.gen_ai_evaluation_name }} is ${MEAN} over ${COUNT} since {{ $since }} (${good}${meanLevel}${DIRECTION}){{ end }}.`,
      ),
  )
}

/** What an agent is made of, and how a message calls a change of it. */
const MAKES = {
  spanscore_agent_prompt: 'Its prompt changed',
  spanscore_agent_tools: 'Its tools changed',
  gen_ai_request_model: 'Model {{ .Labels.gen_ai_request_model }}',
} as const

/** The newest prompt, set of tools and model of an agent that had others before. */
const CHANGED = Object.entries(MAKES)
  .map(([label, text]) => {
    const seen = firstSeenBy(label, `spanscore_agent_info{job=%[1]q,gen_ai_agent_name=%[2]q,${label}!=""}`)
    const agent = ['$labels.job', '$labels.gen_ai_agent_name']
    return each(`topk(1, ${seen}) and on () count(${seen}) > 1`, agent, ` ${text} at ${TIME}.`)
  })
  .join('')

const TRAIT = ['$trait', '$seconds', '$of']
const ofTrait = (matcher: string) => `sum(increase(spanscore_traits_total{${matcher}}[%[2]ss]))`
const FAIL = 'gen_ai_evaluation_score_label="fail"'
/** Every run has one `status`. */
const EVERY = 'spanscore_trait="status",%[3]s'
const [failWith, allWith] = [`(${ofTrait(`${FAIL},%[1]s`)} or vector(0))`, ofTrait('%[1]s')]
const [failEvery, allEvery] = [`(${ofTrait(`${FAIL},${EVERY}`)} or vector(0))`, ofTrait(EVERY)]

/** The two traits with the most evidence, far more than chance has among all of them. The error of a tool names the tool, too. */
const inCommon = (kind: Kind) =>
  began(
    kind,
    each(
      'topk(2, spanscore:trait_evidence:1h{spanscore_trait!="failed tool",%[1]s} > 10)',
      ['$of'],
      '{{ $trait := printf "%s,spanscore_trait=%q,spanscore_trait_value=%q" $of .Labels.spanscore_trait .Labels.spanscore_trait_value }}' +
        ' In common: {{ .Labels.spanscore_trait }} = {{ .Labels.spanscore_trait_value }}: ' +
        each(`100 * ${failWith} / ${allWith}`, TRAIT, '{{ .Value | printf "%.0f" }} % of these runs fail') +
        each(
          `100 * clamp_min(${failEvery} - ${failWith}, 0) / (${allEvery} - ${allWith} > 0)`,
          TRAIT,
          ', of the others {{ .Value | printf "%.2g" }} %',
        ) +
        '.',
    ),
  )

const EXAMPLES =
  each('topk(2, spanscore_example{%[1]s})', ['$of'], '{{ .Labels.spanscore_trace_id }}')
    .replace('{{ range ', '{{ range $index, $example := ')
    .replace('{{ .Labels', '{{ if $index }},{{ else }} For example traces{{ end }} {{ .Labels') +
  each('count(spanscore_example{%[1]s})', ['$of'], '.')

/** The call and the trace of failing runs, and what their scorer looks for. */
export const failingRuns: string = `${SCORER}${[
  each(
    'spanscore_example{%[1]s}',
    ['$of'],
    '{{ with .Labels.gen_ai_tool_name }}Call of {{ . }} in trace{{ else }}Trace{{ end }} {{ .Labels.spanscore_trace_id }}. ',
  ),
  'This ends 30 minutes after the last failing run, and no second message comes before.',
  DESCRIPTION,
].join('')}`

/** What failing runs have in common, what changed, and what limits the trust in the figures. */
export function description(kind: Kind): string {
  return strongest(
    kind,
    [
      'Likely the agent or what it depends on, and not the measurement.',
      VERSION,
      CHANGED,
      inCommon(kind),
      EXAMPLES,
      DESCRIPTION,
      each(
        '100 * (1 - (spanscore:accounted:1d{%[1]s} < 0.95))',
        ['$of'],
        ' Of the runs chosen in the last day, {{ .Value | printf "%.0f" }} % have no score, so the real figure may be another.',
      ),
      each(
        'max(spanscore:together_measured{%[1]s} > 1.5 * spanscore:together)',
        ['$of'],
        ' Its hours differ as if {{ .Value | printf "%.0f" }} runs at a time had one outcome, which alerts.runsTogether would take into account.',
      ),
    ].join(''),
  )
}
