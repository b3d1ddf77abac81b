// The same for `--require`.
const telemetry = require('./telemetry.cjs')

globalThis.compatSdk = telemetry.startNodeSdk(require, [telemetry.spanProcessor(require)])
