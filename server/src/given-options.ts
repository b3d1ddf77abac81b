import type { LogLevel } from './log-line.ts'
import { heldLimits, receivingLimits } from './config/limits.ts'
import type { Limits } from './config/limits.ts'
import { readCertificates, readKeyPair } from './given-certificates.ts'
import type { FromFiles, GivenFiles } from './given-files.ts'
import { givenHeaders } from './given-headers.ts'
import { destinationAgent } from './outgoing.ts'
import type { ClientTls } from './outgoing.ts'
import { readGiven, readTokens } from './read-given.ts'
import type { WorkerServerOptions } from './start-worker.ts'
import type { ServerOptions } from './start.ts'

/** The arguments of the command line, with defaults. `command-line.ts` describes each of them. */
export interface GivenOptions {
  readonly to?: string
  readonly header: readonly string[]
  readonly toCa?: string
  readonly toCert?: string
  readonly toKey?: string
  readonly phoenix?: string
  readonly forward: boolean
  readonly config?: string
  readonly data: string
  readonly memory: boolean
  readonly host: string
  readonly httpPort: number
  readonly grpcPort: number
  readonly healthPort?: number
  readonly logFormat: 'text' | 'json'
  readonly logLevel: LogLevel
  readonly check: boolean
  readonly tokenFile?: string
  readonly allowedHost: readonly string[]
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsClientCa?: string
  readonly settle: number
  readonly orphans: number
  readonly linger: number
  readonly idle: number
  readonly maxDays: number
  readonly page: boolean
  readonly pagePort: number
  readonly pageUrl?: string
  readonly pageUserHeader?: string
  readonly pageDays: number
  readonly pageSize: number
  readonly jaeger?: string
  readonly role: 'service' | 'worker'
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
}

/** Receives a line for the operator. */
type Report = ServerOptions['report']

const MEBIBYTE = 1024 * 1024

/** @throws Error with what was expected and what came */
export function toWorkerOptions(
  given: GivenOptions,
  all: Limits,
  report: Report,
  files: GivenFiles,
): WorkerServerOptions {
  const { to, phoenix, configPath, limits, traces, host, httpPort, healthPort } = toOptions(given, all, report, files)
  if (to === undefined) throw new Error('--role worker: expected --to with the endpoint that scores go to, got none.')
  if (given.brokers === undefined) throw new Error('--role worker: expected --brokers host:port,…, got none.')
  return {
    host,
    httpPort,
    healthPort,
    files,
    kafka: {
      brokers: brokersIn(given.brokers),
      clientId: 'spanscore',
      tls: toKafkaTls(given, report),
      sasl: toKafkaSasl(given),
    },
    sessionTimeoutMs: given.sessionTimeout * 1000,
    commitMs: 1000,
    to,
    phoenix,
    configPath,
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

function toKafkaTls(
  { kafkaTls, kafkaCa, kafkaCert, kafkaKey }: GivenOptions,
  report: Report,
): WorkerServerOptions['kafka']['tls'] {
  const paths = { '--kafka-ca': kafkaCa, '--kafka-cert': kafkaCert, '--kafka-key': kafkaKey }
  const [first] = Object.entries(paths).find(([, path]) => path !== undefined) ?? []
  if (!kafkaTls) {
    // Otherwise spans and passwords would be sent unencrypted.
    if (first !== undefined) throw new Error(`${first}: expected --kafka-tls too.`)
    return undefined
  }
  if (kafkaCa !== undefined) readCertificates('--kafka-ca', kafkaCa, report)
  if (kafkaCert !== undefined && kafkaKey !== undefined)
    readKeyPair(['--kafka-cert', kafkaCert], ['--kafka-key', kafkaKey], report)
  else if (kafkaCert !== kafkaKey) throw new Error('Expected both --kafka-cert and --kafka-key, got one of them.')
  return {
    ...(kafkaCa !== undefined && { caFile: kafkaCa }),
    ...(kafkaCert !== undefined && { certFile: kafkaCert }),
    ...(kafkaKey !== undefined && { keyFile: kafkaKey }),
  }
}

function toKafkaSasl({ kafkaSasl, kafkaUser, kafkaPasswordFile }: GivenOptions): WorkerServerOptions['kafka']['sasl'] {
  if (kafkaSasl === undefined) {
    if (kafkaUser === undefined && kafkaPasswordFile === undefined) return undefined
    throw new Error(`${kafkaUser === undefined ? '--kafka-password-file' : '--kafka-user'}: expected --kafka-sasl too.`)
  }
  const password =
    kafkaPasswordFile === undefined
      ? process.env['SPANSCORE_KAFKA_PASSWORD']
      : readGiven('--kafka-password-file', kafkaPasswordFile).trim()
  if (kafkaUser === undefined || password === undefined || password === '')
    throw new Error('--kafka-sasl: expected --kafka-user and a password, got less.')
  return { mechanism: kafkaSasl, username: kafkaUser, password }
}

function brokersIn(list: string): readonly string[] {
  const brokers = list.split(',').map((broker) => broker.trim())
  if (brokers.includes('')) throw new Error(`--brokers: expected host:port,…, got "${list}".`)
  return brokers
}

/** @throws Error with what was expected and what came */
export function toOptions(given: GivenOptions, limits: Limits, report: Report, files: GivenFiles): ServerOptions {
  const token = tokenOf(given, files)
  // Files are read again and again.
  const said = new Set<string>()
  const sayOnce: Report = (line) => {
    if (!said.has(line)) report(line)
    said.add(line)
  }
  if ((given.tlsCert === undefined) !== (given.tlsKey === undefined)) {
    throw new Error('Expected both --tls-cert and --tls-key, got one of them.')
  }
  if (given.tlsClientCa !== undefined && given.tlsCert === undefined)
    throw new Error('--tls-client-ca: expected --tls-cert and --tls-key too.')
  if (given.to === undefined && !given.page) {
    throw new Error('Expected --to with the endpoint that scores go to, or --page to look at them here; got neither.')
  }
  if (given.to === undefined && given.forward)
    throw new Error('--forward: expected --to too, where spans are passed on to.')
  return {
    files,
    host: given.host.replace(/^\[(.+)\]$/, '$1'),
    httpPort: given.httpPort,
    grpcPort: given.grpcPort,
    healthPort: given.healthPort,
    to:
      given.to === undefined
        ? undefined
        : {
            url: endpointOf(given.to),
            headers: givenHeaders(given.header, process.env),
            agent: destinationAgent(given.to, toClientTls(given, files, sayOnce)),
            timeoutMs: 10_000,
          },
    phoenix:
      given.phoenix === undefined
        ? undefined
        : { url: phoenixOf(given.phoenix), apiKey: process.env['PHOENIX_API_KEY'] || undefined, timeoutMs: 10_000 },
    forwards: given.forward,
    dataFolder: given.memory ? undefined : folderOf(given.data),
    configPath: given.config,
    access: {
      get token() {
        return token?.value
      },
      allowedHosts: given.allowedHost,
      hasClientCertificates: given.tlsClientCa !== undefined,
    },
    tls:
      given.tlsCert === undefined || given.tlsKey === undefined
        ? undefined
        : toServerTls({ ...given, tlsCert: given.tlsCert, tlsKey: given.tlsKey }, files, sayOnce),
    limits: {
      ...receivingLimits(limits),
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
      retentionMs: given.maxDays * 86_400_000,
    },
    traces: {
      ...heldLimits(limits),
      settleMs: given.settle * 1000,
      orphanMs: given.orphans * 1000,
      lingerMs: given.linger * 1000,
    },
    idleMs: given.idle * 1000,
    report,
    page: given.page
      ? {
          host: given.host.replace(/^\[(.+)\]$/, '$1'),
          port: given.pagePort,
          allowedHosts: given.allowedHost,
          publicUrl: given.pageUrl,
          userHeader: given.pageUserHeader,
          retention: { maxAgeMs: given.pageDays * 86_400_000, maxBytes: given.pageSize * MEBIBYTE },
          jaegerUrl: given.jaeger,
        }
      : undefined,
  }
}

function toServerTls(
  { tlsCert, tlsKey, tlsClientCa }: GivenOptions & { readonly tlsCert: string; readonly tlsKey: string },
  files: GivenFiles,
  report: Report,
): NonNullable<ServerOptions['tls']> {
  const found = files.read('--tls-cert, --tls-key, --tls-client-ca', () => ({
    ...readKeyPair(['--tls-cert', tlsCert], ['--tls-key', tlsKey], report),
    clientCa: tlsClientCa === undefined ? undefined : readCertificates('--tls-client-ca', tlsClientCa, report),
  }))
  return { ...found.value, onChange: (listener) => found.onChange(listener) }
}

/** An option or a variable, and the path that it gives. */
function givenPath(option: string, path: string | undefined, variable: string): readonly [string, string] | undefined {
  if (path !== undefined) return [option, path]
  const named = process.env[variable]?.trim() ?? ''
  return named === '' ? undefined : [variable, named]
}

/** The certificates for `--to`; `undefined` for none. Options come before the variables of OpenTelemetry. */
function toClientTls(given: GivenOptions, files: GivenFiles, report: Report): FromFiles<ClientTls> | undefined {
  const ca = givenPath('--to-ca', given.toCa, 'OTEL_EXPORTER_OTLP_CERTIFICATE')
  const cert = givenPath('--to-cert', given.toCert, 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE')
  const key = givenPath('--to-key', given.toKey, 'OTEL_EXPORTER_OTLP_CLIENT_KEY')
  if ((cert === undefined) !== (key === undefined))
    throw new Error(`Expected both --to-cert and --to-key, got ${(cert ?? key)?.[0]} only.`)
  if (ca === undefined && cert === undefined) return undefined
  return files.read('--to-ca, --to-cert, --to-key', () => ({
    ...(ca !== undefined && { ca: readCertificates(...ca, report) }),
    ...(cert !== undefined && key !== undefined && readKeyPair(cert, key, report)),
  }))
}

/** A token of senders in a file has at least so many characters. */
const MIN_TOKEN = 16

function tokenOf(
  { tokenFile }: GivenOptions,
  files: GivenFiles,
): Pick<FromFiles<readonly string[]>, 'value'> | undefined {
  if (tokenFile !== undefined) return files.read('--token-file', () => readTokens('--token-file', tokenFile, MIN_TOKEN))
  const token = process.env['SPANSCORE_SERVER_TOKEN']
  if (token === '') throw new Error('SPANSCORE_SERVER_TOKEN: expected a token, got an empty one.')
  return token === undefined ? undefined : { value: [token] }
}

function folderOf(data: string): string {
  if (data !== '' && !/^~(?:\/|$)/.test(data)) return data
  throw new Error(
    `--data: expected the path of a folder, got ${data === '' ? 'an empty one' : `${data}, which the shell has not replaced by your home; write "$HOME" instead of ~`}.`,
  )
}

function phoenixOf(url: string): string {
  const { username, password } = new URL(url)
  if (username + password === '') return url
  throw new Error(
    '--phoenix: expected an address without user and password, got one with them. Send its key by PHOENIX_API_KEY.',
  )
}

/** The paths of the signals are appended to it. */
function endpointOf(to: string): string {
  const { username, password, search, hash, pathname } = new URL(to)
  if (username + password + search + hash !== '') {
    throw new Error(
      '--to: expected an endpoint without user, password, query and fragment, got one with them. Send credentials by OTEL_EXPORTER_OTLP_HEADERS.',
    )
  }
  const [, path] = /(\/v1\/(?:traces|logs|metrics))\/?$/.exec(pathname) ?? []
  if (path === undefined) return to
  throw new Error(
    `--to ${to}: expected the endpoint without ${path}, got one with it. Leave it out: scores are sent to /v1/logs, /v1/traces and /v1/metrics below it.`,
  )
}
