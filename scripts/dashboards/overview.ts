import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'

import { choice, lines, newVersions, rows } from './panels.ts'

const of = 'job=~"$job", gen_ai_agent_name=~"$agent", gen_ai_evaluation_name=~"$scorer"'
const agentAndScorer = '{{gen_ai_agent_name}} · {{gen_ai_evaluation_name}}'
const columns = {
  gen_ai_agent_name: 'Agent',
  gen_ai_evaluation_name: 'Scorer',
  job: 'Service',
  spanscore_scorer_version: 'Version',
  spanscore_judge_model: 'Judge',
}
const byScorer = 'job=~"$job", gen_ai_evaluation_name=~"$scorer"'

/** The OTLP translation of Prometheus adds the unit to the name; the Prometheus exporter of the JavaScript SDK does not. */
const judgeDurations = ['spanscore_judge_duration_seconds_bucket', 'spanscore_judge_duration_bucket']
  .map((name) => `rate(${name}{${byScorer}}[1h])`)
  .join(' or ')

/** The share that people would pass if the judge is calibrated, else the share that the scorer passes. */
const PASSED = [
  `label_replace(spanscore:corrected_passed:1d{${of}}, "which", "corrected", "", "")`,
  `label_replace(spanscore:passed:1d{${of}, spanscore_judge_model!=""} unless spanscore:corrected_passed:1d, "which", "uncalibrated", "", "")`,
  `(spanscore:passed:1d{${of}, spanscore_judge_model=""} unless spanscore:corrected_passed:1d)`,
].join(' or ')

/** Every agent and scorer at a glance, and the cost of scoring itself. */
export function overview(): dashboard.Dashboard {
  return new dashboard.DashboardBuilder('Agent scores')
    .uid('spanscore-overview')
    .description(
      'Scores of agent runs by agent and scorer, and what scoring them takes. Scores are positions in their range, 0 to 1; higher is better.',
    )
    .tags(['spanscore'])
    .readonly()
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .withVariable(choice('job', 'Service', 'job', 'spanscore_evaluations_total', true))
    .withVariable(choice('agent', 'Agent', 'gen_ai_agent_name', 'spanscore_evaluations_total', true))
    .withVariable(choice('scorer', 'Scorer', 'gen_ai_evaluation_name', 'spanscore_evaluations_total', true))
    .link(
      new dashboard.DashboardLinkBuilder('One scorer')
        .type(dashboard.DashboardLinkType.Dashboards)
        .tags(['spanscore'])
        .includeVars(true)
        .keepTime(true),
    )
    .annotation(newVersions())
    .withRow(new dashboard.RowBuilder('Scores'))
    .withPanel(
      lines(
        {
          title: 'Mean score',
          description:
            'Mean over the hour before each point, weighted so that it speaks of all runs that were seen, sampled or not.',
          unit: 'percentunit',
          size: [14, 9],
        },
        [[`spanscore:mean:1h{${of}}`, `${agentAndScorer} {{spanscore_scorer_version}}`]],
      ).max(1),
    )
    .withPanel(
      rows(
        {
          title: 'Scores of the last hour',
          description:
            'The mean, and between which bounds it lies with 95 % confidence (Wilson). Runs: the effective number of scored runs.',
          unit: 'short',
          size: [10, 9],
        },
        [
          [`spanscore:mean:1h{${of}}`, 'Mean'],
          [`spanscore:mean_lower:1h{${of}}`, 'From'],
          [`spanscore:mean_upper:1h{${of}}`, 'To'],
          [`spanscore:n:1h{${of}}`, 'Runs'],
        ],
        columns,
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Share of runs that pass',
          description:
            'Over the day before each point, weighted: as people would see it (corrected) where they have calibrated the judge in this version, else as the judge does (uncalibrated). Code scorers are shown as they are.',
          unit: 'percentunit',
          size: [24, 8],
        },
        [[PASSED, `${agentAndScorer} {{which}}`]],
      ).max(1),
    )
    .withRow(new dashboard.RowBuilder('Runs'))
    .withPanel(
      lines(
        {
          title: 'Runs and conversations',
          description:
            'In the hour before each point: closed, or given up at a limit (evicted); conversations also if turns are missing (incomplete), or if they went on (revised).',
          unit: 'short',
          size: [8, 8],
        },
        [
          [
            `sum by (gen_ai_agent_name, spanscore_outcome) (increase(spanscore_runs_total{job=~"$job", gen_ai_agent_name=~"$agent"}[1h]))`,
            '{{gen_ai_agent_name}} {{spanscore_outcome}}',
          ],
          [
            `sum by (gen_ai_agent_name, spanscore_outcome) (increase(spanscore_conversations_total{job=~"$job", gen_ai_agent_name=~"$agent"}[1h]))`,
            '{{gen_ai_agent_name}} conversations {{spanscore_outcome}}',
          ],
        ],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Evaluations by outcome',
          description: 'What became of each run for each scorer, in the hour before each point; where not scored, why.',
          unit: 'short',
          size: [8, 8],
        },
        [
          [
            `sum by (spanscore_outcome, spanscore_reason) (increase(spanscore_evaluations_total{${of}}[1h]))`,
            '{{spanscore_outcome}} {{spanscore_reason}}',
          ],
        ],
      ),
    )
    .withPanel(
      rows(
        {
          title: 'Alerts',
          description:
            'Alerts of spanscore that fire. The watchdog fires always: that is how one knows that alerting works.',
          unit: 'short',
          size: [8, 8],
        },
        [
          [
            'sum by (alertname, severity, gen_ai_agent_name, gen_ai_evaluation_name) (ALERTS{alertname=~"Spanscore.*", alertstate="firing"})',
            'Firing',
          ],
        ],
        { alertname: 'Alert', severity: 'Severity', gen_ai_agent_name: 'Agent', gen_ai_evaluation_name: 'Scorer' },
      ),
    )
    .withRow(new dashboard.RowBuilder('Judges'))
    .withPanel(
      lines(
        {
          title: 'Judge latency',
          description:
            'How long a judge takes for a score, all its calls and tries together: half of them less (p50), and all but one in twenty (p95).',
          unit: 's',
          size: [8, 8],
        },
        [
          [
            `histogram_quantile(0.5, sum by (le, gen_ai_evaluation_name) (${judgeDurations}))`,
            '{{gen_ai_evaluation_name}} p50',
          ],
          [
            `histogram_quantile(0.95, sum by (le, gen_ai_evaluation_name) (${judgeDurations}))`,
            '{{gen_ai_evaluation_name}} p95',
          ],
        ],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Judge tokens',
          description: 'Tokens that judges read and wrote in the hour before each point.',
          unit: 'short',
          size: [8, 8],
        },
        [
          [
            `sum by (gen_ai_evaluation_name, gen_ai_token_type) (increase(spanscore_judge_tokens_total{${byScorer}}[1h]))`,
            '{{gen_ai_evaluation_name}} {{gen_ai_token_type}}',
          ],
        ],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Judge cost',
          description: 'US dollars in the hour before each point, for models whose price is known.',
          unit: 'currencyUSD',
          size: [8, 8],
        },
        [
          [
            `sum by (gen_ai_evaluation_name) (increase(spanscore_judge_cost_total{${byScorer}}[1h]))`,
            '{{gen_ai_evaluation_name}}',
          ],
        ],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Judge budget used',
          description: 'Share of the tightest budget that is used. At 100 % runs are refused.',
          unit: 'percentunit',
          size: [12, 7],
        },
        [['max by (job) (spanscore_budget_used_ratio{job=~"$job"})', '{{job}}']],
      ).max(1),
    )
    .withPanel(
      lines(
        {
          title: 'Waiting',
          description:
            'Scores that wait for a judge, runs that are still open, and agent spans that are held until their scores are in.',
          unit: 'short',
          size: [12, 7],
        },
        [
          ['sum by (job) (spanscore_queue_size{job=~"$job"})', '{{job}} queued scores'],
          ['sum by (job) (spanscore_open_runs{job=~"$job"})', '{{job}} open runs'],
          ['sum by (job) (spanscore_held_spans{job=~"$job"})', '{{job}} held spans'],
        ],
      ),
    )
    .build()
}
