// A judge whose server refuses every question.
import { createServer } from 'node:http'

import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createRubricScorer } from 'spanscore'

const server = createServer((_request, response) => response.writeHead(401).end('{}')).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const model = { id: 'local/judge', url: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'k' }
const scorer = createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is it polite?' }] })
const scoring = attachScoring({ scorers: [{ scorer, sample: 1 }] })
const message = (role, content) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
const attributes = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.input.messages': message('user', 'Hi'),
  'gen_ai.output.messages': message('assistant', 'Hello.'),
}
trace.getTracer('agents').startSpan('invoke_agent', { attributes }).end()
await scoring.forceFlush()
server.close()
