import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { BaseOptions } from '@platformatic/kafka'

import { connectKafka } from './kafka-brokers.ts'
import type { KafkaBrokers } from './kafka-brokers.ts'

const run = promisify(execFile)

/** These let a process start sooner. */
const JAVA_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** The least port, and the one after the last. */
const PORTS = [10_000, 32_000] as const

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
export interface KafkaCluster extends KafkaBrokers {
  /** The process ids of the running brokers. */
  pids(): readonly number[]
  /** Kills a broker without a warning. @param index From 0 on. */
  kill(index: number): Promise<void>
  start(index: number): Promise<void>
  /** Freezes a broker, whose connections stay open, until it is thawed. */
  freeze(index: number): void
  thaw(index: number): void
}

/** Settings that differ from those of brokers without encryption. */
export interface KafkaSettings {
  /** The security protocol of clients. @default plain text */
  readonly protocol?: 'PLAINTEXT' | 'SSL' | 'SASL_SSL'
  /** Additional lines of the brokers' configuration. */
  readonly lines?: readonly string[]
  /** Additional arguments for formatting the storage, such as SCRAM users. */
  readonly formatArgs?: readonly string[]
  /** The TLS and SASL options of the test's own connection. */
  readonly access?: Pick<BaseOptions, 'tls' | 'sasl'>
  /** Called with a broker's port. @returns the port at which clients reach it */
  readonly reachAt?: (port: number) => Promise<number>
}

/** Starts brokers in KRaft mode, each of which is also a controller. */
export async function startKafka(count: number, settings: KafkaSettings = {}): Promise<KafkaCluster> {
  const { protocol = 'PLAINTEXT', lines = [], formatArgs = [], access = {}, reachAt } = settings
  const classPath = await jars()
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-kafka-'))
  const ports = await freePorts(count * 2)
  const clientPorts = ports.slice(0, count)
  const controllerPorts = ports.slice(count)
  const reachedAt = await Promise.all(clientPorts.map(async (port) => (await reachAt?.(port)) ?? port))
  const clusterId = randomBytes(16).toString('base64url')
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
          `advertised.listeners=CLIENT://127.0.0.1:${reachedAt[index]}`,
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
      // An id may begin with a hyphen, and would be read as another option if it were an argument of its own.
      const format = [
        'kafka.tools.StorageTool',
        'format',
        `--cluster-id=${clusterId}`,
        '-c',
        configOf(index),
        ...formatArgs,
      ]
      await run('java', [...JAVA_OPTIONS, '-cp', classPath, ...format])
    }),
  )
  const start = async (index: number): Promise<void> => {
    const child = spawn(
      'java',
      [
        '-Xmx384m',
        '-Xms128m',
        ...JAVA_OPTIONS,
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
  const brokers = reachedAt.map((port) => `127.0.0.1:${port}`)
  const connected = connectKafka(brokers, access)
  // On a busy machine, some brokers register later than others. Topics need all of them for their replicas.
  const registered = async () => (await connected.admin.metadata({ topics: [], forceUpdate: true })).brokers.size
  while ((await registered()) < count) await new Promise((resolve) => setTimeout(resolve, 100))
  const kill = async (index: number): Promise<void> => {
    const child = children[index]
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    children[index] = undefined
  }
  return {
    ...connected,
    pids: () => children.flatMap((child) => child?.pid ?? []),
    kill,
    start,
    freeze: (index) => void children[index]?.kill('SIGSTOP'),
    thaw: (index) => void children[index]?.kill('SIGCONT'),
    close: async () => {
      await connected.close()
      await Promise.all(children.map((_, index) => kill(index)))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Finds ports on which nothing listens. Linux gives other sockets only higher ports, so that none takes one of these before a
 * program listens on it, or while a broker is away.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held: Server[] = []
  const ports: number[] = []
  while (ports.length < count) {
    const port = randomInt(...PORTS)
    const server = await listenOn(port)
    if (server === undefined) continue
    held.push(server)
    ports.push(port)
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
