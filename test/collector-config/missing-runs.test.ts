/** Runs without a score, from the real processor to the shipped rules: they cannot page, and many of them open a ticket. */
import { SpanStatusCode } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { attachScoring } from '../../src/processor/attach/attach.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { agentAttributes, createPipeline, open, runAgent } from '../processor/harness.ts'
import { scenario } from './alert-scenarios.ts'
import type { Series } from './alert-scenarios.ts'
import { play } from './promtool.ts'

/** The README's own scorer. */
const citesSource = createScorer({ id: 'cites_source', description: 'The answer names a source.', version: '1' })
  .generateScore(({ agentRun }) => /https?:\/\//.test(agentRun.output ?? ''))
  .generateReason(({ score }) => (score === 1 ? 'The answer has a link.' : 'The answer has no link.'))

const RUNS = 120

/** As content capture that is off leaves it. */
function withoutContent(tracer: Tracer): void {
  open(tracer, 'invoke_agent faq', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'faq' }).end()
}

/** As an outage of the model's provider leaves it. */
function failing(tracer: Tracer): void {
  const { 'gen_ai.output.messages': _, ...asked } = agentAttributes('faq')
  const agent = open(tracer, 'invoke_agent faq', asked)
  agent.setStatus({ code: SpanStatusCode.ERROR, message: 'the provider does not answer' })
  agent.end()
}

function withSource(tracer: Tracer): void {
  open(tracer, 'invoke_agent faq', agentAttributes('faq', 'Where?', 'See https://example.com/oslo.')).end()
}

const prometheusName = (name: string) => name.replaceAll(/[.-]/g, '_')

/** The metrics of an hour of such runs, with every alert a page, as Prometheus has them. */
async function metricsOf(end: (tracer: Tracer, index: number) => void): Promise<Series[]> {
  const { tracer, flush, receiver } = await createPipeline({ processors: (batch) => [batch] })
  attachScoring({ scorers: [{ scorer: citesSource, alerts: { target: 0.8, severity: 'page', drop: 'page' } }] })
  for (let index = 0; index < RUNS; index += 1) end(tracer, index)
  await flush()
  const latest = new Map(
    receiver.metrics.map((metric) => [`${metric.name} ${JSON.stringify(metric.attributes)}`, metric]),
  )
  return [...latest.values()].flatMap(({ name, attributes, value }) => {
    if (value === undefined) return []
    const labels = Object.entries({ job: 'shop', ...attributes }).map(
      ([key, text]) => `${prometheusName(key)}="${text}"`,
    )
    const isSetting = name === 'spanscore.alert.setting'
    return {
      series: `${prometheusName(name)}${isSetting ? '' : '_total'}{${labels.join(', ')}}`,
      values: isSetting ? `${value}x120` : `0+${value / 60}x60 ${value}x60`,
    }
  })
}

const firing = (of: Readonly<Record<string, number>>) =>
  Object.entries(of).map(([alert, count]) => ({ at: '80m', alert, firing: count }))

describe.skipIf(findProgram('promtool') === undefined)('runs without a score', { timeout: 600_000 }, () => {
  it.each([
    ['lack the content', withoutContent],
    ['failed', failing],
  ])('cannot page if they %s', async (name, end) => {
    const series = await metricsOf(end)
    const evaluated = series.filter(({ series: each }) => each.startsWith('spanscore_evaluations_total'))
    expect(evaluated.map(({ values }) => values)).toEqual([`0+${RUNS / 60}x60 ${RUNS}x60`])
    const expected = firing({ SpanscoreBelowTarget: 0, SpanscoreDropped: 0 })
    expect(play(scenario(name, series, expected))).toContain('SUCCESS')
  })

  it('open a ticket if half of the replicas record no content, and the good half does not page', async () => {
    const series = await metricsOf((tracer, index) => (index % 2 === 0 ? withoutContent : withSource)(tracer))
    const expected = firing({ SpanscoreBelowTarget: 0, SpanscoreDropped: 0, SpanscoreUnaccounted: 1 })
    const test = {
      ...scenario('half', series, expected),
      alert_rule_test: [
        {
          eval_time: '80m',
          alertname: 'SpanscoreUnaccounted',
          exp_alerts: [
            {
              exp_labels: {
                severity: 'ticket',
                job: 'shop',
                gen_ai_agent_name: 'faq',
                gen_ai_evaluation_name: 'cites_source',
              },
              exp_annotations: {
                summary: 'faq: cites_source has no score for 50 % of the runs that were chosen in the last day.',
                description:
                  'Means and alerts are of the other runs, which may be better or worse. The spans lack the messages, arguments or results that the scorer reads (no-content, 60 runs).',
                dashboard_url: '',
                runbook_url: '',
              },
            },
          ],
        },
      ],
    }
    expect(play(test)).toContain('SUCCESS')
  })

  it('do not hide a fall of the runs that have one', async () => {
    const series = await metricsOf((tracer, index) => {
      if (index % 2 === 0) withoutContent(tracer)
      else runAgent(tracer, 'faq')
    })
    expect(play(scenario('fall', series, firing({ SpanscoreBelowTarget: 1 })))).toContain('SUCCESS')
  })
})
