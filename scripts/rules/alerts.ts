import { alert, page, ticket } from './alert.ts'
import { AGENT_AND_SCORER, named } from './recording.ts'
import type { RuleGroup } from './recording.ts'
import type { Table } from './table.ts'
import { WORKERS } from './worker-alerts.ts'

/** A Prometheus template that lists the scorers of an agent for which the alert fires, with their evidence. */
const speaking = (over: number) =>
  `{{ range query (printf "sort_desc(spanscore:evidence:now{job=%q,gen_ai_agent_name=%q} > ${over})" $labels.job $labels.gen_ai_agent_name) }}` +
  `{{ .Labels.gen_ai_evaluation_name }} ({{ .Labels.measure }} below {{ if eq .Labels.kind "target" }}its target{{ else }}what is usual{{ end }}, {{ .Value | printf "%.0f" }} nats) {{ end }}`

/** Alerts on scores, each once for an agent, whichever of its scorers are concerned. */
function alignment({ page: pageAt, ticket: ticketAt }: Table): RuleGroup {
  const strongest = 'max by (job, gen_ai_agent_name) (spanscore:evidence:now)'
  return {
    name: 'spanscore-alignment',
    interval: '1m',
    rules: [
      alert(
        'SpanscoreScoresFell',
        `${strongest} > ${pageAt}`,
        page,
        {
          summary: 'Scores of {{ $labels.gen_ai_agent_name }} are worse than they should be',
          description: `${speaking(ticketAt)}. Evidence of {{ $value | printf "%.0f" }} nats; ${pageAt} is not chance.`,
        },
        { keep_firing_for: '30m' },
      ),
      alert(
        'SpanscoreScoresSinking',
        `${strongest} > ${ticketAt}`,
        ticket,
        {
          summary: 'Scores of {{ $labels.gen_ai_agent_name }} may be worse than they should be',
          description: `${speaking(ticketAt)}. Evidence of {{ $value | printf "%.0f" }} nats.`,
        },
        { for: '15m', keep_firing_for: '30m' },
      ),
      alert(
        'SpanscoreNothingToCompare',
        [
          '(spanscore:sum_w:1h unless spanscore:usual_mean:1h)',
          `and on (${AGENT_AND_SCORER}) last_over_time(spanscore:usual_mean:1h[1d])`,
        ].join('\n'),
        ticket,
        {
          summary:
            '{{ $labels.gen_ai_evaluation_name }} of {{ $labels.gen_ai_agent_name }} is new, and compared with nothing',
          description:
            'Version {{ $labels.spanscore_scorer_version }}, judge {{ $labels.spanscore_judge_model }}: a fall below the target is seen; one below what is usual is not, until 200 runs are scored.',
        },
        { for: '1h' },
      ),
      alert(
        'SpanscoreRunsTogether',
        'spanscore:together_measured > 1.5 * spanscore:together',
        ticket,
        {
          summary: 'Runs of {{ $labels.gen_ai_agent_name }} share causes: its evidence is overstated',
          description:
            'Hours differ as if {{ $value | printf "%.1f" }} runs at a time had one outcome of {{ $labels.gen_ai_evaluation_name }}. Raise together in rules-table.yaml.',
        },
        { for: '1h' },
      ),
    ],
  }
}

/**
 * Evaluations that failed, or were skipped because their judge cannot be asked. An open circuit asks only a few times an hour, so
 * that failures alone would end the alert while the judge is still away. Series made from late spans have no reason.
 */
const OF_FAILED =
  'spanscore_evaluations_total{spanscore_outcome=~"failed|skipped", spanscore_reason=~"|judge-.+|scorer-.+|invalid-score|redact-failed|circuit-open"}[15m]'
const OF_SCORED = 'spanscore_evaluations_total{spanscore_outcome="scored"}[15m]'

/** @param range With its offset: `[1d] offset 30m`. */
const closed = (range: string) =>
  named(`sum by (job, gen_ai_agent_name) (increase(spanscore_runs_total{spanscore_outcome="closed"}${range}))`)
const scored = (range: string) =>
  named(`sum by (${AGENT_AND_SCORER}) (increase(spanscore_evaluations_total{spanscore_outcome="scored"}${range}))`)

/** Alerts on missing scores, and on scores that do not represent all runs. */
function scoring({ page: pageAt }: Table): RuleGroup {
  return {
    name: 'spanscore-scoring',
    interval: '1m',
    rules: [
      alert(
        'SpanscoreJudgesFailing',
        [
          'max by (job) (',
          `  sum by (job, gen_ai_evaluation_name) (increase(${OF_FAILED}))`,
          `    / sum by (job, gen_ai_evaluation_name) (increase(${OF_FAILED}) or increase(${OF_SCORED}))`,
          `  and sum by (job, gen_ai_evaluation_name) (increase(${OF_FAILED})) >= 5`,
          ') > 0.1',
        ].join('\n'),
        ticket,
        {
          summary: 'Scorers of {{ $labels.job }} fail to score',
          description:
            'Of one scorer, {{ $value | humanizePercentage }} of the evaluations of the last 15 minutes failed, or its judge could not be asked; the attribute spanscore.reason says why.',
        },
        { for: '5m', keep_firing_for: '15m' },
      ),
      alert(
        'SpanscoreScorerSilent',
        // No score in 30 minutes where yesterday's share of scored runs lets at least eight be expected: chance alone would be
        // silent once in 3,000 times. Or no score after one that paged: a lack of scores does not mean that the fault is repaired.
        [
          'count by (job, gen_ai_agent_name) (',
          '  (',
          `    ${scored('[1d] offset 30m')}`,
          `    / on (job, gen_ai_agent_name) group_left () (${closed('[1d] offset 30m')} > 0)`,
          `    * on (job, gen_ai_agent_name) group_left () ${closed('[30m]')}`,
          '    >= 8',
          '  )',
          `  unless ${scored('[30m]')} > 0`,
          ')',
          'or',
          `count by (job, gen_ai_agent_name) (max by (${AGENT_AND_SCORER}) (max_over_time(spanscore:evidence:now[6h])) > ${pageAt}`,
          `  unless sum by (${AGENT_AND_SCORER}) (spanscore:sum_w:15m) > 0)`,
        ].join('\n'),
        ticket,
        {
          summary: 'Scorers have gone silent on {{ $labels.gen_ai_agent_name }}',
          description:
            '{{ $value }} of its scorers should have scored in the last half hour, or were bad when they last did, and gave no score.',
        },
        { for: '10m' },
      ),
      alert(
        'SpanscoreUnaccounted',
        'spanscore:accounted:1d < 0.95 and spanscore:chosen_runs:1d >= 20',
        ticket,
        {
          summary:
            'The mean of {{ $labels.gen_ai_evaluation_name }} on {{ $labels.gen_ai_agent_name }} leaves runs out',
          description:
            'Of the runs that were chosen in the last day only {{ $value | humanizePercentage }}, by weight, were scored: failed, refused, expired, dropped, or without the content that the scorer reads. The mean may be off by the rest.',
        },
        { for: '15m' },
      ),
      alert(
        'SpanscoreTooManySeries',
        'sum by (job) (increase({__name__=~"spanscore_(sum_w|chosen_w|evaluations)_total", otel_metric_overflow="true"}[15m])) > 0',
        ticket,
        {
          summary: 'Some scores of {{ $labels.job }} are counted without a name',
          description:
            'More combinations of agent, scorer, version and model than the metrics SDK distinguishes (2,000): raise aggregationCardinalityLimit in a view, or take attributes out of metricAttributes.',
        },
      ),
    ],
  }
}

/** Alerts on the delivery of scores. */
const PIPELINE: RuleGroup = {
  name: 'spanscore-pipeline',
  interval: '30s',
  rules: [
    alert(
      'SpanscoreExporterFailing',
      // Refused for good, or taken in and not passed on for five minutes: the queue on disk tries for ever, which no failure
      // counter shows. The Collector's own names come with or without _total, by version and by reader.
      [
        'sum by (job, instance, exporter) (',
        '  rate({__name__=~"otelcol_exporter_(send|enqueue)_failed_(spans|metric_points|log_records)(_total)?"}[5m])',
        ') > 0',
        'or',
        'sum by (job, instance, exporter) (rate({__name__=~"otelcol_exporter_sent_spans(_total)?"}[5m])) == 0',
        'and on (job, instance)',
        'sum by (job, instance) (rate({__name__=~"otelcol_receiver_accepted_spans(_total)?"}[5m])) > 0',
      ].join('\n'),
      ticket,
      {
        summary: 'The Collector cannot deliver through {{ $labels.exporter }}',
        description:
          '{{ $labels.exporter }} of {{ $labels.instance }} is refused, or has sent nothing for five minutes while spans came in.',
      },
      { for: '5m' },
    ),
    alert(
      'SpanscoreCollectorDown',
      'up{job="otel-collector"} == 0',
      page,
      {
        summary: 'The Collector {{ $labels.instance }} does not answer',
        description: 'Without it there are no scores, and no alert on them can fire.',
      },
      { for: '5m' },
    ),
    alert(
      'SpanscoreWatchdog',
      'vector(1)',
      { severity: 'none' },
      {
        summary: 'Alerting works',
        description: 'Fires always. Route it to a service that calls when it stops coming.',
      },
    ),
  ],
}

/** The alerts. */
export function alertGroups(table: Table): RuleGroup[] {
  return [alignment(table), scoring(table), PIPELINE, WORKERS]
}
