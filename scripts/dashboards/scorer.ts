import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'

import { choice, lines, newReleases, newVersions, rows, spread } from './panels.ts'

const of = 'job="$job", gen_ai_agent_name="$agent", gen_ai_evaluation_name="$scorer"'

/** The mean by a label: from the weighted sums. */
const meanBy = (label: string) =>
  `sum by (${label}) (increase(spanscore_sum_wy_total{${of}}[1h])) / (sum by (${label}) (increase(spanscore_sum_w_total{${of}}[1h])) > 0)`

/** The version that scored most runs in an hour, of several. */
const latest = (name: string) => `${name}{${of}} and topk(1, spanscore:sum_w:1h{${of}})`

/** The share that the scorer passes, and the corrected share if it is calibrated: one expression, so that it has data without a calibration. */
const PASSED = [
  ['passed', 'the scorer passes'],
  ['corrected_passed', 'people would pass'],
  ['corrected_passed_upper', 'upper'],
  ['corrected_passed_lower', 'lower'],
]
  .map(([name, which]) => `label_replace(${latest(`spanscore:${name}:1d`)}, "which", "${which}", "", "")`)
  .join(' or ')

/** One scorer of one agent: the distribution of its scores, and whether a model or a version of the scorer explains a change. */
export function scorer(): dashboard.Dashboard {
  return new dashboard.DashboardBuilder('One scorer')
    .uid('spanscore-scorer')
    .description(
      'One scorer of one agent: its mean with its interval, how its scores are spread, by model and by version of the scorer.',
    )
    .tags(['spanscore'])
    .readonly()
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .withVariable(choice('job', 'Service', 'job', 'spanscore_score_count', false))
    .withVariable(choice('agent', 'Agent', 'gen_ai_agent_name', 'spanscore_score_count{job="$job"}', false))
    .withVariable(
      choice(
        'scorer',
        'Scorer',
        'gen_ai_evaluation_name',
        'spanscore_score_count{job="$job", gen_ai_agent_name="$agent"}',
        false,
      ),
    )
    .annotation(newReleases())
    .annotation(newVersions())
    .link(
      new dashboard.DashboardLinkBuilder('Overview')
        .type(dashboard.DashboardLinkType.Dashboards)
        .tags(['spanscore'])
        .keepTime(true),
    )
    .withPanel(
      lines(
        {
          title: 'Share of runs that pass, and what it is compared with',
          description:
            'Of the hour before each point. The target is set in the application; the usual level was almost certainly reached in the last two weeks.',
          unit: 'percentunit',
          size: [12, 9],
        },
        [
          [latest('spanscore:passed:1h'), 'passed'],
          [`max(spanscore:target_passed{${of}})`, 'target'],
          [latest('spanscore:usual_passed'), 'usual'],
        ],
      )
        .max(1)
        .overrideByName('target', [{ id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } }]),
    )
    .withPanel(
      lines(
        {
          title: 'Mean score with its interval',
          description:
            'Mean of the hour before each point, and between which bounds it lies with 95 % confidence; the dashed line is the target. Of the version that scored most runs.',
          unit: 'percentunit',
          size: [12, 9],
        },
        [
          [latest('spanscore:mean:1h'), 'mean'],
          [latest('spanscore:mean_upper:1h'), 'upper'],
          [latest('spanscore:mean_lower:1h'), 'lower'],
          [`max(spanscore:target_mean{${of}})`, 'target'],
        ],
      )
        .max(1)
        .overrideByName('upper', [
          { id: 'custom.fillBelowTo', value: 'lower' },
          { id: 'custom.fillOpacity', value: 20 },
          { id: 'custom.lineWidth', value: 0 },
        ])
        .overrideByName('lower', [{ id: 'custom.lineWidth', value: 0 }])
        .overrideByName('target', [{ id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } }]),
    )
    .withPanel(
      spread(
        {
          title: 'Scores',
          description: 'How many runs scored how much, in the hour before each point. 1 is best.',
          unit: 'short',
          size: [12, 9],
        },
        [`sum by (le) (increase(spanscore_score_bucket{${of}}[1h]))`, '{{le}}'],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Mean by model',
          description: 'Weighted mean of the hour before each point, by the model that the agent asked.',
          unit: 'percentunit',
          size: [12, 8],
        },
        [[meanBy('gen_ai_request_model'), '{{gen_ai_request_model}}']],
      ).max(1),
    )
    .withPanel(
      lines(
        {
          title: 'Mean by version of the scorer and judge model',
          description:
            'Weighted mean of the hour before each point. A new version is a new yardstick: a step here is not a step of the agent.',
          unit: 'percentunit',
          size: [12, 8],
        },
        [
          [
            meanBy('spanscore_scorer_version, spanscore_judge_model'),
            '{{spanscore_scorer_version}} {{spanscore_judge_model}}',
          ],
        ],
      ).max(1),
    )
    .withPanel(
      lines(
        {
          title: 'Share of runs that pass, corrected',
          description:
            'Over the day before each point: as the scorer sees it, and as people would (with its 95 % interval), where they have calibrated this version and judge model. docs/calibration.md says what that assumes.',
          unit: 'percentunit',
          size: [12, 8],
        },
        [[PASSED, '{{which}}']],
      )
        .max(1)
        .overrideByName('upper', [
          { id: 'custom.fillBelowTo', value: 'lower' },
          { id: 'custom.fillOpacity', value: 20 },
          { id: 'custom.lineWidth', value: 0 },
        ])
        .overrideByName('lower', [{ id: 'custom.lineWidth', value: 0 }]),
    )
    .withPanel(
      rows(
        {
          title: 'Outcomes of the last day',
          description: 'What became of the runs for this scorer; where they were not scored, why.',
          unit: 'short',
          size: [12, 8],
        },
        [[`sum by (spanscore_outcome, spanscore_reason) (increase(spanscore_evaluations_total{${of}}[1d]))`, 'Runs']],
        { spanscore_outcome: 'Outcome', spanscore_reason: 'Reason' },
      ),
    )
    .build()
}
