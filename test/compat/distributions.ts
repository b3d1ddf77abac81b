/**
 * Where a score of a run is, once everything was flushed: on the agent's span; there if it was ready while the span was ending; on a late
 * span; or only in events and `onScore`.
 */
export type ScorePlace = 'span' | 'ending span' | 'late span' | 'onScore'

/** A distribution of OpenTelemetry that teams run, or a tracer of a vendor, and what spanscore does there. */
export interface Distribution {
  /** As in docs/reference/distributions.md. */
  readonly name: string
  /** Its key in `app/distributions/vendors.cjs`. */
  readonly vendor: string
  /** The newest versions of these are installed. A name may end in `@<version>`. */
  readonly packages: readonly string[]
  /** Variables of its environment; `SINK` in a value is the sink's address. @default none */
  readonly environment?: Readonly<Record<string, string>>
  /** What the notice says where it cannot be attached to. @default it can be */
  readonly refuses?: RegExp
  /** Where the score by code is. @default 'span' */
  readonly code?: ScorePlace
  /** Where the judge's score is. @default 'span' */
  readonly judge?: ScorePlace
  /** Where both scores are if OpenInference traces the agents, whose spans some vendors leave out. @default as of the AI SDK */
  readonly ofOpenInference?: ScorePlace
  /** True if it traces OpenAI Agents itself, without messages, so that its runs are not tried. @default false */
  readonly tracesAgents?: true
  /** True if scoring is put in where the vendor is started, and nothing attaches. @default false */
  readonly isBuiltIn?: true
  /** The forms of modules that it supports. @default both */
  readonly modules?: readonly ('ESM' | 'CommonJS')[]
  /** True if it does not install at present. The run fails once it does. @default false */
  readonly isBroken?: true
}

const NODE_SDK = ['@opentelemetry/sdk-node', '@opentelemetry/api']
/** For those whose packages ask for the 2.x line. */
const NODE_SDK_2 = [
  '@opentelemetry/sdk-node@0.223.0',
  '@opentelemetry/api@1.9.1',
  '@opentelemetry/sdk-trace-base@2.12.1',
]
const EXPORTER_2 = ['@opentelemetry/core@2.12.1', '@opentelemetry/exporter-trace-otlp-http@0.223.1']
const OTLP = { OTEL_EXPORTER_OTLP_ENDPOINT: 'SINK', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }
const NEW_RELIC = {
  NEW_RELIC_APP_NAME: 'app',
  NEW_RELIC_LICENSE_KEY: 'a'.repeat(40),
  NEW_RELIC_HOST: '127.0.0.1',
  NEW_RELIC_LOG_ENABLED: 'false',
  NEW_RELIC_OPENTELEMETRY_ENABLED: 'true',
  NEW_RELIC_OPENTELEMETRY_TRACES_ENABLED: 'true',
  // Its exporter of log records leaves a timer of half a minute, so that a program does not end.
  NEW_RELIC_OPENTELEMETRY_LOGS_ENABLED: 'false',
}

/** Every distribution that is tried. */
export const DISTRIBUTIONS: readonly Distribution[] = [
  { name: 'OpenTelemetry NodeSDK', vendor: 'node-sdk', packages: NODE_SDK, environment: OTLP },
  {
    name: 'OpenTelemetry auto-instrumentations-node',
    vendor: 'auto',
    packages: ['@opentelemetry/auto-instrumentations-node', '@opentelemetry/api'],
    environment: OTLP,
  },
  {
    name: 'NestJS (nestjs-otel)',
    vendor: 'nestjs',
    packages: ['nestjs-otel', '@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs', ...NODE_SDK],
    environment: OTLP,
  },
  {
    name: 'New Relic',
    vendor: 'new-relic',
    packages: ['newrelic'],
    environment: NEW_RELIC,
    code: 'ending span',
    judge: 'onScore',
  },
  {
    name: "Datadog's own provider",
    vendor: 'datadog',
    packages: ['dd-trace', '@opentelemetry/api'],
    refuses: /Datadog/,
  },
  {
    name: 'Datadog, NodeSDK beside it',
    vendor: 'datadog-beside',
    packages: ['dd-trace', ...NODE_SDK_2],
    environment: OTLP,
  },
  {
    name: "Sentry 10's default",
    vendor: 'sentry-default',
    packages: ['@sentry/node@10', '@opentelemetry/api@1.9.1'],
    refuses: /openTelemetryBasicTracerProvider: true/,
  },
  {
    name: 'Sentry 10, openTelemetryBasicTracerProvider',
    vendor: 'sentry-basic',
    packages: ['@sentry/node@10', '@opentelemetry/api@1.9.1'],
    // Sentry waits for half a second, and the judge takes longer.
    judge: 'late span',
  },
  {
    name: 'Sentry 10, openTelemetrySpanProcessors',
    vendor: 'sentry-processors',
    packages: ['@sentry/node@10', '@opentelemetry/api@1.9.1'],
    isBuiltIn: true,
    code: 'ending span',
    judge: 'late span',
  },
  {
    name: 'Sentry 10, NodeSDK beside it',
    vendor: 'sentry-beside',
    packages: ['@sentry/node@10', ...NODE_SDK_2],
    environment: OTLP,
  },
  {
    name: 'Effect',
    vendor: 'effect',
    packages: [
      '@effect/opentelemetry',
      'effect',
      '@opentelemetry/api@1.9.1',
      '@opentelemetry/context-async-hooks@2.12.1',
      '@opentelemetry/resources@2.12.1',
      '@opentelemetry/sdk-trace-base@2.12.1',
      '@opentelemetry/sdk-trace-node@2.12.1',
      ...EXPORTER_2,
    ],
    isBuiltIn: true,
  },
  {
    name: "Sentry 11's default",
    vendor: 'sentry-default',
    packages: ['@sentry/node@11', '@opentelemetry/api@1.9.1'],
    refuses: /Sentry's own tracer .*with version 11, start an OpenTelemetry SDK/,
  },
  {
    name: 'Sentry 11, enableOpenTelemetrySetup',
    vendor: 'sentry-opentelemetry',
    packages: ['@sentry/node@11', '@opentelemetry/api@1.9.1'],
    refuses: /Sentry's own tracer .*with version 11, start an OpenTelemetry SDK/,
  },
  {
    name: 'Sentry 11, NodeSDK beside it',
    vendor: 'sentry-beside',
    packages: ['@sentry/node@11', ...NODE_SDK_2],
    environment: OTLP,
  },
  { name: 'Azure Monitor', vendor: 'azure', packages: ['@azure/monitor-opentelemetry'] },
  { name: 'Microsoft', vendor: 'microsoft', packages: ['@microsoft/opentelemetry'] },
  { name: 'Elastic (EDOT)', vendor: 'elastic', packages: ['@elastic/opentelemetry-node'], environment: OTLP },
  {
    name: 'AWS (ADOT)',
    vendor: 'adot',
    packages: ['@aws/aws-distro-opentelemetry-node-autoinstrumentation'],
    tracesAgents: true,
    environment: { ...OTLP, OTEL_TRACES_SAMPLER: 'always_on', OTEL_AWS_APPLICATION_SIGNALS_ENABLED: 'false' },
  },
  {
    name: 'Dash0',
    vendor: 'dash0',
    packages: ['@dash0/opentelemetry'],
    environment: { DASH0_OTEL_COLLECTOR_BASE_URL: 'SINK', OTEL_RESOURCE_ATTRIBUTES: 'service.name=app' },
  },
  {
    name: 'Pydantic Logfire',
    vendor: 'logfire',
    packages: ['@pydantic/logfire-node', '@opentelemetry/auto-instrumentations-node@0.81.0', ...NODE_SDK_2],
  },
  {
    name: 'Langfuse',
    vendor: 'langfuse',
    packages: ['@langfuse/otel', ...NODE_SDK_2, ...EXPORTER_2],
    environment: OTLP,
    ofOpenInference: 'onScore',
  },
  { name: 'Arize Phoenix', vendor: 'phoenix', packages: ['@arizeai/phoenix-otel'] },
  { name: 'Vercel', vendor: 'vercel', packages: ['@vercel/otel', '@opentelemetry/api@1.9.1'], environment: OTLP },
  { name: 'HyperDX (ClickStack)', vendor: 'hyperdx', packages: ['@hyperdx/node-opentelemetry'], environment: OTLP },
  {
    name: 'Braintrust',
    vendor: 'braintrust',
    packages: ['@braintrust/otel', 'braintrust', ...NODE_SDK_2, ...EXPORTER_2],
    environment: OTLP,
  },
  { name: 'Uptrace', vendor: 'uptrace', packages: ['@uptrace/node'] },
  { name: 'Highlight', vendor: 'highlight', packages: ['@highlight-run/node'] },
  { name: 'Traceloop', vendor: 'traceloop', packages: ['@traceloop/node-server-sdk'] },
  {
    name: 'PostHog',
    vendor: 'posthog',
    packages: ['@posthog/ai', ...NODE_SDK_2],
    environment: OTLP,
  },
  { name: 'AgentOps', vendor: 'agentops', packages: ['agentops'] },
  {
    name: 'LangSmith',
    vendor: 'langsmith',
    packages: ['langsmith', ...NODE_SDK_2],
    environment: { LANGSMITH_TRACING: 'true', LANGSMITH_API_KEY: 'key', LANGSMITH_ENDPOINT: 'SINK' },
    // It exports no span of the AI SDK 7.
    code: 'onScore',
    judge: 'onScore',
  },
  { name: 'Laminar', vendor: 'laminar', packages: ['@lmnr-ai/lmnr', ...NODE_SDK_2], environment: OTLP },
  {
    name: 'Coralogix',
    vendor: 'coralogix',
    packages: ['@coralogix/opentelemetry', ...NODE_SDK_2],
    environment: OTLP,
  },
  {
    name: 'SolarWinds',
    vendor: 'solarwinds',
    packages: ['solarwinds-apm', '@opentelemetry/api@1.9.1'],
    environment: { SW_APM_COLLECTOR: 'SINK', SW_APM_SERVICE_KEY: 'token:app' },
    modules: ['ESM'],
  },
  { name: 'LangWatch', vendor: 'node-sdk', packages: ['langwatch'], isBroken: true },
  { name: 'Splunk', vendor: 'node-sdk', packages: ['@splunk/otel'], isBroken: true },
]
