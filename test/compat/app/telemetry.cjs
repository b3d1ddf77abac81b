// What an application has: an OpenTelemetry SDK of line 1.30, 2.x or 3.x, with OTLP exporters to COMPAT_OTLP_URL.
const line = process.env.COMPAT_SDK
const url = (signal) => `${process.env.COMPAT_OTLP_URL}/v1/${signal}`

/** Trace exporter and processor of the line. */
function spanProcessor(get) {
  const { OTLPTraceExporter } = get('@opentelemetry/exporter-trace-otlp-http')
  const exporter = new OTLPTraceExporter({ url: url('traces') })
  if (line === '3.1') {
    const { BatchSpanProcessor } = get('@opentelemetry/sdk-trace')
    return new BatchSpanProcessor({ exporter })
  }
  const { BatchSpanProcessor } = get('@opentelemetry/sdk-trace-base')
  return new BatchSpanProcessor(exporter)
}

/** NodeSDK with traces, logs and metrics; `spanProcessors` as a scenario arranges them. */
function startNodeSdk(get, spanProcessors) {
  const { NodeSDK } = get('@opentelemetry/sdk-node')
  const { OTLPLogExporter } = get('@opentelemetry/exporter-logs-otlp-http')
  const { OTLPMetricExporter } = get('@opentelemetry/exporter-metrics-otlp-http')
  const { PeriodicExportingMetricReader } = get('@opentelemetry/sdk-metrics')
  const { SimpleLogRecordProcessor } = get('@opentelemetry/sdk-logs')
  const logExporter = new OTLPLogExporter({ url: url('logs') })
  const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter({ url: url('metrics') }) })
  const sdk = new NodeSDK({
    serviceName: 'compat',
    spanProcessors,
    instrumentations: [],
    ...(line === '1.30'
      ? { metricReader: reader, logRecordProcessors: [new SimpleLogRecordProcessor(logExporter)] }
      : { metricReaders: [reader], logRecordProcessors: [new SimpleLogRecordProcessor({ exporter: logExporter })] }),
  })
  sdk.start()
  return sdk
}

/** A tracer provider alone: no context manager, no logs, no metrics. */
function startBareProvider(get, spanProcessors) {
  const { trace } = get('@opentelemetry/api')
  const Provider =
    line === '3.1'
      ? get('@opentelemetry/sdk-trace').TracerProvider
      : get('@opentelemetry/sdk-trace-base').BasicTracerProvider
  const provider = new Provider({ spanProcessors })
  trace.setGlobalTracerProvider(provider)
  return provider
}

function startVercel(get) {
  const { OTLPHttpJsonTraceExporter, registerOTel } = get('@vercel/otel')
  registerOTel({ serviceName: 'compat', traceExporter: new OTLPHttpJsonTraceExporter({ url: url('traces') }) })
  const { trace } = get('@opentelemetry/api')
  return trace.getTracerProvider().getDelegate()
}

/** What `Sentry.init` of version 11 registers: a provider of Sentry's own, without span processors. */
function startSentry(get) {
  const { SentryTracerProvider } = get('@sentry/opentelemetry')
  get('@opentelemetry/api').trace.setGlobalTracerProvider(new SentryTracerProvider())
}

module.exports = { spanProcessor, startNodeSdk, startBareProvider, startVercel, startSentry }
