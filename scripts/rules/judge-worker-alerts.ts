import { alert, ticket } from './alert.ts'
import type { RuleGroup } from './recording.ts'

/** Jobs with these labels within a range. */
const jobs = (labels: string, range: string) =>
  `sum by (job) (increase(spanscore_judge_worker_jobs_total{${labels}}[${range}]))`

/** Alerts on judge workers. Those on workers that are stuck, on dead letters, and on failing writes are with the workers. */
export const JUDGE_WORKERS: RuleGroup = {
  name: 'spanscore-judge-workers',
  interval: '30s',
  rules: [
    alert(
      'SpanscoreJudgeWorkersBehind',
      // As many jobs wait as are finished in a quarter of an hour. A hundred jobs are never too many.
      [
        'sum by (job) (spanscore_judge_worker_lag)',
        '  > 900 * sum by (job) (rate(spanscore_judge_worker_jobs_total{outcome=~"judged|skipped|duplicate|dead-letter"}[15m]))',
        'and sum by (job) (spanscore_judge_worker_lag) > 100',
      ].join('\n'),
      ticket,
      {
        summary: 'Judge workers are more than fifteen minutes behind',
        description:
          '{{ $value | printf "%.0f" }} jobs wait on Kafka. After --max-job-age (6 hours) a job is skipped, and its run gets no score.',
      },
      { for: '10m' },
    ),
    alert(
      'SpanscoreJobsExpired',
      `${jobs('outcome=~"skipped|lost-to-retention", reason=~"expired|"', '1h')} > 0`,
      ticket,
      {
        summary: 'Jobs waited for too long to be judged',
        description:
          '{{ $value | printf "%.0f" }} jobs of the last hour were older than --max-job-age when their turn came, or Kafka had dropped them.',
      },
      { keep_firing_for: '1h' },
    ),
    alert(
      'SpanscoreJudgeBudgetUsedUp',
      // Weights compensate for thinned runs.
      [
        jobs('reason="refused"', '30m'),
        `  > ${jobs('outcome="judged"', '30m')}`,
        `and ${jobs('reason="refused"', '30m')} >= 10`,
      ].join('\n'),
      ticket,
      {
        summary: 'The budget of the judge workers is used up',
        description:
          '{{ $value | printf "%.0f" }} jobs were refused in 30 minutes, more than were judged: most runs get no score until time has passed.',
      },
      { keep_firing_for: '30m' },
    ),
    alert(
      'SpanscoreJudgesDiffer',
      `${jobs('reason=~"unknown-scorer|unknown-version"', '15m')} > 0`,
      ticket,
      {
        summary: 'Workers write jobs that judge workers do not know',
        description:
          '{{ $value | printf "%.0f" }} jobs in 15 minutes were for a judge, or a version of one, that is not in the configuration of the judge workers.',
      },
      { for: '5m', keep_firing_for: '15m' },
    ),
  ],
}
