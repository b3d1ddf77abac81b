import { alert, page, ticket } from './alert.ts'
import type { RuleGroup } from './recording.ts'

/** Messages of one outcome within a range. */
const messages = (outcome: string, range: string) =>
  `sum by (job) (increase(spanscore_worker_messages_total{outcome="${outcome}"}[${range}]))`

/** Alerts on workers that read from Kafka. */
export const WORKERS: RuleGroup = {
  name: 'spanscore-workers',
  interval: '30s',
  rules: [
    alert(
      'SpanscoreWorkerStuck',
      'max by (job, instance) (spanscore_worker_stuck) == 1',
      page,
      {
        summary: 'The worker {{ $labels.instance }} does nothing although messages wait',
        description:
          'Its /ready says why if the brokers refuse something: that needs a person. Otherwise its /health answers 503, and an orchestrator restarts it.',
      },
      { for: '2m' },
    ),
    alert(
      'SpanscoreNobodyReads',
      // A process that has ended reports nothing, so that no other alert sees it.
      [
        'sum by (job) (max_over_time(spanscore_worker_partitions[6h])) > 0',
        '  unless sum by (job) (spanscore_worker_partitions) > 0',
      ].join('\n'),
      page,
      {
        summary: 'No worker of {{ $labels.job }} reads from Kafka',
        description:
          'There were some in the last six hours. None is running now, or none gets a partition. What they would read waits on Kafka until its retention.',
      },
      { for: '10m' },
    ),
    alert(
      'SpanscoreDeadLetters',
      `${messages('dead-letter', '15m')} > 0`,
      ticket,
      {
        summary: 'Messages that cannot be read go to the dead-letter topic',
        description:
          '{{ $value | printf "%.0f" }} messages in 15 minutes are on the topic of dead letters. Their headers name topic, partition, offset and reason.',
      },
      { keep_firing_for: '15m' },
    ),
    alert(
      'SpanscoreKafkaNotWritten',
      'max by (job, instance) ({__name__=~"spanscore_worker_writes_failing(_seconds)?"}) > 60',
      ticket,
      {
        summary: 'The worker {{ $labels.instance }} cannot write to Kafka',
        description:
          'For {{ $value | printf "%.0f" }} s it could not move messages that cannot be read to the dead-letter topic. They wait; when too many wait, it reads nothing.',
      },
      { for: '1m' },
    ),
    alert(
      'SpanscoreWorkersBehind',
      // As many messages wait as are read in five minutes. A thousand messages are never too many.
      [
        'sum by (job) (spanscore_worker_lag)',
        '  > 300 * sum by (job) (rate(spanscore_worker_messages_total{outcome="read"}[5m]))',
        'and sum by (job) (spanscore_worker_lag) > 1000',
      ].join('\n'),
      ticket,
      {
        summary: 'Workers are more than five minutes behind',
        description:
          '{{ $value | printf "%.0f" }} messages wait on Kafka. Scores come late; nothing is lost before the retention of the topics.',
      },
      { for: '10m' },
    ),
    alert('SpanscoreMessagesLost', `${messages('lost-to-retention', '1h')} > 0`, page, {
      summary: 'Kafka dropped spans before any worker read them',
      description:
        '{{ $value | printf "%.0f" }} messages of the last hour were older than the retention of their topic when their turn came: their runs are lost or incomplete.',
    }),
    alert(
      'SpanscoreSpansTooLarge',
      'sum by (job) (increase({__name__=~"spanscore_(worker|service)_spans_left_out_total", reason="too-large"}[1h])) > 0',
      ticket,
      {
        summary: 'Spans are too large to be scored',
        description:
          '{{ $value | printf "%.0f" }} spans of the last hour were larger than limits.spanMiB, and left out of their runs.',
      },
      { keep_firing_for: '1h' },
    ),
  ],
}
