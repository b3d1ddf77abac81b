import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import { expect, it } from 'vitest'

import { eventually, usePage } from './page-client.ts'

const service = usePage()

interface Shown {
  readonly spans: readonly {
    readonly name: string
    readonly attributes: Readonly<Record<string, unknown>>
    readonly status: unknown
  }[]
}

it('shows the spans of a database client within a run, in protobuf as SDKs send it', async () => {
  const { page } = service
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${page.server.httpPort}/v1/traces` })
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
  const agent = provider.getTracer('my-agents').startSpan('invoke_agent clerk', {
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'clerk' },
  })
  const inside = trace.setSpan(ROOT_CONTEXT, agent)
  const chat = provider.getTracer('my-agents').startSpan(
    'chat gpt',
    {
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Where is A-1?"}]}]',
        'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Shipped."}]}]',
      },
    },
    inside,
  )
  chat.end()
  const query = provider.getTracer('@opentelemetry/instrumentation-pg').startSpan(
    'SELECT shop',
    {
      kind: SpanKind.CLIENT,
      attributes: { 'db.query.text': `SELECT * FROM orders ${'x'.repeat(3000)}`, 'db.system.name': 'postgresql' },
    },
    inside,
  )
  query.setStatus({ code: SpanStatusCode.ERROR, message: 'relation "orders" does not exist' })
  query.end()
  agent.end()
  await provider.shutdown()
  const { runs } = await eventually(
    () => page.get<{ runs: { id: string }[] }>('/api/runs'),
    (list) => list.runs.length === 1,
  )
  const { spans } = await page.get<Shown>(`/api/run?id=${runs[0]!.id}`)
  const shown = spans.find(({ name }) => name === 'SELECT shop')
  expect(shown).toMatchObject({
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': expect.stringMatching(/^SELECT .{990,}…$/) },
    status: { code: 'error', message: 'relation "orders" does not exist' },
  })
})
