/** The real stack on loopback, on free ports, from the files of `collector-config/`. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve as resolvePath } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { findProgram } from '../../scripts/e2e-tools.ts'
import type { ProgramName } from '../../scripts/e2e-tools.ts'
import { compressTime } from './compress-time.ts'

/** The folder that teams copy. */
export const configDirectory = resolvePath(import.meta.dirname, '../../collector-config')

/** One series of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/** A span as Jaeger's query API returns it. */
export interface JaegerSpan {
  readonly traceID: string
  readonly spanID: string
  readonly operationName: string
  readonly tags: readonly { readonly key: string; readonly value: unknown }[]
}

/** An alert as Alertmanager posts it to a webhook. */
export interface PostedAlert {
  readonly status: 'firing' | 'resolved'
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly receivedMs: number
}

export interface StackOptions {
  /** Rules' and Alertmanager's times are divided by this, so that an hour's window can be watched. @default 1 */
  readonly timeScale?: number
  /** Further configuration files of the Collector. */
  readonly overlays?: readonly string[]
  /** Changes Alertmanager's configuration. @default it stays as it is */
  readonly alertmanager?: (config: string) => string
  /** Feature flags of Prometheus. @default those of docker-compose.yml */
  readonly prometheusFeatures?: readonly string[]
}

const PROMETHEUS_FEATURES = ['created-timestamp-zero-ingestion', 'otlp-deltatocumulative', 'exemplar-storage']

export interface Stack {
  /** OTLP over HTTP, as `OTEL_EXPORTER_OTLP_ENDPOINT` wants it. */
  readonly otlpUrl: string
  readonly prometheusUrl: string
  readonly jaegerUrl: string
  readonly posted: readonly PostedAlert[]
  /** Evaluation events as the Collector's file exporter wrote them, one OTLP document a line. */
  readonly events: () => EventRecord[]
  readonly query: (expression: string) => Promise<Sample[]>
  readonly spansByTags: (service: string, tags: Readonly<Record<string, string>>) => Promise<JaegerSpan[]>
  readonly start: (name: Server) => Promise<void>
  readonly stop: (name: Server, signal?: NodeJS.Signals) => Promise<void>
  readonly close: () => Promise<void>
}

/** An evaluation event in OTLP JSON. */
export interface EventRecord {
  readonly traceId: string
  readonly spanId: string
  readonly eventName: string
  readonly attributes: Readonly<Record<string, OtlpValue>>
}

/** An attribute's value in OTLP JSON, where 64-bit integers are strings. */
export interface OtlpValue {
  readonly stringValue?: string
  readonly intValue?: string
  readonly doubleValue?: number
  readonly boolValue?: boolean
}

type Server = 'otelcol' | 'jaeger' | 'prometheus' | 'alertmanager'

function portOf(server: NetServer): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a server that listens on a port')
  return address.port
}

export const at = (port: number | undefined) => `127.0.0.1:${port}`

const given = new Set<number>()

/**
 * A port that nothing listens on, below those that systems give to outgoing connections: one of these could be taken before
 * the program listens on it, or while it is stopped.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    if (given.has(port)) continue
    given.add(port)
    const server = createTcpServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Repeats a request until the answer is the expected one; throws the last error after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  let trouble: unknown = 'not yet'
  while (Date.now() < deadline) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
      trouble = 'not yet'
    } catch (error) {
      trouble = error
    }
    await delay(200)
  }
  throw new Error(`${what}: ${String(trouble)} after ${timeoutMs} ms`)
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.text()
}

/** The program's file. It exists, because `npm run test:e2e` stops earlier if a program is missing. */
export function program(name: ProgramName): string {
  const file = findProgram(name)
  if (!file) throw new Error(`expected ${name} on the PATH or in the cache; node scripts/e2e-tools.ts gets it`)
  return file
}

export async function startStack({
  timeScale = 1,
  overlays = [],
  alertmanager: changed = (config) => config,
  prometheusFeatures = PROMETHEUS_FEATURES,
}: StackOptions = {}): Promise<Stack> {
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-e2e-'))
  const [grpc, http, health, telemetry, jaegerOtlp, jaegerUi, jaegerGrpc, jaegerHealth, prometheus, alertmanager] =
    await Promise.all(Array.from({ length: 10 }, freePort))
  const eventsFile = join(directory, 'evaluations.jsonl')

  const posted: PostedAlert[] = []
  const webhook = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { alerts }: { alerts: PostedAlert[] } = JSON.parse(Buffer.concat(chunks).toString())
      for (const alert of alerts) posted.push({ ...alert, receivedMs: Date.now() })
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(webhook, 'listening')

  // Replaces the addresses of docker-compose.yml by those of this stack and, with `timeScale`, divides times. Nothing else is changed.
  const place = (name: string, from: string, change: (text: string) => string) =>
    writeFileSync(join(directory, name), change(readFileSync(join(configDirectory, from), 'utf8')))
  place('prometheus.yml', 'prometheus.yml', (text) =>
    compressTime(
      text.replace('alertmanager:9093', at(alertmanager)).replace('otel-collector:8888', at(telemetry)),
      timeScale,
    ),
  )
  mkdirSync(join(directory, 'rules'))
  for (const file of readdirSync(join(configDirectory, 'rules'))) {
    if (file.endsWith('.yml')) place(`rules/${file}`, `rules/${file}`, (text) => compressTime(text, timeScale))
  }
  place('alertmanager.yml', 'alertmanager.yml', (text) =>
    compressTime(changed(text).replaceAll('/etc/alertmanager', directory), timeScale),
  )
  copyFileSync(join(configDirectory, 'messages.tmpl'), join(directory, 'messages.tmpl'))
  writeFileSync(join(directory, 'webhook_url'), `http://${at(portOf(webhook))}/`)
  copyFileSync(join(configDirectory, 'jaeger/ui.json'), join(directory, 'ui.json'))

  const commands: Record<Server, { args: string[]; env?: Record<string, string>; ready: string }> = {
    otelcol: {
      args: ['otel-collector.yaml', ...overlays].flatMap((file) => ['--config', join(configDirectory, file)]),
      env: {
        OTLP_GRPC_LISTEN: at(grpc),
        OTLP_HTTP_LISTEN: at(http),
        HEALTH_LISTEN: at(health),
        TELEMETRY_HOST: '127.0.0.1',
        TELEMETRY_PORT: String(telemetry),
        JAEGER_OTLP_GRPC: at(jaegerOtlp),
        PROMETHEUS_URL: `http://${at(prometheus)}`,
        EVALUATIONS_FILE: eventsFile,
        QUEUE_DIRECTORY: join(directory, 'queue'),
      },
      ready: `http://${at(health)}/`,
    },
    jaeger: {
      args: ['--config', join(configDirectory, 'jaeger/jaeger.yaml')],
      env: {
        JAEGER_HEALTH_LISTEN: at(jaegerHealth),
        JAEGER_UI_CONFIG: join(directory, 'ui.json'),
        JAEGER_UI_LISTEN: at(jaegerUi),
        JAEGER_GRPC_LISTEN: at(jaegerGrpc),
        JAEGER_OTLP_LISTEN: at(jaegerOtlp),
      },
      ready: `http://${at(jaegerHealth)}/status`,
    },
    prometheus: {
      args: [
        `--config.file=${join(directory, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(directory, 'prometheus')}`,
        `--web.listen-address=${at(prometheus)}`,
        '--web.enable-otlp-receiver',
        `--enable-feature=${prometheusFeatures.join(',')}`,
      ],
      ready: `http://${at(prometheus)}/-/ready`,
    },
    alertmanager: {
      args: [
        `--config.file=${join(directory, 'alertmanager.yml')}`,
        `--storage.path=${join(directory, 'alertmanager')}`,
        `--web.listen-address=${at(alertmanager)}`,
        '--cluster.listen-address=',
      ],
      ready: `http://${at(alertmanager)}/-/ready`,
    },
  }

  const running = new Map<Server, ChildProcess>()
  const start = async (name: Server) => {
    const { args, env, ready } = commands[name]
    const log = createWriteStream(join(directory, `${name}.log`), { flags: 'a' })
    await once(log, 'open')
    const child = spawn(program(name), args, { env: { ...process.env, ...env }, stdio: ['ignore', log, log] })
    running.set(name, child)
    // The program must not keep running if the tests end without closing the stack.
    const killWithUs = () => child.kill('SIGKILL')
    process.once('exit', killWithUs)
    child.once('exit', () => process.off('exit', killWithUs))
    const ended = once(child, 'exit').then(([code]: unknown[]) => {
      const said = readFileSync(join(directory, `${name}.log`), 'utf8').slice(-2000)
      throw new Error(`expected ${name} to run, it ended with ${String(code)}:\n${said}`)
    })
    // Once the program is ready, its end is not reported as an error.
    ended.catch(() => undefined)
    await Promise.race([ended, eventually(`${name} is ready`, async () => (await fetch(ready)).ok)])
  }
  const stop = async (name: Server, signal: NodeJS.Signals = 'SIGTERM') => {
    const child = running.get(name)
    running.delete(name)
    if (!child || child.exitCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
  const close = async () => {
    await Promise.all([...running.keys()].map((name) => stop(name, 'SIGKILL')))
    webhook.closeAllConnections()
    webhook.close()
    if (process.env['SPANSCORE_E2E_KEEP']) console.log(`kept: ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
  try {
    await Promise.all((['jaeger', 'prometheus', 'alertmanager', 'otelcol'] as const).map(start))
  } catch (error) {
    await close()
    throw error
  }

  const jaegerUrl = `http://${at(jaegerUi)}`
  const prometheusUrl = `http://${at(prometheus)}`
  return {
    otlpUrl: `http://${at(http)}`,
    prometheusUrl,
    jaegerUrl,
    posted,
    events: () => readEvents(readFileSync(eventsFile, 'utf8')),
    query: async (expression) => {
      const { data }: { data: { result: { metric: Record<string, string>; value: [number, string] }[] } } = JSON.parse(
        await textOf(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(expression)}`),
      )
      return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
    },
    spansByTags: async (service, tags) => {
      const parameters = new URLSearchParams({ service, tags: JSON.stringify(tags), limit: '20000', lookback: '1h' })
      const { data }: { data: { spans: JaegerSpan[] }[] } = JSON.parse(
        await textOf(`${jaegerUrl}/api/traces?${parameters.toString()}`),
      )
      return data
        .flatMap((found) => found.spans)
        .filter((span) =>
          Object.entries(tags).every(([key, value]) =>
            span.tags.some((tag) => tag.key === key && String(tag.value) === value),
          ),
        )
    },
    start,
    stop,
    close,
  }
}

interface OtlpLogs {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly {
      readonly logRecords: readonly {
        readonly traceId: string
        readonly spanId: string
        readonly eventName: string
        readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[]
      }[]
    }[]
  }[]
}

function readEvents(text: string): EventRecord[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const logs: OtlpLogs = JSON.parse(line)
      return logs.resourceLogs
    })
    .flatMap((resource) => resource.scopeLogs)
    .flatMap((scope) => scope.logRecords)
    .map((record) => ({
      ...record,
      attributes: Object.fromEntries(record.attributes.map(({ key, value }) => [key, value])),
    }))
}
