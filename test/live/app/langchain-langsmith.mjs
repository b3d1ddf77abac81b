import { Client } from 'langsmith'
import { initializeOTEL } from 'langsmith/experimental/otel/setup'
import { traceable } from 'langsmith/traceable'

let client

export function instrument(provider) {
  initializeOTEL({ globalTracerProvider: provider, skipGlobalContextManagerSetup: true })
  client = new Client({ apiUrl: process.env.MODEL_URL })
}

/** LangSmith writes spans of `traceable` functions only. */
export function around(run, ask) {
  return traceable((_question) => ask(), { name: run.agent, client })({ question: run.input })
}

export function flush() {
  return client.awaitPendingTraceBatches()
}
