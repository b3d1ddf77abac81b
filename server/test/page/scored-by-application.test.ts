import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createAnswerPresentScorer, ScoringSpanProcessor } from 'spanscore'
import { expect, it } from 'vitest'

import { eventually, usePage } from './page-client.ts'

const service = usePage()

interface Score {
  readonly scorer: string
  readonly status: string
  readonly value: number | null
  readonly label: string | null
}

const text = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

it('shows the score that the application wrote on the span, where the service has the same scorer', async () => {
  const { page } = service
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${page.server.httpPort}/v1/traces` })
  const scoring = new ScoringSpanProcessor({
    scorers: [createAnswerPresentScorer()],
    next: new BatchSpanProcessor(exporter),
  })
  const provider = new BasicTracerProvider({ spanProcessors: [scoring] })
  provider
    .getTracer('my-agents')
    .startSpan('invoke_agent clerk', {
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'clerk',
        'gen_ai.input.messages': text('user', 'Where is A-1?'),
        'gen_ai.output.messages': text('assistant', 'It is in Oslo.'),
      },
    })
    .end()
  await provider.shutdown()

  const { runs } = await eventually(
    () => page.get<{ runs: { id: string; scores: readonly Score[] }[] }>('/api/runs'),
    (list) => (list.runs[0]?.scores.length ?? 0) > 0,
  )
  expect(runs[0]?.scores).toContainEqual(
    expect.objectContaining({ scorer: 'answer_present', status: 'scored', value: 1, label: 'pass' }),
  )
  const run = await page.get<{ scores: readonly { evaluation: unknown }[] }>(`/api/run?id=${runs[0]!.id}`)
  expect(JSON.stringify(run)).not.toContain('already-scored')
})
