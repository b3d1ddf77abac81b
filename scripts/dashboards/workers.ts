import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'

import { choice, lines } from './panels.ts'

const ALL = 'job=~"$job"'

/** A gauge in seconds. The Prometheus exporter of OpenTelemetry can leave out the unit. */
const eitherName = (name: string) => `${name}_seconds{${ALL}} or ${name}{${ALL}}`

/** What workers on Kafka read, hold, deliver and move to the dead-letter topic. */
export function workers(): dashboard.Dashboard {
  const board = new dashboard.DashboardBuilder('Workers on Kafka')
    .uid('spanscore-workers')
    .description(
      'The lag of the workers that read spans from Kafka, and what they read, hold, deliver and move to the dead-letter topic.',
    )
    .tags(['spanscore'])
    .readonly()
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .withVariable(choice('job', 'Service', 'job', 'spanscore_worker_messages_total', true))
    .withRow(new dashboard.RowBuilder('Reading'))
    .withPanel(
      lines(
        {
          title: 'Lag',
          description: 'Messages on Kafka that no worker has read yet, by worker.',
          unit: 'short',
          size: [12, 8],
        },
        [[`sum by (instance) (spanscore_worker_lag{${ALL}})`, '{{instance}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Read',
          description: 'Messages and spans that workers read in each second.',
          unit: 'short',
          size: [12, 8],
        },
        [
          [`sum(rate(spanscore_worker_messages_total{${ALL}, outcome="read"}[5m]))`, 'messages'],
          [`sum(rate(spanscore_worker_spans_total{${ALL}}[5m]))`, 'spans'],
        ],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Partitions',
          description: 'Partitions of each worker. A partition without a worker is not read.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum by (instance) (spanscore_worker_partitions{${ALL}})`, '{{instance}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Held messages',
          description:
            'Messages whose runs are not finished, by worker: open runs, and scored ones that wait for late spans.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum by (instance) (spanscore_worker_held_messages{${ALL}})`, '{{instance}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Stuck workers',
          description: 'Workers of which /health says that they do nothing although messages wait.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum(spanscore_worker_stuck{${ALL}})`, 'workers']],
      ),
    )
    .withRow(new dashboard.RowBuilder('What is left out'))
    .withPanel(
      lines(
        {
          title: 'Dead letters and lost messages',
          description:
            'Messages in each five minutes that could not be read and were moved to the dead-letter topic, and messages that Kafka dropped before they were scored.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum by (outcome) (increase(spanscore_worker_messages_total{${ALL}, outcome!="read"}[5m]))`, '{{outcome}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Spans that are part of no run',
          description:
            'Spans in each five minutes that were left out, by reason: too large, without valid ids, late, over the limit of their trace.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum by (reason) (increase(spanscore_worker_spans_left_out_total{${ALL}}[5m]))`, '{{reason}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Failing writes to Kafka',
          description: 'For how long each worker could not write dead letters, which wait meanwhile. 0 if it can.',
          unit: 's',
          size: [8, 8],
        },
        [[`max by (instance) (${eitherName('spanscore_worker_writes_failing')})`, '{{instance}}']],
      ),
    )
    .withRow(new dashboard.RowBuilder('Delivering'))
    .withPanel(
      lines(
        {
          title: 'Scores',
          description: 'Records with scores in each second, by what the destination answered.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum by (outcome) (rate(spanscore_worker_scores_total{${ALL}}[5m]))`, '{{outcome}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Runs that wait for the destination',
          description: 'By worker. At 200 it reads nothing more until they are delivered.',
          unit: 'short',
          size: [8, 8],
        },
        [[`sum by (instance) (spanscore_worker_outbox_size{${ALL}})`, '{{instance}}']],
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Commits',
          description:
            'Commits in each second by outcome, and messages that were appended again so that commits could move on.',
          unit: 'short',
          size: [8, 8],
        },
        [
          [`sum by (outcome) (rate(spanscore_worker_commits_total{${ALL}}[5m]))`, '{{outcome}}'],
          [`sum(rate(spanscore_worker_carried_total{${ALL}}[5m]))`, 'appended again'],
        ],
      ),
    )
  return board.build()
}
