#!/usr/bin/env node
import { readFileSync } from 'node:fs'

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

import { startServer } from './start.ts'
import type { ServerOptions } from './start.ts'
import type { Destination } from './send/acknowledged-exporter.ts'
import type { JudgeServerOptions } from './start-judge-worker.ts'
import type { WorkerServerOptions } from './start-worker.ts'

interface Given {
  readonly to?: string
  readonly header: readonly string[]
  readonly toCa?: string
  readonly forward: boolean
  readonly config?: string
  readonly data: string
  readonly memory: boolean
  readonly host: string
  readonly httpPort: number
  readonly grpcPort: number
  readonly tokenFile?: string
  readonly allowedHost: readonly string[]
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsClientCa?: string
  readonly settle: number
  readonly orphans: number
  readonly linger: number
  readonly maxTraceAge: number
  readonly maxTraceSpans: number
  readonly maxHeldSpans: number
  readonly maxTrace: number
  readonly maxContent: number
  readonly maxBody: number
  readonly maxDecompressed: number
  readonly maxReceiving: number
  readonly maxRequestSpans: number
  readonly maxSpan: number
  readonly maxConnections: number
  readonly maxLog: number
  readonly maxDays: number
  readonly page: boolean
  readonly pagePort: number
  readonly pageDays: number
  readonly pageSize: number
  readonly jaeger?: string
  readonly role: 'service' | 'worker' | 'judge'
  readonly brokers?: string
  readonly group: string
  readonly topicPrefix: string
  readonly kafkaCa?: string
  readonly kafkaCert?: string
  readonly kafkaKey?: string
  readonly kafkaTls: boolean
  readonly kafkaSasl?: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  readonly kafkaUser?: string
  readonly kafkaPasswordFile?: string
  readonly sessionTimeout: number
  readonly carryAfter: number
  readonly judgeJobs: boolean
  readonly maxJobAge: number
}

const MEBIBYTE = 1024 * 1024

const program = new Command('spanscore-server')
  .description('Takes OTLP from agents in any language, scores their runs, and sends the scores back as OTLP.')
  .version(readVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .exitOverride()
  .option(
    '--to <url>',
    'OTLP/HTTP endpoint that scores go to, such as http://localhost:4319; needed without --page',
    url,
  )
  .option('--header <name=value>', 'header for that endpoint; may be repeated', collect, [])
  .option('--to-ca <file>', 'certificate authority of that endpoint, PEM')
  .option('--forward', 'pass spans and log records on to that endpoint, unchanged', false)
  .option('--config <file>', 'scorers: YAML or JSON for prebuilt ones, a module for your own')
  .option('--data <folder>', 'where spans wait until their run is scored', 'spanscore-data')
  .option('--memory', 'keep them in memory: what is open is lost when the process ends', false)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--http-port <port>', 'port of OTLP/HTTP', number, 4318)
  .option('--grpc-port <port>', 'port of OTLP/gRPC', number, 4317)
  .option('--token-file <file>', 'file with the token that senders must show; or the variable SPANSCORE_SERVER_TOKEN')
  .option(
    '--allowed-host <name>',
    'name under which the service is reached, beside localhost; may be repeated',
    collect,
    [],
  )
  .option('--tls-cert <file>', 'certificate of the service, PEM')
  .option('--tls-key <file>', 'its key, PEM')
  .option('--tls-client-ca <file>', 'certificate authority that must have signed the certificates of senders, PEM')
  .option('--settle <seconds>', 'how long nothing of a run may have arrived before it is scored', number, 10)
  .option('--orphans <seconds>', 'how long spans wait for their parent', number, 300)
  .option('--linger <seconds>', 'how long a scored run waits for late spans', number, 300)
  .option('--max-trace-age <seconds>', 'how long a run may be open', number, 86_400)
  .option('--max-trace-spans <count>', 'spans of one trace', number, 10_000)
  .option('--max-trace <MiB>', 'size of one trace', number, 64)
  .option('--max-held-spans <count>', 'spans of all traces; requests are refused above it', number, 150_000)
  .option('--max-content <MiB>', 'content in memory; what is over it is read from the log again', number, 64)
  .option('--max-body <MiB>', 'size of a request', number, 16)
  .option('--max-decompressed <MiB>', 'size of a request once it is decompressed', number, 64)
  .option(
    '--max-receiving <MiB>',
    'size of all requests that are not answered yet; the largest is refused',
    number,
    256,
  )
  .option('--max-request-spans <count>', 'spans or log records in one request', number, 50_000)
  .option('--max-span <MiB>', 'size of one span', number, 4)
  .option('--max-connections <count>', 'connections of OTLP/HTTP', number, 1000)
  .option('--max-days <days>', 'how long anything is kept at most, scored or not', number, 7)
  .option('--max-log <MiB>', 'size of the log; requests are refused above it', number, 10_240)
  .option('--page', 'show runs, scores and why on a page; keeps runs in the data folder', false)
  .option('--page-port <port>', 'port of the page', number, 4320)
  .option('--page-days <days>', 'how long the page keeps runs', number, 14)
  .option('--page-size <MiB>', 'how much the page keeps; the oldest runs are deleted above it', number, 2048)
  .option('--jaeger <url>', 'base of a Jaeger UI that the page links traces to, such as http://localhost:16686', url)
  .addOption(
    new Option(
      '--role <role>',
      'service: takes OTLP itself; worker: reads spans from Kafka; judge: asks judges about runs that workers chose',
    )
      .choices(['service', 'worker', 'judge'])
      .default('service'),
  )
  .option('--brokers <list>', 'worker, judge: host:port of brokers, with commas between')
  .option(
    '--group <name>',
    'worker, judge: the consumer group that shares the partitions; judge workers share <name>.judges',
    'spanscore',
  )
  .option('--topic-prefix <prefix>', 'worker, judge: topics are <prefix>.spans, .logs, .jobs and .dead', 'spanscore')
  .option('--kafka-tls', 'worker, judge: reach brokers over TLS', false)
  .option('--kafka-ca <file>', 'worker, judge: certificate authority of the brokers, PEM')
  .option('--kafka-cert <file>', 'worker, judge: certificate of this client, PEM')
  .option('--kafka-key <file>', 'worker, judge: its key, PEM')
  .addOption(
    new Option('--kafka-sasl <mechanism>', 'worker, judge: how to sign in').choices([
      'PLAIN',
      'SCRAM-SHA-256',
      'SCRAM-SHA-512',
    ]),
  )
  .option('--kafka-user <name>', 'worker, judge: user name for SASL')
  .option(
    '--kafka-password-file <file>',
    'worker, judge: file with the password; or the variable SPANSCORE_KAFKA_PASSWORD',
  )
  .option(
    '--session-timeout <seconds>',
    'worker, judge: after how long without a heartbeat others take over',
    number,
    10,
  )
  .option('--carry-after <seconds>', 'worker: age at which an open run is appended again', number, 3600)
  .option(
    '--judge-jobs',
    'worker: write jobs for judge workers to <prefix>.jobs instead of asking judges itself',
    false,
  )
  .option('--max-job-age <seconds>', 'judge: how long a job may wait; older ones are skipped', number, 21_600)
  .action(async (given: Given) => {
    await run(given)
  })

await program.parseAsync().catch((error: unknown) => {
  // Help and version are thrown, too; commander has written what is wrong with the arguments.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  process.stderr.write(`spanscore-server: ${error instanceof Error ? error.message : String(error)}\n`)
  // Parts that have been started keep the process alive.
  process.exit(2)
})

async function run(given: Given): Promise<void> {
  if (given.role === 'worker') {
    // Loaded where it is used: a service on one machine needs no Kafka client.
    const { startWorker } = await import('./start-worker.ts')
    const worker = await startWorker(toWorkerOptions(given))
    say(
      `Reads ${given.topicPrefix}.spans and ${given.topicPrefix}.logs from ${given.brokers}. Scores go to ${given.to}.`,
    )
    say(`Answers /health and /ready on http://${given.host}:${worker.httpPort}.`)
    stopOnSignals('commits what is scored and leaves the group', () => worker.stop())
    return
  }
  if (given.role === 'judge') {
    const { startJudgeWorker } = await import('./start-judge-worker.ts')
    const worker = await startJudgeWorker(toJudgeOptions(given))
    say(`Reads ${given.topicPrefix}.jobs from ${given.brokers}. Scores go to ${given.to}.`)
    say(`Answers /health and /ready on http://${given.host}:${worker.httpPort}.`)
    stopOnSignals('waits for judges that are asked, commits and leaves the group', () => worker.stop())
    return
  }
  const server = await startServer(toOptions(given))
  say(
    `Takes OTLP/HTTP on http${given.tlsCert === undefined ? '' : 's'}://${given.host}:${server.httpPort} and OTLP/gRPC on port ${server.grpcPort}.`,
  )
  const scoresTo = given.to === undefined ? 'are on the page alone' : `go to ${given.to}`
  say(
    `Scores ${scoresTo}${given.forward ? ', and so do the spans' : ''}. Spans wait ${given.memory ? 'in memory' : `in ${given.data}`}.`,
  )
  if (server.pageUrl !== undefined) say(`The page is at ${server.pageUrl}`)
  stopOnSignals('delivers what is scored. What is not complete stays on the log', () => server.stop())
}

function readVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return manifest.version
}

function stopOnSignals(what: string, end: () => Promise<void>): void {
  let isStopping = false
  const stop = (): void => {
    if (isStopping) process.exit(1)
    isStopping = true
    say(`Stops: ${what}.`)
    void end().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function toWorkerOptions(given: Given): WorkerServerOptions {
  const { to, configPath, limits, traces, report } = toOptions(given)
  return {
    ...toGroupOptions(given),
    to: required(to, given),
    configPath,
    jobsTopic: given.judgeJobs ? `${given.topicPrefix}.jobs` : undefined,
    limits,
    traces,
    report,
    groupId: given.group,
    topics: {
      spans: `${given.topicPrefix}.spans`,
      logs: `${given.topicPrefix}.logs`,
      dead: `${given.topicPrefix}.dead`,
    },
    carryAfterMs: given.carryAfter * 1000,
  }
}

function toJudgeOptions(given: Given): JudgeServerOptions {
  const { to, configPath, report } = toOptions(given)
  return {
    ...toGroupOptions(given),
    to: required(to, given),
    configPath,
    report,
    groupId: `${given.group}.judges`,
    topics: { jobs: `${given.topicPrefix}.jobs`, dead: `${given.topicPrefix}.dead` },
    maxJobAgeMs: given.maxJobAge * 1000,
  }
}

function required(to: ServerOptions['to'], { role }: Given): Destination {
  if (to === undefined) throw new Error(`--role ${role}: expected --to with the endpoint that scores go to, got none.`)
  return to
}

/** What workers and judge workers have in common. */
function toGroupOptions(
  given: Given,
): Pick<WorkerServerOptions, 'kafka' | 'host' | 'httpPort' | 'sessionTimeoutMs' | 'commitMs'> {
  if (given.brokers === undefined) throw new Error(`--role ${given.role}: expected --brokers host:port,…, got none.`)
  const password =
    given.kafkaPasswordFile === undefined
      ? process.env['SPANSCORE_KAFKA_PASSWORD']
      : read('--kafka-password-file', given.kafkaPasswordFile).trim()
  if (given.kafkaSasl !== undefined && (given.kafkaUser === undefined || password === undefined)) {
    throw new Error('--kafka-sasl: expected --kafka-user and a password, got less.')
  }
  return {
    host: given.host,
    httpPort: given.httpPort,
    kafka: {
      brokers: given.brokers.split(',').map((broker) => broker.trim()),
      clientId: 'spanscore',
      tls: given.kafkaTls
        ? {
            ...(given.kafkaCa !== undefined && { caFile: given.kafkaCa }),
            ...(given.kafkaCert !== undefined && { certFile: given.kafkaCert }),
            ...(given.kafkaKey !== undefined && { keyFile: given.kafkaKey }),
          }
        : undefined,
      sasl:
        given.kafkaSasl === undefined
          ? undefined
          : { mechanism: given.kafkaSasl, username: given.kafkaUser ?? '', password: password ?? '' },
    },
    sessionTimeoutMs: given.sessionTimeout * 1000,
    commitMs: 1000,
  }
}

function toOptions(given: Given): ServerOptions {
  const token =
    given.tokenFile === undefined ? process.env['SPANSCORE_SERVER_TOKEN'] : read('--token-file', given.tokenFile).trim()
  const clientCa = given.tlsClientCa === undefined ? undefined : read('--tls-client-ca', given.tlsClientCa)
  if ((given.tlsCert === undefined) !== (given.tlsKey === undefined)) {
    throw new Error('Expected both --tls-cert and --tls-key, got one of them.')
  }
  if (clientCa !== undefined && given.tlsCert === undefined)
    throw new Error('--tls-client-ca: expected --tls-cert and --tls-key too.')
  if (given.to === undefined && !given.page) {
    throw new Error('Expected --to with the endpoint that scores go to, or --page to look at them here; got neither.')
  }
  if (given.to === undefined && given.forward)
    throw new Error('--forward: expected --to too, where spans are passed on to.')
  if (token === '') throw new Error('Expected a token that is not empty.')
  return {
    host: given.host,
    httpPort: given.httpPort,
    grpcPort: given.grpcPort,
    to:
      given.to === undefined
        ? undefined
        : {
            url: given.to,
            headers: Object.fromEntries(given.header.map(toHeader)),
            ca: given.toCa === undefined ? undefined : read('--to-ca', given.toCa),
            timeoutMs: 10_000,
          },
    forwards: given.forward,
    dataFolder: given.memory ? undefined : given.data,
    configPath: given.config,
    access: { token, allowedHosts: given.allowedHost, hasClientCertificates: clientCa !== undefined },
    tls:
      given.tlsCert === undefined || given.tlsKey === undefined
        ? undefined
        : { cert: read('--tls-cert', given.tlsCert), key: read('--tls-key', given.tlsKey), clientCa },
    limits: {
      maxBodyBytes: given.maxBody * MEBIBYTE,
      maxDecompressedBytes: given.maxDecompressed * MEBIBYTE,
      maxReceivingBytes: given.maxReceiving * MEBIBYTE,
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
      maxConnections: given.maxConnections,
      maxSpansPerRequest: given.maxRequestSpans,
      maxSpanBytes: given.maxSpan * MEBIBYTE,
      maxLogBytes: given.maxLog * MEBIBYTE,
      retentionMs: given.maxDays * 86_400_000,
    },
    traces: {
      settleMs: given.settle * 1000,
      orphanMs: given.orphans * 1000,
      lingerMs: given.linger * 1000,
      maxAgeMs: given.maxTraceAge * 1000,
      maxSpansPerTrace: given.maxTraceSpans,
      maxBytesPerTrace: given.maxTrace * MEBIBYTE,
      maxSpans: given.maxHeldSpans,
      maxContentBytes: given.maxContent * MEBIBYTE,
    },
    report: say,
    page: given.page
      ? {
          host: given.host,
          port: given.pagePort,
          allowedHosts: given.allowedHost,
          retention: { maxAgeMs: given.pageDays * 86_400_000, maxBytes: given.pageSize * MEBIBYTE },
          jaegerUrl: given.jaeger,
        }
      : undefined,
  }
}

function say(line: string): void {
  process.stderr.write(`spanscore-server: ${line}\n`)
}

function read(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `${option} ${path}: expected a file that can be read, got ${error instanceof Error ? error.message : 'none'}.`,
      { cause: error },
    )
  }
}

function toHeader(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new Error('--header: expected name=value, got text without a name and "=".')
  return [text.slice(0, at), text.slice(at + 1)]
}

function collect(value: string, known: readonly string[]): readonly string[] {
  return [...known, value]
}

function number(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0 || text.trim() === '')
    throw new InvalidArgumentError('Expected a number of 0 or more.')
  return value
}

function url(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('Expected a URL that begins with http:// or https://.')
  return text
}
