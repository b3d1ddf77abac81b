// How each distribution is started, flushed and shut down, in the way that its documentation shows. `SINK` is in the vendor's place.
const { SINK, OTEL_PORT } = process.env

/** The default export of a CommonJS package that was imported. */
const whole = (module) => module.default ?? module

/** What the API has registered. */
const registered = (get) => {
  const provider = get('@opentelemetry/api').trace.getTracerProvider()
  return provider.getDelegate?.() ?? provider
}
const ofProvider = (get) => ({ flush: () => registered(get).forceFlush(), shutdown: () => registered(get).shutdown() })

/** An SDK as an application builds it beside a vendor's. */
function nodeSdk(get, options = {}) {
  const { NodeSDK } = get('@opentelemetry/sdk-node')
  const sdk = new NodeSDK({ serviceName: 'app', instrumentations: [], ...options })
  sdk.start()
  return { flush: () => registered(get).forceFlush(), shutdown: () => sdk.shutdown() }
}

const sentry = (get, options = {}) => {
  const Sentry = get('@sentry/node')
  Sentry.init({ dsn: `http://public@${new URL(SINK).host}/1`, tracesSampleRate: 1, sendDefaultPii: true, ...options })
  return {
    flush: () => Sentry.flush(5000),
    shutdown: () => Sentry.close(5000),
    // Sentry sends a span whose parent is a transaction of its own with that transaction.
    run: (work) => Sentry.startSpan({ name: 'request' }, work),
  }
}

const NODE_SDK = '@opentelemetry/sdk-node'
const OTLP_EXPORTER = '@opentelemetry/exporter-trace-otlp-http'
const CONTEXTS = '@opentelemetry/context-async-hooks'
/** Azure's exporter only talks TLS. The sink does not. */
const plain = {
  name: 'plain',
  sendRequest(request, next) {
    request.url = request.url.replace('https:', 'http:')
    request.allowInsecureConnection = true
    return next(request)
  },
}
const azure = {
  connectionString: `InstrumentationKey=00000000-0000-0000-0000-000000000000;IngestionEndpoint=${SINK}/`,
  additionalPolicies: [{ position: 'perCall', policy: plain }],
}

module.exports = {
  'node-sdk': { packages: [NODE_SDK], start: nodeSdk },
  auto: {
    packages: ['@opentelemetry/auto-instrumentations-node/register'],
    start: (get) => (get('@opentelemetry/auto-instrumentations-node/register'), ofProvider(get)),
  },
  nestjs: { packages: ['nestjs-otel', NODE_SDK], start: nodeSdk },
  'new-relic': {
    packages: ['newrelic'],
    start(get) {
      const newrelic = whole(get('newrelic'))
      return {
        run: (work) => newrelic.startBackgroundTransaction('answer', work),
        // New Relic's collector is only reached by TLS, so what it would get is read where it waits.
        kept: () =>
          newrelic.agent.spanEventAggregator.getEvents().map((event) => {
            const [{ name }, custom, own] = event.toJSON()
            return { name, attributes: { ...custom, ...own } }
          }),
        flush: async () => {},
        shutdown: () => new Promise((resolve) => newrelic.shutdown({}, () => resolve())),
      }
    },
  },
  datadog: {
    packages: ['dd-trace'],
    start(get) {
      const tracer = whole(get('dd-trace')).init({ url: SINK, startupLogs: false })
      const provider = new tracer.TracerProvider()
      provider.register()
      return { flush: () => provider.forceFlush(), shutdown: () => provider.shutdown() }
    },
  },
  'datadog-beside': {
    packages: ['dd-trace', NODE_SDK],
    start(get) {
      whole(get('dd-trace')).init({ url: SINK, startupLogs: false })
      return nodeSdk(get)
    },
  },
  'sentry-default': { packages: ['@sentry/node'], start: (get) => sentry(get) },
  'sentry-opentelemetry': {
    packages: ['@sentry/node'],
    start: (get) => sentry(get, { enableOpenTelemetrySetup: true }),
  },
  'sentry-basic': {
    packages: ['@sentry/node'],
    start: (get) => sentry(get, { openTelemetryBasicTracerProvider: true }),
  },
  'sentry-processors': {
    packages: ['@sentry/node'],
    own: (get, options) => {
      const scoring = new (get('spanscore').ScoringSpanProcessor)(options)
      return [scoring, sentry(get, { openTelemetrySpanProcessors: [scoring] })]
    },
  },
  'sentry-beside': {
    packages: ['@sentry/node', NODE_SDK],
    start(get) {
      const { flush } = sentry(get, { skipOpenTelemetrySetup: true })
      const sdk = nodeSdk(get)
      return { ...sdk, flush: async () => (await flush(), await sdk.flush()) }
    },
  },
  effect: {
    packages: [
      '@effect/opentelemetry',
      '@effect/opentelemetry/NodeSdk',
      'effect',
      OTLP_EXPORTER,
      '@opentelemetry/sdk-trace-node',
      CONTEXTS,
    ],
    async own(get, options) {
      const { OtelTracer, Resource } = get('@effect/opentelemetry')
      const { Effect, Layer, ManagedRuntime } = get('effect')
      const { BatchSpanProcessor } = get('@opentelemetry/sdk-trace-node')
      const next = new BatchSpanProcessor(new (get(OTLP_EXPORTER).OTLPTraceExporter)({ url: `${SINK}/v1/traces` }))
      const scoring = new (get('spanscore').ScoringSpanProcessor)({ ...options, next })
      const resource = Resource.layer({ serviceName: 'app' })
      const layer = Layer.provideMerge(get('@effect/opentelemetry/NodeSdk').layerTracerProvider(scoring), resource)
      const runtime = ManagedRuntime.make(Layer.provideMerge(OtelTracer.layer, layer))
      const provider = await runtime.runPromise(OtelTracer.OtelTracerProvider)
      // The AI SDK asks the API for its tracer.
      const { trace, context } = get('@opentelemetry/api')
      trace.setGlobalTracerProvider(provider)
      context.setGlobalContextManager(new (get(CONTEXTS).AsyncLocalStorageContextManager)().enable())
      return [
        scoring,
        {
          run: (work) => runtime.runPromise(Effect.withSpan(Effect.promise(work), 'request')),
          flush: () => provider.forceFlush(),
          shutdown: () => runtime.dispose(),
        },
      ]
    },
  },
  azure: {
    packages: ['@azure/monitor-opentelemetry'],
    start(get) {
      const { useAzureMonitor, shutdownAzureMonitor } = get('@azure/monitor-opentelemetry')
      useAzureMonitor({ azureMonitorExporterOptions: azure, tracesPerSecond: 0, enableLiveMetrics: false })
      return { flush: () => registered(get).forceFlush(), shutdown: shutdownAzureMonitor }
    },
  },
  microsoft: {
    packages: ['@microsoft/opentelemetry'],
    start(get) {
      const { useMicrosoftOpenTelemetry, shutdownMicrosoftOpenTelemetry } = get('@microsoft/opentelemetry')
      useMicrosoftOpenTelemetry({ azureMonitor: { azureMonitorExporterOptions: azure }, tracesPerSecond: 0 })
      return { flush: () => registered(get).forceFlush(), shutdown: shutdownMicrosoftOpenTelemetry }
    },
  },
  elastic: {
    packages: ['@elastic/opentelemetry-node'],
    start: (get) => (get('@elastic/opentelemetry-node'), ofProvider(get)),
  },
  adot: {
    packages: ['@aws/aws-distro-opentelemetry-node-autoinstrumentation/register'],
    start: (get) => (get('@aws/aws-distro-opentelemetry-node-autoinstrumentation/register'), ofProvider(get)),
  },
  dash0: { packages: ['@dash0/opentelemetry'], start: (get) => (get('@dash0/opentelemetry'), ofProvider(get)) },
  logfire: {
    packages: ['@pydantic/logfire-node'],
    start(get) {
      const logfire = get('@pydantic/logfire-node')
      logfire.configure({ token: 'token', serviceName: 'app', advanced: { baseUrl: SINK }, console: false })
      return ofProvider(get)
    },
  },
  langfuse: {
    packages: ['@langfuse/otel', NODE_SDK],
    start(get) {
      const { LangfuseSpanProcessor } = get('@langfuse/otel')
      return nodeSdk(get, {
        spanProcessors: [new LangfuseSpanProcessor({ publicKey: 'pk', secretKey: 'sk', baseUrl: SINK })],
      })
    },
  },
  phoenix: {
    packages: ['@arizeai/phoenix-otel'],
    start(get) {
      const provider = get('@arizeai/phoenix-otel').register({ projectName: 'app', url: SINK })
      return { flush: () => provider.forceFlush(), shutdown: () => provider.shutdown() }
    },
  },
  vercel: {
    packages: ['@vercel/otel'],
    start(get) {
      get('@vercel/otel').registerOTel({ serviceName: 'app' })
      return ofProvider(get)
    },
  },
  hyperdx: {
    packages: ['@hyperdx/node-opentelemetry'],
    start(get) {
      const hyperdx = get('@hyperdx/node-opentelemetry')
      hyperdx.init({ apiKey: 'key', service: 'app', disableStartupLogs: true })
      return { flush: () => registered(get).forceFlush(), shutdown: () => hyperdx.shutdown() }
    },
  },
  braintrust: {
    packages: ['@braintrust/otel', NODE_SDK],
    start(get) {
      const { BraintrustSpanProcessor } = get('@braintrust/otel')
      return nodeSdk(get, {
        spanProcessors: [new BraintrustSpanProcessor({ apiKey: 'key', apiUrl: SINK, parent: 'project_name:app' })],
      })
    },
  },
  uptrace: {
    packages: ['@uptrace/node'],
    start(get) {
      const sdk = get('@uptrace/node').configureOpentelemetry({
        dsn: `http://token@${new URL(SINK).host}?grpc=${OTEL_PORT}`,
        serviceName: 'app',
      })
      sdk?.start?.()
      return { flush: () => registered(get).forceFlush(), shutdown: () => sdk.shutdown() }
    },
  },
  highlight: {
    packages: ['@highlight-run/node'],
    start(get) {
      const { H } = get('@highlight-run/node')
      H.init({ projectID: 'project', otlpEndpoint: SINK, serviceName: 'app' })
      return { flush: () => H.flush(), shutdown: () => H.stop() }
    },
  },
  traceloop: {
    packages: ['@traceloop/node-server-sdk'],
    start(get) {
      const traceloop = get('@traceloop/node-server-sdk')
      traceloop.initialize({ appName: 'app', apiKey: 'key', baseUrl: SINK, silenceInitializationMessage: true })
      return { flush: () => registered(get).forceFlush(), shutdown: () => registered(get).shutdown() }
    },
  },
  posthog: {
    packages: ['@posthog/ai/otel', NODE_SDK],
    start(get) {
      const { PostHogSpanProcessor } = get('@posthog/ai/otel')
      return nodeSdk(get, { spanProcessors: [new PostHogSpanProcessor({ projectToken: 'phc_token', host: SINK })] })
    },
  },
  agentops: {
    packages: ['agentops'],
    async start(get) {
      const { agentops } = get('agentops')
      await agentops.init({ apiKey: 'key', apiEndpoint: SINK, otlpEndpoint: SINK })
      return { flush: () => registered(get).forceFlush(), shutdown: () => agentops.shutdown() }
    },
  },
  solarwinds: {
    packages: ['solarwinds-apm'],
    async start(get) {
      const { waitUntilReady, forceFlush } = get('solarwinds-apm')
      await waitUntilReady(10_000)
      return {
        flush: async () => (await forceFlush(), await registered(get).forceFlush()),
        // It shuts down by itself when the process ends.
        shutdown: () => undefined,
        // It adds to the first span of a trace what it keeps under that very object, of which a scored span is a copy.
        run: (work) =>
          get('@opentelemetry/api')
            .trace.getTracer('app')
            .startActiveSpan('request', (span) => work().finally(() => span.end())),
      }
    },
  },
  langsmith: {
    packages: ['langsmith/experimental/otel/setup'],
    start(get) {
      const { DEFAULT_LANGSMITH_SPAN_PROCESSOR } = get('langsmith/experimental/otel/setup').initializeOTEL()
      return { flush: () => DEFAULT_LANGSMITH_SPAN_PROCESSOR.forceFlush(), shutdown: () => registered(get).shutdown() }
    },
  },
  laminar: {
    packages: ['@lmnr-ai/lmnr', NODE_SDK],
    start(get) {
      const { LaminarSpanProcessor } = get('@lmnr-ai/lmnr')
      const { hostname, port } = new URL(SINK)
      const sink = { baseUrl: `http://${hostname}`, port: Number(port), forceHttp: true }
      return nodeSdk(get, { spanProcessors: [new LaminarSpanProcessor({ apiKey: 'key', ...sink })] })
    },
  },
  coralogix: {
    packages: ['@coralogix/opentelemetry', '@opentelemetry/sdk-trace-base', NODE_SDK],
    start(get) {
      const { CoralogixTransactionSampler } = get('@coralogix/opentelemetry')
      return nodeSdk(get, { sampler: new CoralogixTransactionSampler() })
    },
  },
}
