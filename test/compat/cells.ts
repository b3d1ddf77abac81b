/** The release lines of the OpenTelemetry SDK that users have; only one of them can be installed in an application. */
export const SDKS = ['1.30', '2.12', '3.1'] as const
export type Sdk = (typeof SDKS)[number]

/** The oldest Node that is supported, and the newest of the later lines. */
export const NODES = ['22.15.0', '24.21.0', '26.10.0'] as const
export type Node = (typeof NODES)[number]

/** Major versions of the AI SDK. */
export const AIS = ['6', '7'] as const
export type Ai = (typeof AIS)[number]

/** One combination of versions; every scenario runs in it. */
export interface Cell {
  readonly sdk: Sdk
  readonly node: Node
  readonly ai: Ai
}

/** Every combination. */
export const ALL_CELLS: readonly Cell[] = SDKS.flatMap((sdk) =>
  NODES.flatMap((node) => AIS.map((ai): Cell => ({ sdk, node, ai }))),
)

/**
 * Eight of them, in which every pair of versions but one occurs: all nine pairs of SDK and Node would need nine cells. SDK 1.30, which
 * ended before Node 26 began, is not run on it here.
 */
export const PAIRWISE_CELLS: readonly Cell[] = [
  { sdk: '1.30', node: '22.15.0', ai: '6' },
  { sdk: '1.30', node: '24.21.0', ai: '7' },
  { sdk: '2.12', node: '22.15.0', ai: '7' },
  { sdk: '2.12', node: '24.21.0', ai: '6' },
  { sdk: '2.12', node: '26.10.0', ai: '7' },
  { sdk: '3.1', node: '22.15.0', ai: '6' },
  { sdk: '3.1', node: '24.21.0', ai: '7' },
  { sdk: '3.1', node: '26.10.0', ai: '6' },
]

const AI_PACKAGES: Readonly<Record<Ai, Readonly<Record<string, string>>>> = {
  6: { ai: '6.0.326', '@ai-sdk/openai': '3.0.141', zod: '4.6.7' },
  7: { ai: '7.0.173', '@ai-sdk/openai': '4.0.118', '@ai-sdk/otel': '1.0.173', zod: '4.6.7' },
}

const SDK_PACKAGES: Readonly<Record<Sdk, Readonly<Record<string, string>>>> = {
  '1.30': {
    '@opentelemetry/api': '1.9.1',
    '@opentelemetry/sdk-node': '0.57.2',
    '@opentelemetry/sdk-trace-base': '1.30.1',
    '@opentelemetry/sdk-metrics': '1.30.1',
    '@opentelemetry/sdk-logs': '0.57.2',
    '@opentelemetry/exporter-trace-otlp-http': '0.57.2',
    '@opentelemetry/exporter-logs-otlp-http': '0.57.2',
    '@opentelemetry/exporter-metrics-otlp-http': '0.57.2',
  },
  '2.12': {
    '@opentelemetry/api': '1.9.1',
    '@opentelemetry/api-logs': '0.223.1',
    '@opentelemetry/instrumentation': '0.223.0',
    '@opentelemetry/resources': '2.12.1',
    '@opentelemetry/sdk-node': '0.223.0',
    '@opentelemetry/sdk-trace-base': '2.12.1',
    '@opentelemetry/sdk-metrics': '2.12.1',
    '@opentelemetry/sdk-logs': '0.223.1',
    '@opentelemetry/exporter-trace-otlp-http': '0.223.1',
    '@opentelemetry/exporter-logs-otlp-http': '0.223.1',
    '@opentelemetry/exporter-metrics-otlp-http': '0.223.0',
    '@vercel/otel': '2.1.3',
    '@sentry/opentelemetry': '11.12.0',
  },
  '3.1': {
    '@opentelemetry/api': '1.10.0',
    '@opentelemetry/sdk-node': '0.301.0',
    '@opentelemetry/sdk-trace': '3.1.1',
    '@opentelemetry/sdk-metrics': '3.1.1',
    '@opentelemetry/sdk-logs': '3.1.1',
    '@opentelemetry/exporter-trace-otlp-http': '0.301.0',
    '@opentelemetry/exporter-logs-otlp-http': '0.301.0',
    '@opentelemetry/exporter-metrics-otlp-http': '0.301.0',
  },
}

/** The dependencies of a cell's application, without spanscore. */
export function packagesOf({ sdk, ai }: Cell): Readonly<Record<string, string>> {
  return { ...SDK_PACKAGES[sdk], ...AI_PACKAGES[ai] }
}

/** The name of a cell, such as `SDK 2.12, Node 24.21.0, ai 6`. */
export function nameOf({ sdk, node, ai }: Cell): string {
  return `SDK ${sdk}, Node ${node}, ai ${ai}`
}
