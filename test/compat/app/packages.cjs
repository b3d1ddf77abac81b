// The packages that a scenario loads: by `require` where the application is CommonJS, by `import` where it is ESM.
const { COMPAT_SDK, COMPAT_MODE, COMPAT_AI } = process.env

const sdk = [
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/exporter-logs-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/sdk-logs',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-node',
  COMPAT_SDK === '3.1' ? '@opentelemetry/sdk-trace' : '@opentelemetry/sdk-trace-base',
]
const app = [
  '@opentelemetry/api',
  'ai',
  '@ai-sdk/openai',
  'zod',
  'spanscore',
  'spanscore/scorers/prebuilt',
  ...(COMPAT_AI === '7' ? ['@ai-sdk/otel'] : []),
  ...(COMPAT_MODE === 'vercel' ? ['@vercel/otel'] : []),
  ...(COMPAT_MODE === 'sentry' ? ['@sentry/opentelemetry'] : []),
]

/** Imports them, and returns what looks one up. */
async function imported(names, load) {
  const modules = new Map()
  for (const name of names) modules.set(name, await load(name))
  return (name) => modules.get(name)
}

module.exports = { sdk, app, imported }
