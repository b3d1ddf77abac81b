import { alert, DASHBOARD, page, scoreLinks, ticket } from './alert.ts'
import { description, failingRuns, since, summary } from './fall-message.ts'
import { PAGE, TICKET } from './limits.ts'
import { lastScore, reasons, SCORER_OF_AGENT, SCORER_OF_JOB, wasLow } from './missing-message.ts'
import { AGENT_AND_SCORER, named, NOT_CHOSEN } from './recording.ts'
import type { Rule, RuleGroup } from './recording.ts'
import { AGENT, DESCRIPTION, each, SCORER, TIME, VERSION } from './template.ts'
import { WORKERS } from './worker-alerts.ts'

const evidence = (kind: string) => `max by (${AGENT_AND_SCORER}) (spanscore:evidence:now{kind="${kind}"})`
const severity = (name: string) => `on (${AGENT_AND_SCORER}) spanscore:setting{spanscore_setting="${name}_severity"}`

/** The two alerts on scores, for each scorer of an agent. The application decides whether each of them is a page, a ticket or off. */
export function alertsOnScores(): RuleGroup['rules'] {
  const belowTarget = { summary: summary('target'), description: description('target'), ...scoreLinks(since('target')) }
  const dropped = { summary: summary('usual'), description: description('usual'), ...scoreLinks(since('usual')) }
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
        '(spanscore:sum_w:1h unless spanscore:usual_mean)',
        `and on (${AGENT_AND_SCORER}) last_over_time(spanscore:usual_mean[1d])`,
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
      ...scoreLinks(''),
    })
  return { name: 'spanscore-single-runs', interval: '15s', rules: [rule(2, page), rule(1, ticket)] }
}

/**
 * Evaluations that failed, or were skipped because their judge cannot be asked. An open circuit asks only a few times an hour, so
 * that failures alone would end the alert while the judge is still away. Series made from late spans have no reason.
 */
const FAILED =
  'spanscore_outcome=~"failed|skipped", spanscore_reason=~"|judge-.+|scorer-.+|invalid-score|redact-failed|circuit-open"'

/** Of a scorer of a service, how many evaluations failed of all that were tried. */
function failing(range: string): { readonly count: string; readonly share: string } {
  const [failed, tried] = [FAILED, 'spanscore_outcome="scored"'].map(
    (matcher) => `increase(spanscore_evaluations_total{${matcher}}[${range}])`,
  )
  const count = `sum by (job, gen_ai_evaluation_name) (${failed})`
  return { count, share: `100 * ${count} / sum by (job, gen_ai_evaluation_name) (${failed} or ${tried})` }
}

/** @param range With its offset: `[1d] offset 30m`. */
const scored = (range: string, matcher = '') =>
  named(
    `sum by (${AGENT_AND_SCORER}) (increase(spanscore_evaluations_total{spanscore_outcome="scored"${matcher}}${range}))`,
  )

/** How many scores a range should have, by the share of runs or conversations that were scored in the day before. */
function expectedScores(counter: string, matcher: string, range: string): string {
  const closed = (of: string) =>
    named(`sum by (job, gen_ai_agent_name) (increase(${counter}{spanscore_outcome="closed"}${of}))`)
  return [
    scored(`[1d] offset ${range}`, `, ${matcher}`),
    `/ on (job, gen_ai_agent_name) group_left () (${closed(`[1d] offset ${range}`)} > 0)`,
    `* on (job, gen_ai_agent_name) group_left () ${closed(`[${range}]`)}`,
  ].join('\n  ')
}

/** No score of a range where so many are expected. Conversations have scores an idle time after their last run, so they are compared with conversations that are over. */
const silent = (range: string, least: number) =>
  [
    '((',
    `  ${expectedScores('spanscore_runs_total', 'spanscore_level!="conversation"', range)}`,
    'or',
    `  ${expectedScores('spanscore_conversations_total', 'spanscore_level="conversation"', range)}`,
    `) >= ${least})`,
    `unless ${scored(`[${range}]`)} > 0`,
  ].join('\n')

/** A scorer paged, and has had no score since: that does not mean that the fault is repaired. */
const SILENT_WHILE_LOW = [
  `(max by (${AGENT_AND_SCORER}) (max_over_time(spanscore:evidence:now[6h])) > ${PAGE}`,
  `  unless ${scored('[15m]')} > 0)`,
].join('\n')

/** The scorers for which somebody is called: without their scores nobody would be. */
const pages = (by: string) => `max by (${by}) (spanscore:setting{spanscore_setting=~"(target|drop)_severity"}) == 2`

/** A page for scorers that page, and a ticket for the others. */
function asItsScorer(
  name: string,
  by: string,
  of: Readonly<Record<'page' | 'ticket', { readonly expr: string; readonly for?: string }>>,
  annotations: Parameters<typeof alert>[3],
  keep_firing_for = '15m',
): Rule[] {
  const rule = (expr: string, labels: typeof page, wait: string | undefined) =>
    alert(name, expr, labels, annotations, { ...(wait !== undefined && { for: wait }), keep_firing_for })
  return [
    rule(`(\n${of.page.expr}\n) and on (${by}) ${pages(by)}`, page, of.page.for),
    rule(`(\n${of.ticket.expr}\n) unless on (${by}) ${pages(by)}`, ticket, of.ticket.for),
  ]
}

const RUNS = 'spanscore_runs_total'

/** When a service last had a run, also the first of a process. It is kept for as long as the process may be gone. */
const LAST_RUN: Rule = {
  record: 'spanscore:last_run',
  expr: `timestamp(sum by (job) (clamp_min(${RUNS} - ${RUNS} offset 1m, 0) or ${RUNS} unless ${RUNS} offset 1m) > 0)\nor max by (job) (last_over_time(spanscore:last_run[7d]))`,
}

/** No run for longer than the service's `alerts.quiet`, which is kept for a day after its process has gone. */
const QUIET =
  '(time() - spanscore:last_run) > on (job) max by (job) (last_over_time(spanscore_alert_setting{spanscore_setting="quiet"}[1d]))'

const METRICS_OF_JOB = 'count(spanscore_alert_setting{spanscore_setting="quiet",job=%[1]q})'

const QUIET_MESSAGE = {
  summary: '{{ $labels.job }}: no agent run for {{ $value | humanizeDuration }}, so that no alert on scores can fire.',
  description: [
    each('spanscore:last_run{job=%[1]q}', ['$labels.job'], `The last run ended at about ${TIME}.`),
    each(
      METRICS_OF_JOB,
      ['$labels.job'],
      ' Its metrics still come: no requests reach it, its runs do not end, or its spans are not recorded any more.',
    ),
    each(
      `vector(1) unless on () ${METRICS_OF_JOB}`,
      ['$labels.job'],
      ' Its metrics have stopped, too: its process is gone, or they do not arrive.',
    ),
    VERSION,
  ].join(''),
}

const UNTIL = 'Until this is fixed, no alert on the scores of {{ $labels.gen_ai_evaluation_name }} can fire.'

/** Alerts on missing scores, and on scores that do not represent all runs. */
function scoring(): RuleGroup {
  const [recent, soon] = [failing('15m'), failing('5m')]
  return {
    name: 'spanscore-scoring',
    interval: '1m',
    rules: [
      ...asItsScorer(
        'SpanscoreJudgesFailing',
        'job, gen_ai_evaluation_name',
        {
          page: { expr: `${soon.share} > 50 and ${soon.count} >= 5`, for: '2m' },
          ticket: { expr: `${recent.share} > 10 and ${recent.count} >= 5`, for: '5m' },
        },
        {
          summary:
            '{{ $labels.job }}: {{ $labels.gen_ai_evaluation_name }} gives no score for {{ $value | printf "%.0f" }} % of the runs: the scorer or its judge fails. How good the agent is, is not known.',
          description: `${UNTIL}${reasons(FAILED, '15m', SCORER_OF_JOB)}${lastScore(SCORER_OF_JOB)}${VERSION}${DESCRIPTION}`,
        },
      ),
      ...asItsScorer(
        'SpanscoreScorerSilent',
        AGENT_AND_SCORER,
        {
          // Chance alone would be silent once in 440,000 times.
          page: { expr: `${silent('5m', 13)}\nor\n${silent('30m', 13)}\nor\n${SILENT_WHILE_LOW}`, for: '2m' },
          // Chance alone would be silent once in 3,000 times.
          ticket: { expr: `${silent('30m', 8)}\nor\n${SILENT_WHILE_LOW}`, for: '10m' },
        },
        {
          summary: `${AGENT}: {{ $labels.gen_ai_evaluation_name }} gives no scores any more. How good the agent is, is not known.`,
          description: `${SCORER}${UNTIL}${reasons('spanscore_outcome!="scored"', '30m', SCORER_OF_AGENT)}${lastScore(SCORER_OF_AGENT)}${VERSION}${wasLow}${DESCRIPTION}`,
          ...DASHBOARD,
        },
      ),
      alert(
        'SpanscoreUnaccounted',
        '100 * (1 - (spanscore:accounted:1d < 0.95)) and spanscore:chosen_runs:1d >= 20',
        ticket,
        {
          summary:
            '{{ $labels.gen_ai_agent_name }}: {{ $labels.gen_ai_evaluation_name }} has no score for {{ printf "%.3g" $value }} % of the runs that were chosen in the last day.',
          description: `Means and alerts are of the other runs, which may be better or worse.${reasons(`spanscore_reason!~"${NOT_CHOSEN}"`, '1d', SCORER_OF_AGENT)}`,
          ...DASHBOARD,
        },
        { for: '15m' },
      ),
      LAST_RUN,
      ...asItsScorer('SpanscoreQuiet', 'job', { page: { expr: QUIET }, ticket: { expr: QUIET } }, QUIET_MESSAGE),
      alert(
        'SpanscoreSlower',
        `max by (${AGENT_AND_SCORER}) (spanscore:days_to_page > 3 * (spanscore:days_to_page offset 1d)) > 1`,
        ticket,
        {
          summary:
            '{{ $labels.gen_ai_agent_name }}: a fall of {{ $labels.gen_ai_evaluation_name }} by .15 would be found after {{ $value | printf "%.1f" }} days now, three times as late as yesterday.',
          description:
            'Fewer of its runs are scored: fewer people ask, or sampling or a budget leaves more of them out.',
          ...DASHBOARD,
        },
        { for: '1h' },
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
