import * as common from '@grafana/grafana-foundation-sdk/common'
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'

import { address, choice, figure, limits, lines, newReleases, newVersions, rows } from './panels.ts'

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

/** The share of runs that failed in the last hour. */
const FAILING = `1 - spanscore:passed:1h{${of}}`

const FIRING =
  'sum by (alertname, severity, gen_ai_agent_name, gen_ai_evaluation_name) (ALERTS{alertname=~"Spanscore.*", alertname!="SpanscoreWatchdog", alertstate="firing"})'

const ONE_SCORER = {
  title: 'One scorer',
  url: '/d/spanscore-scorer?var-job=${__data.fields.Service}&var-agent=${__data.fields.Agent}&var-scorer=${__data.fields.Scorer}',
}

const FAILING_RUNS = {
  title: 'Failing runs',
  url: '${page}/?service=${__data.fields.Service}&agent=${__data.fields.Agent}&scorer=${__data.fields.Scorer}&sort=worst',
  targetBlank: true,
}

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
    .annotation(newReleases())
    .annotation(newVersions())
    .withVariable(address('page', "spanscore's page", 'http://localhost:4319'))
    .withVariable(address('traces', 'Traces', 'http://localhost:16686/trace'))
    .withPanel(
      figure(
        {
          title: 'Fails most',
          description:
            'The scorer of an agent with the largest share of failing runs in the last hour, of those with at least 20 runs.',
          unit: 'percentunit',
          size: [8, 4],
        },
        [`topk(1, (${FAILING}) and spanscore:n:1h >= 20)`, agentAndScorer],
        limits(0.1, 0.25),
      ),
    )
    .withPanel(
      figure(
        { title: 'Alerts', description: 'Alerts of spanscore that fire.', unit: 'short', size: [4, 4] },
        [`count(${FIRING}) or vector(0)`, ''],
        limits(1, 3),
      ),
    )
    .withPanel(
      figure({ title: 'Runs', description: 'Agent runs of the last day.', unit: 'short', size: [4, 4] }, [
        'sum(increase(spanscore_runs_total{job=~"$job", gen_ai_agent_name=~"$agent", spanscore_outcome="closed"}[1d]))',
        '',
      ]),
    )
    .withPanel(
      figure(
        {
          title: 'Users dislike',
          description: 'Feedback of the last day with the label `fail`, such as a thumb down.',
          unit: 'short',
          size: [4, 4],
        },
        [
          `sum(increase(spanscore_feedback_total{job=~"$job", gen_ai_evaluation_score_label="fail"}[1d])) or vector(0)`,
          '',
        ],
      ),
    )
    .withPanel(
      figure(
        {
          title: 'Judges cost',
          description: 'US dollars of the last day, for models whose price is known.',
          unit: 'currencyUSD',
          size: [4, 4],
        },
        [`sum(increase(spanscore_judge_cost_total{${byScorer}}[1d])) or vector(0)`, ''],
      ),
    )
    .withPanel(
      rows(
        {
          title: 'Agents and scorers, worst first',
          description:
            'The share of runs that failed in the last hour and in the last day, what is usual, and the effective number of runs of the hour. A click opens the scorer, or its failing runs.',
          unit: 'percentunit',
          size: [16, 10],
        },
        [
          [FAILING, 'Failing, hour'],
          [`1 - spanscore:passed:1d{${of}}`, 'Failing, day'],
          [`1 - spanscore:usual_passed{${of}}`, 'Usual'],
          [`spanscore:n:1h{${of}}`, 'Runs, hour'],
        ],
        columns,
      )
        .sortBy([new common.TableSortByFieldStateBuilder().displayName('Failing, hour').desc(true)])
        .thresholds({ build: () => limits(0.1, 0.25) })
        .overrideByRegexp('Failing.*', [{ id: 'custom.cellOptions', value: { type: 'color-background' } }])
        .overrideByName('Runs, hour', [
          { id: 'unit', value: 'short' },
          { id: 'decimals', value: 0 },
        ])
        .overrideByName('Scorer', [{ id: 'links', value: [ONE_SCORER, FAILING_RUNS] }]),
    )
    .withPanel(
      rows(
        {
          title: 'Alerts that fire, and traces of failing runs',
          description:
            'Alerts of spanscore, without the watchdog; below them the latest failing runs of each scorer. A click opens the trace.',
          unit: 'short',
          size: [8, 10],
        },
        [
          [
            `${FIRING} or max by (gen_ai_agent_name, gen_ai_evaluation_name, spanscore_trace_id) (spanscore_example{${of}})`,
            'Value',
          ],
        ],
        {
          alertname: 'Alert',
          severity: 'Severity',
          gen_ai_agent_name: 'Agent',
          gen_ai_evaluation_name: 'Scorer',
          spanscore_trace_id: 'Trace',
        },
      )
        .overrideByName('Value', [{ id: 'custom.hidden', value: true }])
        .overrideByName('Trace', [
          { id: 'links', value: [{ title: 'Open the trace', url: '${traces}/${__value.raw}', targetBlank: true }] },
        ]),
    )
    .withRow(new dashboard.RowBuilder('Scores'))
    .withPanel(
      lines(
        {
          title: 'Share of runs that fail',
          description:
            'In the hour before each point, weighted so that it speaks of all runs that were seen, sampled or not.',
          unit: 'percentunit',
          size: [12, 10],
        },
        [[FAILING, agentAndScorer]],
      ).max(1),
    )
    .withPanel(
      lines(
        {
          title: 'Mean score',
          description:
            'Mean over the hour before each point, weighted so that it speaks of all runs that were seen, sampled or not.',
          unit: 'percentunit',
          size: [12, 10],
        },
        [[`spanscore:mean:1h{${of}}`, `${agentAndScorer} {{spanscore_scorer_version}}`]],
      ).max(1),
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
          size: [12, 8],
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
          size: [12, 8],
        },
        [
          [
            `sum by (spanscore_outcome, spanscore_reason) (increase(spanscore_evaluations_total{${of}}[1h]))`,
            '{{spanscore_outcome}} {{spanscore_reason}}',
          ],
        ],
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
