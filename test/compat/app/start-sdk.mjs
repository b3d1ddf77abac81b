// A preload that starts the SDK, as `@opentelemetry/auto-instrumentations-node/register` does, without its hundred packages.
import packages from './packages.cjs'
import telemetry from './telemetry.cjs'

const get = await packages.imported(packages.sdk, (name) => import(name))
globalThis.compatSdk = telemetry.startNodeSdk(get, [telemetry.spanProcessor(get)])
