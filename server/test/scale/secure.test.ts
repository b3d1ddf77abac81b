/** Brokers that use TLS and authenticate clients by a password or a certificate. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { KafkaOptions } from '../../src/kafka/kafka-client.ts'
import { startWorker } from '../../src/start-worker.ts'
import { createSink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { SecureKafka } from './secure-kafka.ts'
import { Sender } from './sender.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'

const secure = new SecureKafka()
const sasl = { mechanism: 'PLAIN', username: 'worker', password: 'worker-secret' } as const

afterAll(() => secure.remove())

async function createTopics(kafka: KafkaCluster, name: string): Promise<void> {
  const { spans, logs, dead } = topicsOf(name)
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {} }, 1)
}

describe('brokers that require a password', () => {
  let kafka: KafkaCluster

  beforeAll(async () => {
    kafka = await secure.withPasswords(1, ['PLAIN', 'SCRAM-SHA-512'], true)
  })

  afterAll(async () => {
    await kafka.close()
  })

  const access = (change: Partial<KafkaOptions> = {}): { readonly kafka: KafkaOptions } => ({
    kafka: { brokers: kafka.brokers, clientId: 'test', tls: { caFile: secure.caFile }, ...change },
  })

  it.each([
    ['PLAIN', 'worker-secret'],
    ['SCRAM-SHA-512', 'scram-secret'],
  ] as const)('scores runs with %s', async (mechanism, password) => {
    const name = mechanism.toLowerCase()
    await createTopics(kafka, name)
    await using sink = await createSink()
    const sender = new Sender(kafka.brokers, topicsOf(name).spans, kafka.access)
    const options = workerOptions(
      kafka.brokers,
      name,
      sink.url,
      access({ sasl: { mechanism, username: 'worker', password } }),
    )
    const worker = await startWorker(options)
    const run = makeRun()
    await sender.send(run.requests.map((request) => ({ traceId: run.traceId, request })))
    await until(() => sink.logs.length > 0, 'the scores', 60_000)
    await worker.stop()
    await sender.close()
    expect(new Set(sink.logs.map(({ traceId }) => traceId))).toEqual(new Set([run.traceId]))
  })

  it.each([
    ['a wrong password', { mechanism: 'SCRAM-SHA-512', username: 'worker', password: 'wrong' }],
    ['a user that is unknown', { mechanism: 'PLAIN', username: 'nobody', password: 'wrong' }],
    [
      'a mechanism that brokers do not have',
      { mechanism: 'SCRAM-SHA-256', username: 'worker', password: 'scram-secret' },
    ],
  ] as const)('says what is wrong with %s', async (_, wrong) => {
    const options = workerOptions(kafka.brokers, 'plain', 'http://127.0.0.1:9', access({ sasl: wrong }))
    const failure = await startWorker(options).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : 'none'),
    )
    expect(failure).toContain(
      `Expected brokers that let the user ${wrong.username} in with ${wrong.mechanism} (--kafka-sasl, --kafka-user and its password), got a refusal`,
    )
    expect(failure).not.toContain(wrong.password)
  })

  it.each([
    ['no TLS', { tls: undefined, sasl }],
    [
      'an authority that did not sign the certificate',
      { tls: { caFile: secure.certificates.path('stranger.crt') }, sasl },
    ],
    ['an authority that is no file', { tls: { caFile: secure.certificates.path('absent.crt') }, sasl }],
  ] as const)(
    'says what is wrong with %s',
    async (what, wrong) => {
      const options = workerOptions(kafka.brokers, 'plain', 'http://127.0.0.1:9', access(wrong))
      await expect(startWorker(options)).rejects.toThrow(
        what.endsWith('no file')
          ? /^--kafka-ca .*absent\.crt: expected a file that can be read, got .*ENOENT/
          : /^Expected brokers at 127\.0\.0\.1:\d+ that answer/,
      )
    },
    90_000,
  )
})

describe('brokers that require a certificate', () => {
  let kafka: KafkaCluster

  beforeAll(async () => {
    kafka = await secure.withCertificates()
  })

  afterAll(async () => {
    await kafka.close()
  })

  it('scores runs with one that they accept, and reports what is wrong without it', async () => {
    await createTopics(kafka, 'mtls')
    await using sink = await createSink()
    const sender = new Sender(kafka.brokers, topicsOf('mtls').spans, kafka.access)
    const options = (files: NonNullable<KafkaOptions['tls']>) =>
      workerOptions(kafka.brokers, 'mtls', sink.url, {
        kafka: { brokers: kafka.brokers, clientId: 'test', tls: { caFile: secure.caFile, ...files } },
      })
    const worker = await startWorker(
      options({ certFile: secure.certificates.path('worker.crt'), keyFile: secure.certificates.path('worker.key') }),
    )
    const run = makeRun()
    await sender.send(run.requests.map((request) => ({ traceId: run.traceId, request })))
    await until(() => sink.logs.some(({ traceId }) => traceId === run.traceId), 'the scores', 60_000)
    await worker.stop()
    await sender.close()
    await expect(startWorker(options({}))).rejects.toThrow(/^Expected brokers at 127\.0\.0\.1:\d+ that answer/)
  }, 120_000)
})
