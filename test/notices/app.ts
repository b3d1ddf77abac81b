/** An application whose scoring is set up wrongly in one way: `node app.ts <case>`. What it prints is what the tests look at. */
import { createRequire } from 'node:module'

import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import type { Attributes } from '@opentelemetry/api'
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  TracerProvider,
  TraceIdRatioBasedSampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace'
import {
  attachScoring,
  createRubricScorer,
  createScorer,
  createToolCallAccuracyScorerCode,
  ScoringSpanProcessor,
} from 'spanscore'
import { createScriptedJudge, createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'

import { registerProvider, runAgent, SECRET, startProvider } from './spans.ts'

const criteria = [{ id: 'polite', question: 'Is it polite?' }]
const tools = createToolCallAccuracyScorerCode({ expectedTool: 'weather' })
const answer = createScorer({ id: 'answer', description: 'Reads the answer.' }).generateScore(({ agentRun }) =>
  agentRun.output === undefined ? 0 : 1,
)

/** Writes one span by hand, under a name of the application's own, and ends. */
async function endSpan(attributes: Attributes): Promise<void> {
  const provider = startProvider()
  attachScoring({ scorers: [answer] })
  trace.getTracer('loop').startSpan('handle question', { attributes }).end()
  await provider.shutdown()
}

/** Has runs judged one after the other. The judge answers in prose, except for one run, which it answers correctly. */
async function judgeInTurn(runs: number, good?: number): Promise<void> {
  startProvider()
  let turn = 0
  await using server = await createScriptedOpenAIServer(({ userText }) => {
    const verdicts = readJudgePrompt(userText).questions.map((question) => [question.id, question.verdicts[0] ?? ''])
    return turn === good ? judgeReply({ verdicts: Object.fromEntries(verdicts) }) : `A good answer to ${SECRET}.`
  })
  const model = { id: 'acme/judge', url: server.url, apiKey: 'none' }
  const scoring = attachScoring({ scorers: [createRubricScorer({ model, criteria })] })
  for (; turn < runs; turn++) {
    runAgent('weather-agent')
    await scoring.forceFlush()
  }
}

// What few cases need is loaded only by them: the sources, the exporter and the whole SDK take longer than most cases.

/** Does what `spanscore/register` does, but waits only this long for a tracer provider. */
async function registerFor(waitMs: number): Promise<void> {
  const { register } = await import('../../src/processor/attach/register.ts')
  register(waitMs)
}

/** Registers an SDK that exports to this address. */
async function exportTo(url: string): Promise<void> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: 1000 })
  registerProvider(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }))
}

/** Starts the SDK as most applications do. */
async function createSdk(): Promise<{ start(): void; shutdown(): Promise<void> }> {
  const { NodeSDK } = await import('@opentelemetry/sdk-node')
  return new NodeSDK({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] })
}

/** Asks a model through the AI SDK. @param telemetries how often its telemetry is registered */
async function askModel(telemetries = 0, recordInputs = true): Promise<void> {
  const [{ generateText, registerTelemetry }, { createOpenAI }, { OpenTelemetry }] = await Promise.all([
    import('ai'),
    import('@ai-sdk/openai'),
    import('@ai-sdk/otel'),
  ])
  for (let count = 0; count < telemetries; count++) registerTelemetry(new OpenTelemetry())
  await using server = await createScriptedOpenAIServer([{ text: SECRET }])
  const model = createOpenAI({ apiKey: 'none', baseURL: server.url })('gpt-5-mini')
  await generateText({ model, prompt: SECRET, telemetry: { recordInputs } })
}

/** A provider with the methods of Datadog's: its processors cannot be seen. */
class ForeignProvider {
  getTracer = trace.getTracer.bind(trace)
  addSpanProcessor(): void {}
}

/** A judge that never answers. */
function slowJudge(): ReturnType<typeof createScriptedJudge> {
  return createScriptedJudge(() => new Promise(() => undefined))
}

/** Waits for as long as a condition does not hold, ten seconds at most. */
async function until(holds: () => boolean): Promise<void> {
  const endMs = Date.now() + 10_000
  while (!holds() && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 5))
}

const cases: Readonly<Record<string, () => void | Promise<void>>> = {
  'attached before the SDK is started': async () => {
    const sdk = await createSdk()
    attachScoring({ scorers: [tools] })
    sdk.start()
    runAgent('weather-agent')
  },
  'an SDK that is never registered': async () => {
    await registerFor(50)
    // Only what is loaded as CommonJS can be seen.
    createRequire(import.meta.url)('@opentelemetry/sdk-trace')
    await new Promise((resolve) => setTimeout(resolve, 400))
  },
  'an SDK that is not registered before the process ends': () => registerFor(50),
  'a model, and no SDK': () => askModel(1),
  'a model in a process that goes on, and no SDK': async () => {
    await registerFor(50)
    await askModel(1)
    await new Promise((resolve) => setTimeout(resolve, 400))
    process.exit()
  },
  'a model before the SDK is started': async () => {
    await askModel(1)
    await startProvider().shutdown()
  },
  'a judge of a misspelt provider': async () => {
    startProvider()
    const scoring = attachScoring({
      scorers: [
        createRubricScorer({ model: 'opnai/gpt-5-mini', criteria }),
        createRubricScorer({ id: 'second', model: 'opnai/gpt-5-mini', criteria }),
      ],
    })
    runAgent('weather-agent')
    await scoring.forceFlush()
  },
  'a judge whose key is refused': async () => {
    startProvider()
    const refused = Object.assign(new Error(`no key for ${SECRET}`), { statusCode: 401 })
    const model = createScriptedJudge({ error: refused })
    const scoring = attachScoring({ scorers: [createRubricScorer({ model, criteria })] })
    runAgent('weather-agent')
    await scoring.forceFlush()
  },
  'a judge that answers prose': () => judgeInTurn(6),
  'a judge that answers prose now and then': () => judgeInTurn(8, 4),
  'runs without content': async () => {
    startProvider()
    const scoring = attachScoring({ scorers: [answer] })
    const none = { 'gen_ai.input.messages': [], 'gen_ai.output.messages': [] }
    runAgent('weather-agent', none)
    runAgent('weather-agent', none)
    await scoring.forceFlush()
  },
  'runs whose question is switched off': async () => {
    const provider = startProvider()
    const asked = createScorer({ id: 'asked', description: 'Reads the question.', needs: ['input'] })
    attachScoring({ scorers: [answer, asked.generateScore(() => 1)] })
    await askModel(1, false)
    await provider.shutdown()
  },
  'runs without content that nobody needs': async () => {
    startProvider()
    const scoring = attachScoring({
      scorers: [createScorer({ id: 'quick', description: 'Looks at times.', needs: [] }).generateScore(() => 1)],
    })
    runAgent('weather-agent', { 'gen_ai.input.messages': [], 'gen_ai.output.messages': [] })
    await scoring.forceFlush()
  },
  'a misspelt agent': async () => {
    startProvider()
    const scoring = attachScoring({ scorers: [{ scorer: answer, agent: 'wether-agent' }] })
    for (let count = 0; count < 99; count++) runAgent('weather-agent')
    await scoring.forceFlush()
    process.stderr.write('99 runs\n')
    runAgent('weather-agent')
    await scoring.forceFlush()
  },
  'a misspelt agent of a script': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [{ scorer: answer, agent: 'wether-agent' }] })
    runAgent('weather-agent')
    await provider.shutdown()
  },
  'a filter where no agent has a name': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [{ scorer: answer, agent: 'weather-agent' }] })
    runAgent('', { 'gen_ai.agent.name': undefined })
    await provider.shutdown()
  },
  'a misspelt attribute of spans written by hand': () =>
    endSpan({ 'gen_ai.operation_name': 'invoke_agent', 'gen_ai.agent.name': 'weather' }),
  'a misspelt operation of spans written by hand': () => endSpan({ 'gen_ai.operation.name': 'invoke-agent' }),
  'spans written by hand without an operation': () => endSpan({ 'gen_ai.agent.name': SECRET }),
  'spans of embeddings alone': () =>
    endSpan({ 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': 'text-embedding-3-small' }),
  'model calls without runs': () => {
    startProvider()
    attachScoring({ scorers: [answer] })
    const attributes = { 'url.full': `https://api.openai.com/v1/chat/completions?q=${SECRET}` }
    trace.getTracer('http').startSpan('POST', { kind: SpanKind.CLIENT, attributes }).end()
  },
  'a forgotten registerTelemetry': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [answer] })
    await askModel()
    await provider.shutdown()
  },
  'a registerTelemetry too many': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [answer] })
    await askModel(2)
    await provider.shutdown()
  },
  'one registerTelemetry': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [answer] })
    await askModel(1)
    await provider.shutdown()
  },
  'attached too early, and then a model is called': async () => {
    attachScoring({ scorers: [answer] })
    startProvider()
    await askModel()
  },
  'a provider of an older API': async () => {
    const provider = new TracerProvider({
      spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })],
    })
    Reflect.set(globalThis, Symbol.for('opentelemetry.js.api.1'), { version: '1.4.0', trace: provider })
    attachScoring({ scorers: [answer] })
    await askModel()
    await provider.shutdown()
  },
  'a run after the shutdown': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [answer] })
    await provider.shutdown()
    runAgent('weather-agent')
    runAgent('weather-agent')
  },
  'a provider that is not registered': async () => {
    const tracerProvider = new TracerProvider({
      spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })],
    })
    attachScoring({ scorers: [answer], tracerProvider })
    await askModel()
    await tracerProvider.shutdown()
  },
  'a sampler that keeps nothing': async () => {
    process.env['OTEL_TRACES_SAMPLER'] = 'always_off'
    const sdk = await createSdk()
    sdk.start()
    attachScoring({ scorers: [answer] })
    runAgent('weather-agent')
    await askModel()
    await sdk.shutdown()
  },
  'model calls with spans of other kinds': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [answer] })
    trace.getTracer('http').startSpan('GET /').end()
    await askModel()
    await provider.shutdown()
  },
  'untraced model calls beside a run': async () => {
    const provider = startProvider()
    attachScoring({ scorers: [answer] })
    await askModel()
    runAgent('weather-agent')
    await provider.shutdown()
  },
  'model calls with runs': () => {
    startProvider()
    attachScoring({ scorers: [answer] })
    const attributes = { 'server.address': 'api.openai.com' }
    trace.getTracer('http').startSpan('POST', { kind: SpanKind.CLIENT, attributes }).end()
    runAgent('weather-agent')
  },
  'a scorer that throws': async () => {
    startProvider()
    const throwing = createScorer({ id: 'throwing', description: 'Throws.' }).generateScore(() => {
      throw new RangeError(SECRET)
    })
    attachScoring({ scorers: [throwing] })
    runAgent('weather-agent')
    runAgent('weather-agent')
  },
  'a filter that is async': () => {
    startProvider()
    // @ts-expect-error -- the types forbid it, and JavaScript does not
    attachScoring({ scorers: [{ scorer: answer, when: async () => true }] })
    runAgent('weather-agent')
  },
  'an onScore that throws': () => {
    startProvider()
    attachScoring({
      scorers: [answer],
      onScore: () => {
        throw new Error(SECRET)
      },
    })
    runAgent('weather-agent')
    runAgent('weather-agent')
  },
  'an exit before a judge has answered': () => {
    startProvider()
    attachScoring({ scorers: [createRubricScorer({ model: slowJudge(), criteria })] })
    runAgent('weather-agent')
    process.exit()
  },
  'a failure with a score pending': () => {
    startProvider()
    attachScoring({ scorers: [createRubricScorer({ model: slowJudge(), criteria })] })
    runAgent('weather-agent')
    process.exit(1)
  },
  'an end without a flush': () => {
    registerProvider(
      new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
    )
    attachScoring({ scorers: [answer] })
    runAgent('weather-agent')
  },
  'an end without a flush or a run': () => {
    registerProvider(
      new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
    )
    attachScoring({ scorers: [answer] })
    trace.getTracer('http').startSpan('GET /').end()
  },
  'an exit after a flush': async () => {
    const provider = startProvider()
    const scoring = attachScoring({ scorers: [answer] })
    runAgent('weather-agent')
    await scoring.forceFlush()
    await provider.shutdown()
    process.exit()
  },
  'more judging than the default budget': async () => {
    startProvider()
    const model = createScriptedJudge({ json: { score: 1 } })
    const asked = createScorer({ id: 'asked', description: 'Asks.', judge: { model } }).generateScore({
      description: 'Gives a score.',
      createPrompt: () => 'Score it.',
    })
    const scoring = attachScoring({ scorers: [asked], tracerProvider: trace.getTracerProvider() })
    for (let count = 0; count < 150; count++) runAgent('weather-agent')
    await until(() => scoring.ledger().scorers['asked']?.pending === 0)
  },
  'an endpoint that nobody listens at': async () => {
    await exportTo('http://127.0.0.1:1/v1/traces')
    const scoring = attachScoring({ scorers: [answer] })
    runAgent('weather-agent')
    await scoring.forceFlush()
    await scoring.forceFlush()
  },
  'an endpoint that refuses': async () => {
    await using server = await createScriptedOpenAIServer([])
    await exportTo(`${server.url}/traces`)
    const scoring = attachScoring({ scorers: [answer] })
    runAgent('weather-agent')
    await scoring.forceFlush()
  },
  'no exporter': async () => {
    const scoring = new ScoringSpanProcessor({ scorers: [answer] })
    registerProvider(new TracerProvider({ spanProcessors: [scoring] }))
    runAgent('weather-agent')
    runAgent('weather-agent')
    await scoring.forceFlush()
  },
  'alerts without metrics': async () => {
    startProvider()
    const scoring = attachScoring({ scorers: [{ scorer: answer, alerts: { target: 0.8 } }, tools] })
    runAgent('weather-agent')
    await scoring?.forceFlush()
  },
  'attached twice': () => {
    startProvider()
    attachScoring({ scorers: [tools] })
    attachScoring({ scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather' })] })
    process.stderr.write('the same\n')
    attachScoring({ scorers: [tools, answer] })
    attachScoring({ scorers: [answer] })
  },
  attached: () => {
    startProvider()
    attachScoring({ scorers: [tools, answer] })
    trace.getTracer('http').startSpan('GET /').end()
    trace.getTracer('http').startSpan('GET /').end()
  },
  'attached where Sentry 11 is loaded': () => {
    Reflect.set(globalThis, '__SENTRY__', { version: '11.12.0' })
    attachScoring({ scorers: [tools] })
  },
  'a provider of Sentry 10': () => {
    Reflect.set(globalThis, '__SENTRY__', { version: '10.78.0' })
    class SentryTracerProvider extends ForeignProvider {}
    attachScoring({ scorers: [tools], tracerProvider: new SentryTracerProvider() })
  },
  'a provider of Datadog': () => {
    Reflect.set(globalThis, Symbol.for('dd-trace'), {})
    attachScoring({ scorers: [tools], tracerProvider: new ForeignProvider() })
  },
  'spans that cannot be read': () => {
    startProvider()
    const scoring = new ScoringSpanProcessor({ scorers: [tools] })
    for (let count = 0; count < 2; count++) {
      // @ts-expect-error -- Datadog passes such spans to the processors of its provider
      scoring.onStart({ spanContext: () => ({ traceId: 'a', spanId: 'b', traceFlags: 1 }) }, ROOT_CONTEXT)
    }
  },
  'a processor that can neither be flushed nor shut down, with stripContent': () => {
    // @ts-expect-error -- New Relic's processor has only these methods
    registerProvider(new TracerProvider({ spanProcessors: [{ onStart() {}, onEnd() {} }] }))
    attachScoring({ scorers: [tools], stripContent: true })
  },
  'a sampler of the application that keeps nothing': async () => {
    const provider = new TracerProvider({ sampler: new TraceIdRatioBasedSampler(0) })
    registerProvider(provider)
    attachScoring({ scorers: [answer] })
    await trace.getTracer('http').startActiveSpan('GET /', async (span) => {
      await askModel(1)
      span.end()
    })
    await provider.shutdown()
  },
  'nothing but the SDK': async () => {
    const sdk = await createSdk()
    sdk.start()
    runAgent('weather-agent')
  },
}

const [, , name = ''] = process.argv
const play = cases[name]
if (play === undefined) throw new Error(`Expected one of ${Object.keys(cases).join(', ')}, got ${name}.`)
await play()
