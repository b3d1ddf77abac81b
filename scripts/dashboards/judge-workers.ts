import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'

import { lines } from './panels.ts'

/**
 * The lag of judge workers, and what they ask, spend and leave out.
 *
 * @param all The matcher of the services that the dashboard shows.
 */
export function judgeWorkerPanels(all: string): readonly timeseries.PanelBuilder[] {
  return [
    lines(
      {
        title: 'Jobs that wait',
        description: 'Jobs on Kafka whose run is not judged yet, by judge worker.',
        unit: 'short',
        size: [8, 8],
      },
      [[`sum by (instance) (spanscore_judge_worker_lag{${all}})`, '{{instance}}']],
    ),
    lines(
      {
        title: 'Jobs',
        description: 'Jobs in each second, by what became of them.',
        unit: 'short',
        size: [8, 8],
      },
      [
        [`sum(rate(spanscore_worker_jobs_total{${all}, outcome="written"}[5m]))`, 'written by workers'],
        [`sum by (outcome, reason) (rate(spanscore_judge_worker_jobs_total{${all}}[5m]))`, '{{outcome}} {{reason}}'],
      ],
    ),
    lines(
      {
        title: 'Budget that is used',
        description:
          'How much of the tightest limit is used, in the partition where most is. Near 1, jobs are refused and their runs have no score.',
        unit: 'percentunit',
        size: [8, 8],
      },
      [[`max by (instance) (spanscore_judge_worker_budget_used_ratio{${all}})`, '{{instance}}']],
    ),
    lines(
      {
        title: 'Judges that are asked',
        description: 'Jobs whose judges were asked and that are not committed, by judge worker.',
        unit: 'short',
        size: [12, 8],
      },
      [[`sum by (instance) (spanscore_judge_worker_in_flight{${all}})`, '{{instance}}']],
    ),
    lines(
      {
        title: 'Providers that are paused',
        description: 'Judge workers that ask nothing for now, because a provider is overloaded or away.',
        unit: 'short',
        size: [12, 8],
      },
      [[`sum(spanscore_judge_worker_provider_paused{${all}})`, 'judge workers']],
    ),
  ]
}
