import { NodeSDK } from '@opentelemetry/sdk-node'

/** The SDK as most applications start it: exporters come from the environment. */
export function start() {
  const sdk = new NodeSDK({ serviceName: 'live' })
  sdk.start()
  return sdk
}
