/** A worker on Kafka passes the same scenarios as a service on one machine. */
import { readOtlpJson } from 'spanscore/engine'
import { afterAll } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import { describeScenarios } from '../scenarios.ts'
import { Sender } from './sender.ts'
import { sharedKafka } from './shared-broker.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'

const kafka = sharedKafka()
let count = 0

afterAll(async () => {
  await kafka.close()
})

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly unknown[] }[]
  }[]
}

/** Creates a message for each trace of a request, as the Collector does. */
function byTrace(request: unknown): readonly { readonly traceId: string; readonly request: unknown }[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- requests of the tests have one resource and one scope
  const { resourceSpans } = request as OtlpRequest
  const [resource] = resourceSpans
  const [scope] = resource?.scopeSpans ?? []
  const traceIds = readOtlpJson(request)?.spans.map(({ traceId }) => traceId) ?? []
  const spansOf = Map.groupBy(scope?.spans ?? [], (_, index) => traceIds[index] ?? '')
  return [...spansOf].map(([traceId, spans]) => ({
    traceId,
    request: { resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans }] }] },
  }))
}

describeScenarios('on Kafka', async (to, configPath) => {
  const name = `scenario-${(count += 1)}`
  const topics = topicsOf(name)
  await kafka.createTopics({ [topics.spans]: APPEND_TIME, [topics.logs]: APPEND_TIME, [topics.dead]: {} }, 2)
  const sender = new Sender(kafka.brokers, topics.spans)
  const given = workerOptions(kafka.brokers, name, to, { configPath })
  // Thousands of runs are sent span by span, which takes a busy machine longer than it otherwise waits for parents.
  const options = { ...given, traces: { ...given.traces, orphanMs: 60_000 } }
  let worker = await startWorker(options)
  return {
    isDurable: true,
    send: (request) => sender.send(byTrace(request)),
    sendBytes: (traceId, body) => sender.send([{ traceId, request: body }]),
    restart: async () => {
      await worker.stop()
      worker = await startWorker(options)
    },
    counts: () => worker.counts(),
    stop: async () => {
      await worker.stop()
      await sender.close()
    },
  }
})
