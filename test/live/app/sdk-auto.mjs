/** The SDK was started by `--require @opentelemetry/auto-instrumentations-node/register`, which ends it with the process. */
export function start() {
  return { shutdown: () => Promise.resolve() }
}
