// As most applications do it: NodeSDK with exporters, attachScoring after its start, and an agent whose content is recorded.
// With an argument, it is a script that ends after its run: by itself, or, for `exit`, by process.exit().
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { trace } from '@opentelemetry/api'
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { attachScoring, createRubricScorer, createScorer } from 'spanscore'

const url = process.env.JUDGE_URL
const sdk = new NodeSDK({
  traceExporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }),
  metricReaders: [
    new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter({ url: `${url}/v1/metrics` }) }),
  ],
  logRecordProcessors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${url}/v1/logs` }) })],
})
sdk.start()
const model = { id: 'local/judge', url: `${url}/v1`, apiKey: 'sk-a-key-that-nobody-may-see' }
attachScoring({
  scorers: [
    createScorer({ id: 'answered', description: 'There is an answer.', inline: true }).generateScore(({ agentRun }) =>
      agentRun.output === undefined ? 0 : 1,
    ),
    { scorer: createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is it polite?' }] }), sample: 0 },
  ],
})
const message = (role, content) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
trace
  .getTracer('agents')
  .startSpan('invoke_agent greeter', {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'greeter',
      'gen_ai.input.messages': message('user', 'a-question-that-nobody-may-see'),
      'gen_ai.output.messages': message('assistant', 'Hello.'),
    },
  })
  .end()
process.stdout.write('the application runs\n')
const [, , ending] = process.argv
if (ending === 'exit') process.exit(0)
if (ending === 'end') await sdk.shutdown()
// It goes on for longer than the doctor looks.
else setTimeout(() => process.exit(0), 4000)
