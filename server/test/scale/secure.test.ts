/** Brokers that are reached over TLS, and that ask who it is: by a password, or by a certificate. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { KafkaOptions } from '../../src/kafka/kafka-client.ts'
import { startWorker } from '../../src/start-worker.ts'
import { Certificates } from '../certificates.ts'
import { createSink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { Sender } from './sender.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-tls-'))
const certificates = new Certificates(folder)
const caFile = certificates.path('authority.crt')

function tlsLines(clientAuth: string): readonly string[] {
  return [
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${certificates.path('broker.pem')}`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${caFile}`,
    `ssl.client.auth=${clientAuth}`,
  ]
}

beforeAll(() => {
  certificates.authority('authority')
  certificates.authority('stranger')
  certificates.certificate('broker', 'authority')
  certificates.certificate('worker', 'authority')
  writeFileSync(certificates.path('broker.pem'), certificates.read('broker.key') + certificates.read('broker.crt'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function createTopics(kafka: KafkaCluster, name: string): Promise<void> {
  const { spans, logs, dead } = topicsOf(name)
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {} }, 1)
}

describe('brokers that ask for a password', () => {
  const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule'
  const sasl = { mechanism: 'PLAIN', username: 'admin', password: 'admin-secret' } as const
  let kafka: KafkaCluster

  beforeAll(async () => {
    kafka = await startKafka(1, {
      protocol: 'SASL_SSL',
      access: { tls: { ca: certificates.read('authority.crt') }, sasl },
      lines: [
        ...tlsLines('none'),
        'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512',
        'sasl.mechanism.inter.broker.protocol=PLAIN',
        `listener.name.client.plain.sasl.jaas.config=${PLAIN} required username="admin" password="admin-secret" user_admin="admin-secret" user_worker="worker-secret";`,
        `listener.name.client.scram-sha-512.sasl.jaas.config=${SCRAM} required;`,
        'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'allow.everyone.if.no.acl.found=true',
        'super.users=User:admin;User:ANONYMOUS',
      ],
      formatArgs: ['--add-scram', 'SCRAM-SHA-512=[name=worker,password=scram-secret]'],
    })
  })

  afterAll(async () => {
    await kafka.close()
  })

  const access = (change: Partial<KafkaOptions> = {}): { readonly kafka: KafkaOptions } => ({
    kafka: { brokers: kafka.brokers, clientId: 'test', tls: { caFile }, ...change },
  })

  it.each([
    ['PLAIN', 'worker-secret'],
    ['SCRAM-SHA-512', 'scram-secret'],
  ] as const)('scores runs with %s', async (mechanism, password) => {
    const name = mechanism.toLowerCase()
    await createTopics(kafka, name)
    await using sink = await createSink()
    const sender = new Sender(kafka.brokers, topicsOf(name).spans, {
      tls: { ca: certificates.read('authority.crt') },
      sasl,
    })
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
    ['a user that is not known', { mechanism: 'PLAIN', username: 'nobody', password: 'wrong' }],
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
    ['an authority that did not sign the certificate', { tls: { caFile: certificates.path('stranger.crt') }, sasl }],
    ['an authority that is no file', { tls: { caFile: certificates.path('absent.crt') }, sasl }],
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

  it('fails health when nothing has been read for half a minute although messages wait', async () => {
    await createTopics(kafka, 'stuck')
    await using sink = await createSink()
    const { spans } = topicsOf('stuck')
    const sender = new Sender(kafka.brokers, spans, { tls: { ca: certificates.read('authority.crt') }, sasl })
    const worker = await startWorker(
      workerOptions(
        kafka.brokers,
        'stuck',
        sink.url,
        access({ sasl: { mechanism: 'PLAIN', username: 'worker', password: 'worker-secret' } }),
      ),
    )
    const sendRun = async () => {
      const run = makeRun()
      await sender.send(run.requests.map((request) => ({ traceId: run.traceId, request })))
    }
    await sendRun()
    await until(() => sink.logs.length > 0, 'the scores', 60_000)
    const health = async (path = 'health') => (await fetch(`http://127.0.0.1:${worker.httpPort}/${path}`)).status
    expect(await health()).toBe(200)
    // From now on the brokers let the worker look at the topic, and do not let it read.
    const rule = { resourceType: ResourceTypes.TOPIC, resourceName: spans, principal: 'User:worker', host: '*' }
    const pattern = { resourcePatternType: ResourcePatternTypes.LITERAL }
    await kafka.admin.createAcls({
      creations: [
        { ...rule, ...pattern, operation: AclOperations.READ, permissionType: AclPermissionTypes.DENY },
        { ...rule, ...pattern, operation: AclOperations.DESCRIBE, permissionType: AclPermissionTypes.ALLOW },
      ],
    })
    const scoredBefore = sink.logs.length
    const deniedMs = performance.now()
    // A fetch that waited at the broker by then was allowed, and may bring one more run: there is always another that waits.
    const sendAndLook = async () => {
      await sendRun()
      return health()
    }
    await expect.poll(sendAndLook, { timeout: 90_000, interval: 1000 }).toBe(503)
    expect(performance.now() - deniedMs).toBeGreaterThan(29_000)
    const body = await (await fetch(`http://127.0.0.1:${worker.httpPort}/health`)).text()
    expect(body).toMatch(/Nothing was read from partition 0 for \d+ s although \d+ messages wait/)
    expect(sink.logs.length).toBe(scoredBefore)
    await worker.stop()
    await sender.close()
  }, 180_000)
})

const tls = () => ({
  ca: certificates.read('authority.crt'),
  cert: certificates.read('worker.crt'),
  key: certificates.read('worker.key'),
})

describe('brokers that ask for a certificate', () => {
  let kafka: KafkaCluster

  beforeAll(async () => {
    kafka = await startKafka(1, { protocol: 'SSL', access: { tls: tls() }, lines: tlsLines('required') })
  })

  afterAll(async () => {
    await kafka.close()
  })

  it('scores runs with one that they know, and says what is wrong without', async () => {
    await createTopics(kafka, 'mtls')
    await using sink = await createSink()
    const sender = new Sender(kafka.brokers, topicsOf('mtls').spans, { tls: tls() })
    const options = (files: NonNullable<KafkaOptions['tls']>) =>
      workerOptions(kafka.brokers, 'mtls', sink.url, {
        kafka: { brokers: kafka.brokers, clientId: 'test', tls: { caFile, ...files } },
      })
    const worker = await startWorker(
      options({ certFile: certificates.path('worker.crt'), keyFile: certificates.path('worker.key') }),
    )
    const run = makeRun()
    await sender.send(run.requests.map((request) => ({ traceId: run.traceId, request })))
    await until(() => sink.logs.some(({ traceId }) => traceId === run.traceId), 'the scores', 60_000)
    await worker.stop()
    await sender.close()
    await expect(startWorker(options({}))).rejects.toThrow(/^Expected brokers at 127\.0\.0\.1:\d+ that answer/)
  }, 120_000)
})
