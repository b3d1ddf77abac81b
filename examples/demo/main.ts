/**
 * The demo: real agents on the AI SDK, a real tracer provider, real OTLP. No key and no network are needed: a scripted server
 * on loopback answers for model and judge, unless OPENAI_API_KEY is set. The output is made from the data that an embedded OTLP
 * receiver got. If OTEL_EXPORTER_OTLP_ENDPOINT is set, the same data is sent there as well.
 */
import { format } from 'node:util'

import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { registerTelemetry } from 'ai'
import { attachScoring } from 'spanscore'
import {
  createPromptAlignmentScorerLLM,
  createSummarizationScorer,
  createToolCallAccuracyScorerCode,
  createToolCallAccuracyScorerLLM,
  createToolErrorsScorer,
} from 'spanscore/scorers/prebuilt'
import { createOtlpReceiver, createScriptedOpenAIServer } from 'spanscore/testing'

import { renderScores, worstFirst } from '../../cli/src/score/table.ts'
import { Tallies } from '../../cli/src/score/tally.ts'
import { printAccounting, printNextSteps } from './accounting.ts'
import { createDemoAgents } from './agents.ts'
import { answerJudge, isJudge } from './judge-script.ts'
import { showPage } from './page.ts'
import { plain } from './plain.ts'
import { carriesScores, columns, paint, printedRuns, printRun, say } from './report.ts'
import { answerAgent, questions } from './script.ts'
import { startTelemetry } from './telemetry.ts'

if (process.argv.includes('--page')) await showPage()

const started = performance.now()
const backend = process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
const tracesKept = process.env['DEMO_TRACES_KEPT']
const realModel = Boolean(process.env['OPENAI_API_KEY'])

// spanscore writes its notices to OpenTelemetry's diag logger. The demo shows only the one about where the scores go.
const note = (_namespace: unknown, message: unknown) =>
  String(message).startsWith('Scores go to') && say(paint('dim', `${plain(String(message))}\n`))
const warn = (...parts: readonly unknown[]) => console.warn(plain(format(...parts)))
diag.setLogger({ error: warn, warn, info: note, debug() {}, verbose() {} }, DiagLogLevel.INFO)

const receiver = await createOtlpReceiver({ onBatch: ({ spans }) => spans.filter(carriesScores).forEach(printRun) })
const server = await createScriptedOpenAIServer((request) =>
  isJudge(request) ? answerJudge(request) : answerAgent(request),
)
const openai = realModel ? createOpenAI() : createOpenAI({ baseURL: server.url, apiKey: 'scripted' })
const model = openai('gpt-5-mini')

say(`${paint('bold', 'The spanscore demo')}: agents on the AI SDK, traced by OpenTelemetry and scored while they run.`)
say(
  realModel
    ? 'gpt-5-mini of OpenAI is the model of the agents and the judge.'
    : 'Model and judge are SCRIPTED: they answer over real HTTP what a script says, mistakes included.',
)
say(
  `Spans, events and metrics go over OTLP to a receiver in this process${backend ? ` and to ${plain(backend)}` : ''}.`,
)
say('tool_call_accuracy, tool_order and tool_errors are computed by code. The other scorers ask the judge.')
say('This is what arrives, run by run:\n')

// An application already has this: a tracer provider that exports.
const telemetry = startTelemetry([receiver.url, ...(backend ? [backend] : [])])
registerTelemetry(new OpenTelemetry())

const tallies = new Tallies([], { worst: 0, showsInput: false })

// This is the part that spanscore adds.
const scoring = attachScoring({
  scorers: [
    {
      scorer: createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }),
      agent: 'weather-agent',
      scope: 'every-agent',
    },
    {
      scorer: createToolCallAccuracyScorerCode({ id: 'tool_order', expectedToolOrder: ['order-tool', 'refund-tool'] }),
      agent: 'support-agent',
      when: (run) => /refund|money/i.test(run.userInput ?? ''),
    },
    { scorer: createToolErrorsScorer(), agent: 'support-agent' },
    { scorer: createToolCallAccuracyScorerLLM({ model }), agent: ['weather-agent', 'support-agent'] },
    {
      scorer: createPromptAlignmentScorerLLM({ model }),
      agent: ['weather-agent', 'support-agent', 'trip-agent'],
      // Prometheus alerts if fewer runs pass.
      alerts: { target: 0.8 },
    },
    { scorer: createSummarizationScorer({ model }), agent: 'summary-agent' },
  ],
  onScore: (evaluation, run) => tallies.add(run, [evaluation]),
  // Many runs arrive within a second here, and all of them are to be shown. The default budget would judge only some of them.
  budget: { callsPerMinute: 600 },
  // This simulates that the tracer's own sampler kept this share of all traces. Each run then represents several.
  ...(tracesKept !== undefined && { upstreamProbability: Number(tracesKept) }),
})

const agents = createDemoAgents(model)
for (const question of questions.weather) await agents.weather(question)
// A longer-lived application exports repeatedly. Backends see how a counter grows from one export to the next.
await scoring.forceFlush()
await Promise.all(questions.support.map(agents.support))
for (const question of questions.trip) await agents.trip(question)
await Promise.all(questions.summary.map(agents.summary))
const outage = realModel
  ? undefined
  : await agents.weather(questions.outage[0]).then(
      () => undefined,
      (error: Error) => error.message,
    )

await scoring.forceFlush()
if (outage !== undefined) {
  say(
    paint('dim', `That run failed, and its application got the error as it would without scoring: ${plain(outage)}\n`),
  )
}
await telemetry.shutdown()

const events = receiver.logs.filter((log) => log.eventName === 'gen_ai.evaluation.result')
const metricNames = new Set(receiver.metrics.map((metric) => metric.name))
say(
  `${receiver.spans.length} spans, ${events.length} gen_ai.evaluation.result events and ${metricNames.size} metrics arrived. The scores, the worst first:\n`,
)
console.log(renderScores(worstFirst(tallies.rows()), { columns, paint }))
const passed = events.filter((event) => event.attributes['gen_ai.evaluation.score.label'] === 'pass').length
printAccounting(scoring.ledger(), printedRuns(), passed)
if (!realModel) printNextSteps()
console.log(`\nDone in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
await Promise.all([server.close(), receiver.close()])
