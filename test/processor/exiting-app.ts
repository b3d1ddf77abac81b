/** An application that scores an agent and comes to its end, or is ended by a signal: `node exiting-app.ts <receiver> <how>`. */
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { defineScorer } from '../../src/scoring/define-scorer.ts'

const [, , url = '', how = 'end'] = process.argv

const answering = how !== 'end'
/** The application awaits a flush and has nothing else to do. */
const flushing = how === 'flush'
/** The signal comes while the judge is thinking. */
const inTheMiddle = how === 'SIGTERM in the middle'
const scoring = new ScoringSpanProcessor({
  scorers: [
    defineScorer({
      id: 'fitting',
      description: 'Answers immediately, or never.',
      kind: 'judge',
      judge: { model: 'a/b', priced: true, estimate: () => ({ calls: 1, tokens: 1 }), unavailable: () => undefined },
      assess: async () => {
        if (!answering) await new Promise(() => undefined)
        // This waits as after a 429: by a timer that keeps no process alive, with an idle connection.
        if (flushing) await new Promise((resolve) => setTimeout(resolve, 100).unref())
        if (inTheMiddle) {
          process.kill(process.pid, 'SIGTERM')
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
        return { status: 'scored', value: 1 }
      },
    }),
  ],
  next: new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }) }),
})
const provider = new TracerProvider({ spanProcessors: [scoring] })

/** The text is so long that reading it takes several turns of the event loop. */
const results = Array.from({ length: how === 'shutdown of a large run' ? 40 : 0 }, () =>
  JSON.stringify(Array.from({ length: 5000 }, (_, index) => ({ index }))),
)
const tracer = provider.getTracer('agents')
const agent = tracer.startSpan('invoke_agent a', {
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' },
})
for (const result of results) {
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.result': result }
  tracer.startSpan('execute_tool t', { attributes }, trace.setSpan(ROOT_CONTEXT, agent)).end()
}
agent.end()

if (how === 'shutdown of a large run') {
  await provider.shutdown()
  process.exit(0)
}
if (flushing) {
  await scoring.forceFlush()
  await provider.shutdown()
} else if (answering) {
  process.once(
    'SIGTERM',
    () =>
      void scoring
        .forceFlush()
        .then(() => provider.shutdown())
        .then(() => process.exit(0)),
  )
  const alive = setInterval(() => {
    if (scoring.ledger().scorers['fitting']?.scored !== 1) return
    clearInterval(alive)
    setTimeout(() => undefined, 10_000)
    if (how === 'SIGTERM') process.kill(process.pid, how)
    if (how === 'SIGKILL') void killAfterFlush()
  }, 1)
}

/** Nothing runs on SIGKILL: what was flushed before is all that is left. The second run is in the middle of its spans. */
async function killAfterFlush(): Promise<void> {
  await scoring.forceFlush()
  tracer.startSpan('invoke_agent b', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } })
  process.kill(process.pid, 'SIGKILL')
}
