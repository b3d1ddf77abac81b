import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { Admin } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'

import { clientOptions, KafkaClient } from '../../src/kafka/kafka-client.ts'

const run = promisify(execFile)

const MANIFEST = join(import.meta.dirname, 'pom.xml')

/** The jars of the broker, from Maven Central, kept by the hash of the manifest. */
async function jars(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(MANIFEST)).digest('hex').slice(0, 12)
  const root = process.env['SPANSCORE_KAFKA_CACHE'] ?? join(homedir(), '.cache', 'spanscore-kafka')
  const folder = join(root, hash)
  const ready = join(folder, 'ready')
  if (!existsSync(ready)) {
    mkdirSync(folder, { recursive: true })
    copyFileSync(MANIFEST, join(folder, 'pom.xml'))
    await run(
      'mvn',
      [
        '-q',
        '-B',
        'dependency:copy-dependencies',
        '-DincludeScope=runtime',
        `-DoutputDirectory=${join(folder, 'lib')}`,
      ],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
    )
    writeFileSync(ready, '')
  }
  return join(folder, 'lib', '*')
}

/** Brokers that run on this machine. */
export interface KafkaCluster {
  /** `host:port` of each broker. */
  readonly brokers: readonly string[]
  readonly admin: Admin
  /** How the test itself reaches the brokers. */
  readonly access: Pick<BaseOptions, 'tls' | 'sasl'>
  /** Process ids of the brokers that run. */
  pids(): readonly number[]
  createTopics(topics: Readonly<Record<string, Readonly<Record<string, string>>>>, partitions: number): Promise<void>
  /** Ends a broker without a warning. @param index From 0 on. */
  kill(index: number): Promise<void>
  start(index: number): Promise<void>
  /** Stops a broker where it is, its connections open, until it is thawed. */
  freeze(index: number): void
  thaw(index: number): void
  /** The broker that coordinates a group. */
  coordinatorOf(groupId: string): Promise<number>
  /** Committed and last offset of each partition. */
  lagOf(groupId: string, topic: string): Promise<string>
  /** The offset after the last message of partition 0. */
  endOf(topic: string): Promise<number>
  /** The broker that leads a partition. */
  leaderOf(topic: string, partition: number): Promise<number>
  close(): Promise<void>
}

/** What brokers differ in from those of plain text. */
export interface KafkaSettings {
  /** How clients reach the brokers. @default plain text */
  readonly protocol?: 'PLAINTEXT' | 'SSL' | 'SASL_SSL'
  /** Further lines of the brokers' configuration. */
  readonly lines?: readonly string[]
  /** Arguments of formatting the storage, such as users of SCRAM. */
  readonly formatArgs?: readonly string[]
  /** How the test itself reaches the brokers. */
  readonly access?: Pick<BaseOptions, 'tls' | 'sasl'>
}

/** Starts brokers in KRaft mode, each a controller too. */
export async function startKafka(count: number, settings: KafkaSettings = {}): Promise<KafkaCluster> {
  const { protocol = 'PLAINTEXT', lines = [], formatArgs = [], access = {} } = settings
  const classPath = await jars()
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-kafka-'))
  const ports = await freePorts(count * 2)
  const clientPorts = ports.slice(0, count)
  const controllerPorts = ports.slice(count)
  const java = (className: string, ...args: string[]) => run('java', ['-cp', classPath, className, ...args])
  const clusterId = (await java('kafka.tools.StorageTool', 'random-uuid')).stdout.trim()
  const voters = controllerPorts.map((port, index) => `${index + 1}@127.0.0.1:${port}`).join(',')
  const children: (ChildProcess | undefined)[] = []
  const configOf = (index: number) => join(directory, `broker-${index}.properties`)
  await Promise.all(
    clientPorts.map(async (port, index) => {
      writeFileSync(
        configOf(index),
        [
          'process.roles=broker,controller',
          `node.id=${index + 1}`,
          `controller.quorum.voters=${voters}`,
          `listeners=CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPorts[index]}`,
          `advertised.listeners=CLIENT://127.0.0.1:${port}`,
          'controller.listener.names=CONTROLLER',
          'inter.broker.listener.name=CLIENT',
          `listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENT:${protocol}`,
          `log.dirs=${join(directory, `data-${index}`)}`,
          `offsets.topic.replication.factor=${count}`,
          `transaction.state.log.replication.factor=${count}`,
          'transaction.state.log.min.isr=1',
          'min.insync.replicas=1',
          'offsets.topic.num.partitions=3',
          'group.initial.rebalance.delay.ms=500',
          'group.min.session.timeout.ms=2000',
          'auto.create.topics.enable=false',
          'log.retention.check.interval.ms=1000',
          'num.network.threads=2',
          'num.io.threads=3',
          'background.threads=2',
          ...lines,
        ].join('\n'),
      )
      await java('kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configOf(index), ...formatArgs)
    }),
  )
  const start = async (index: number): Promise<void> => {
    const child = spawn(
      'java',
      [
        '-Xmx384m',
        '-Xms128m',
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
        '-cp',
        classPath,
        'kafka.Kafka',
        configOf(index),
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4000)
    })
    child.once('exit', (code) => {
      if (children[index] === child && code !== null && code !== 0 && code !== 143)
        console.error(`Broker ${index}: ${text}`)
    })
    children[index] = child
  }
  await Promise.all(clientPorts.map((_, index) => start(index)))
  const brokers = clientPorts.map((port) => `127.0.0.1:${port}`)
  const admin = new Admin({ ...access, clientId: 'test', bootstrapBrokers: brokers, retries: 60, retryDelay: 1000 })
  await admin.metadata({ topics: [], forceUpdate: true })
  const kill = async (index: number): Promise<void> => {
    const child = children[index]
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    children[index] = undefined
  }
  return {
    brokers,
    admin,
    access,
    pids: () => children.flatMap((child) => child?.pid ?? []),
    createTopics: async (topics, partitions) => {
      for (const [topic, config] of Object.entries(topics)) {
        await admin.createTopics({
          topics: [topic],
          partitions,
          replicas: count,
          configs: Object.entries(config).map(([name, value]) => ({ name, value })),
        })
      }
      // Every broker hears of them a little later.
      for (const broker of brokers) {
        const each = new Admin({ ...access, clientId: 'test', bootstrapBrokers: [broker] })
        const areThere = (existing: readonly string[]) => Object.keys(topics).every((topic) => existing.includes(topic))
        while (!areThere(await each.listTopics())) await pause(100)
        await each.close()
      }
    },
    kill,
    start,
    freeze: (index) => void children[index]?.kill('SIGSTOP'),
    thaw: (index) => void children[index]?.kill('SIGCONT'),
    coordinatorOf: async (groupId) => {
      const client = new KafkaClient({ ...(await clientOptions({ brokers, clientId: 'test' })), ...access })
      const node = await client.findCoordinator(groupId)
      await client.close()
      return node - 1
    },
    lagOf: async (groupId, topic) => {
      const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
      const partitionCount = topics.get(topic)?.partitionsCount ?? 0
      const partitions = Array.from({ length: partitionCount }, (_, partitionIndex) => ({
        partitionIndex,
        timestamp: -1n,
      }))
      const [ends] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
      const [group] = await admin.listConsumerGroupOffsets({ groups: [groupId] })
      const committed = group?.topics.find(({ name }) => name === topic)?.partitions ?? []
      return (ends?.partitions ?? [])
        .map(({ partitionIndex, offset }) => {
          const known = committed.find((each) => each.partitionIndex === partitionIndex)
          return `${partitionIndex}: ${known?.committedOffset} of ${offset}`
        })
        .join(', ')
    },
    endOf: async (name) => {
      const partitions = [{ partitionIndex: 0, timestamp: -1n }]
      const [ends] = await admin.listOffsets({ topics: [{ name, partitions }] })
      return Number(ends?.partitions[0]?.offset)
    },
    leaderOf: async (topic, partition) => {
      const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
      return (topics.get(topic)?.partitions[partition]?.leader ?? 1) - 1
    },
    close: async () => {
      await admin.close().catch(() => undefined)
      await Promise.all(children.map((_, index) => kill(index)))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          })
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
