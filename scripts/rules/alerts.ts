import { alert, DASHBOARD, page, SCORE_LINKS, ticket } from './alert.ts'
import { description, failingRuns, summary } from './fall-message.ts'
import { PAGE, TICKET } from './limits.ts'
import { AGENT_AND_SCORER, named, NOT_CHOSEN } from './recording.ts'
import type { RuleGroup } from './recording.ts'
import { WORKERS } from './worker-alerts.ts'

const evidence = (kind: string) => `max by (${AGENT_AND_SCORER}) (spanscore:evidence:now{kind="${kind}"})`
const severity = (name: string) => `on (${AGENT_AND_SCORER}) spanscore:setting{spanscore_setting="${name}_severity"}`

/** The two alerts on scores, for each scorer of an agent. The application decides whether each of them is a page, a ticket or off. */
export function alertsOnScores(): RuleGroup['rules'] {
  const belowTarget = { summary: summary('target'), description: description('target'), ...SCORE_LINKS }
  const dropped = { summary: summary('usual'), description: description('usual'), ...SCORE_LINKS }
  const pageTimes = { keep_firing_for: '30m' }
  const ticketTimes = { for: '15m', keep_firing_for: '30m' }
  return [
    alert(
      'SpanscoreBelowTarget',
      `${evidence('target')} > ${PAGE} and ${severity('target')} == 2`,
      page,
      belowTarget,
      pageTimes,
    ),
    alert(
      'SpanscoreBelowTarget',
      `${evidence('target')} > ${TICKET} and ${severity('target')} == 1`,
      ticket,
      belowTarget,
      ticketTimes,
    ),
    alert('SpanscoreDropped', `${evidence('usual')} > ${PAGE} and ${severity('drop')} == 2`, page, dropped, pageTimes),
    // An application that shows no settings, such as one whose metrics are made from spans, has this alert, too.
    alert(
      'SpanscoreDropped',
      `${evidence('usual')} > ${TICKET} unless ${severity('drop')} != 1`,
      ticket,
      dropped,
      ticketTimes,
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
          '{{ $labels.gen_ai_agent_name }}: {{ $labels.gen_ai_evaluation_name }} has a new version or judge, and no past to compare with.',
        description:
          'Version {{ $labels.spanscore_scorer_version }}{{ with $labels.spanscore_judge_model }}, judge {{ . }}{{ end }}: a drop is found after 200 scored runs, and a fall below a target, if one is set, is found now.',
        ...DASHBOARD,
      },
      { for: '1h' },
    ),
  ]
}

/** The alert on single failing runs. It reads counters and settings as they arrive: recorded ones would be minutes late. */
function singleRuns(): RuleGroup {
  const set = 'spanscore_alert_setting{spanscore_setting="any_severity"}'
  const kept = `last_over_time(${set}[1d]) unless on (${AGENT_AND_SCORER}) spanscore_alert_setting`
  const setting = named(`max by (${AGENT_AND_SCORER}) (${set} or (${kept}))`)
  const failed = named(
    `sum by (${AGENT_AND_SCORER}) (increase(spanscore_sum_w_total{gen_ai_evaluation_score_label="fail"}[30m]))`,
  )
  const rule = (number: number, labels: typeof page) =>
    alert('SpanscoreRunFailed', `${failed} > 0\nand on (${AGENT_AND_SCORER}) ${setting} == ${number}`, labels, {
      summary: '{{ $labels.gen_ai_agent_name }}: a run failed {{ $labels.gen_ai_evaluation_name }}.',
      description: failingRuns,
      ...SCORE_LINKS,
    })
  return { name: 'spanscore-single-runs', interval: '15s', rules: [rule(2, page), rule(1, ticket)] }
}

/**
 * Evaluations that failed, or were skipped because their judge cannot be asked. An open circuit asks only a few times an hour, so
 * that failures alone would end the alert while the judge is still away. Series made from late spans have no reason.
 */
const FAILED =
  'spanscore_outcome=~"failed|skipped", spanscore_reason=~"|judge-.+|scorer-.+|invalid-score|redact-failed|circuit-open"'
const OF_FAILED = `spanscore_evaluations_total{${FAILED}}[15m]`
const OF_SCORED = 'spanscore_evaluations_total{spanscore_outcome="scored"}[15m]'

const SCORER = { job: '$labels.job', gen_ai_evaluation_name: '$labels.gen_ai_evaluation_name' }
const SCORER_OF_AGENT = { ...SCORER, gen_ai_agent_name: '$labels.gen_ai_agent_name' }

/** Why runs have no score, the most frequent reason first: " They have the reasons judge-auth (80), circuit-open (12)." */
function reasons(matcher: string, range: string, of: Readonly<Record<string, string>>): string {
  const matchers = [matcher, 'spanscore_reason!=""', ...Object.keys(of).map((label) => `${label}=%q`)].join(',')
  const query = `sort_desc(round(sum by (spanscore_reason) (increase(spanscore_evaluations_total{${matchers}}[${range}]))) > 0)`
  return (
    `{{ range $index, $reason := printf ${JSON.stringify(query)} ${Object.values(of).join(' ')} | query }}` +
    '{{ if $index }},{{ else }} Reasons and numbers of runs:{{ end }} {{ .Labels.spanscore_reason }} {{ .Value }}{{ end }}'
  )
}

/** @param range With its offset: `[1d] offset 30m`. */
const scored = (range: string, matcher = '') =>
  named(
    `sum by (${AGENT_AND_SCORER}) (increase(spanscore_evaluations_total{spanscore_outcome="scored"${matcher}}${range}))`,
  )

/** How many scores the last half hour should have, by yesterday's share of runs or conversations that were scored. */
function expectedScores(counter: string, matcher: string): string {
  const closed = (range: string) =>
    named(`sum by (job, gen_ai_agent_name) (increase(${counter}{spanscore_outcome="closed"}${range}))`)
  return [
    scored('[1d] offset 30m', `, ${matcher}`),
    `/ on (job, gen_ai_agent_name) group_left () (${closed('[1d] offset 30m')} > 0)`,
    `* on (job, gen_ai_agent_name) group_left () ${closed('[30m]')}`,
  ].join('\n  ')
}

/** Alerts on missing scores, and on scores that do not represent all runs. */
function scoring(): RuleGroup {
  return {
    name: 'spanscore-scoring',
    interval: '1m',
    rules: [
      alert(
        'SpanscoreJudgesFailing',
        [
          '100 * (',
          `  sum by (job, gen_ai_evaluation_name) (increase(${OF_FAILED}))`,
          `    / sum by (job, gen_ai_evaluation_name) (increase(${OF_FAILED}) or increase(${OF_SCORED}))`,
          `  and sum by (job, gen_ai_evaluation_name) (increase(${OF_FAILED})) >= 5`,
          ') > 10',
        ].join('\n'),
        ticket,
        {
          summary:
            '{{ $labels.job }}: {{ $labels.gen_ai_evaluation_name }} failed for {{ $value | printf "%.0f" }} % of its runs in the last 15 minutes.',
          description: `They have no score. The scorer or its judge is the cause, and not the agent.${reasons(FAILED, '15m', SCORER)}`,
        },
        { for: '5m', keep_firing_for: '15m' },
      ),
      alert(
        'SpanscoreScorerSilent',
        // No score in 30 minutes where yesterday's share lets at least eight be expected: chance alone would be silent once in 3,000
        // times. Conversations have scores an idle time after their last run, so they are compared with conversations that are over.
        // Or no score after one that paged: a lack of scores does not mean that the fault is repaired.
        [
          '((',
          `  ${expectedScores('spanscore_runs_total', 'spanscore_level!="conversation"')}`,
          'or',
          `  ${expectedScores('spanscore_conversations_total', 'spanscore_level="conversation"')}`,
          ') >= 8)',
          `unless ${scored('[30m]')} > 0`,
          'or',
          `(max by (${AGENT_AND_SCORER}) (max_over_time(spanscore:evidence:now[6h])) > ${PAGE}`,
          `  unless sum by (${AGENT_AND_SCORER}) (spanscore:sum_w:15m) > 0)`,
        ].join('\n'),
        ticket,
        {
          summary: '{{ $labels.gen_ai_agent_name }}: {{ $labels.gen_ai_evaluation_name }} gives no scores any more.',
          description: `It should have scored in the last half hour, or its scores were low when it stopped.${reasons('spanscore_outcome!="scored"', '30m', SCORER_OF_AGENT)}`,
          ...DASHBOARD,
        },
        { for: '10m' },
      ),
      alert(
        'SpanscoreUnaccounted',
        '100 * (spanscore:accounted:1d < 0.95) and spanscore:chosen_runs:1d >= 20',
        ticket,
        {
          summary:
            '{{ $labels.gen_ai_agent_name }}: {{ $labels.gen_ai_evaluation_name }} scored only {{ printf "%.3g" $value }} % of the runs that were chosen in the last day.',
          description: `Its figures and alerts describe these, and the others may be different.${reasons(`spanscore_reason!~"${NOT_CHOSEN}"`, '1d', SCORER_OF_AGENT)}`,
          ...DASHBOARD,
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

/** The groups of the other alerts. */
export function alertGroups(): RuleGroup[] {
  return [singleRuns(), scoring(), PIPELINE, WORKERS]
}
