/**
 * The services of `collector-config/docker-compose.yml` as processes on loopback, from the same configuration files and with the same
 * options: `npm run stack` starts them on the ports of the Compose file until Ctrl-C. The end-to-end tests start them on free ports. There
 * is no Grafana, and the service has its own command.
 */
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
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'yaml'

import { findProgram } from './e2e-tools.ts'
import type { ProgramName } from './e2e-tools.ts'

/** The folder that teams copy. */
export const configDirectory: string = resolve(import.meta.dirname, '../collector-config')

/** A service of the Compose file, by the name of its program. */
export type ServiceName = 'otelcol' | 'jaeger' | 'prometheus' | 'alertmanager'

const NAMES = ['jaeger', 'prometheus', 'alertmanager', 'otelcol'] as const

export interface ServicesOptions {
  /** Where other programs reach the services. @default free ports */
  readonly ports?: Partial<Readonly<Record<'grpc' | 'http' | 'jaeger' | 'prometheus' | 'alertmanager', number>>>
  /** Where Alertmanager sends alerts. */
  readonly webhookUrl: string
  /** Changes a configuration file, after its addresses were replaced. @default it stays as it is */
  readonly change?: (text: string, file: string) => string
  /** Further configuration files of the Collector. */
  readonly overlays?: readonly string[]
  /** Changes the arguments of Prometheus. @default they stay as they are */
  readonly prometheusArguments?: (given: readonly string[]) => readonly string[]
}

export interface Services {
  /** Data, logs and the files with the addresses of these services. `close` does not remove it. */
  readonly directory: string
  /** OTLP over HTTP, as `OTEL_EXPORTER_OTLP_ENDPOINT` wants it. */
  readonly otlpUrl: string
  readonly prometheusUrl: string
  readonly jaegerUrl: string
  readonly alertmanagerUrl: string
  /** Evaluation events as the Collector's file exporter writes them, one OTLP document a line. */
  readonly eventsFile: string
  readonly start: (name: ServiceName) => Promise<void>
  readonly stop: (name: ServiceName, signal?: NodeJS.Signals) => Promise<void>
  readonly close: () => Promise<void>
}

export const at = (port: number | undefined): string => `127.0.0.1:${port}`

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
    const server = createServer()
    const isFree = await new Promise<boolean>((settle) => {
      server.once('error', () => settle(false))
      server.listen(port, '127.0.0.1', () => settle(true))
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

/** The program's file. It exists, because `node scripts/e2e-tools.ts` runs before and stops if a program is missing. */
export function program(name: ProgramName): string {
  const file = findProgram(name)
  if (!file) throw new Error(`expected ${name} on the PATH or in the cache; node scripts/e2e-tools.ts gets it`)
  return file
}

/** Starts all services, and waits until they are ready. */
export async function startServices({
  ports = {},
  webhookUrl,
  change = (text) => text,
  overlays = [],
  prometheusArguments = (list) => list,
}: ServicesOptions): Promise<Services> {
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-stack-'))
  const [health, telemetry, jaegerOtlp, jaegerGrpc, jaegerHealth, ...free] = await Promise.all(
    Array.from({ length: 10 }, freePort),
  )
  const [grpc, http, jaeger, prometheus, alertmanager] = (
    ['grpc', 'http', 'jaeger', 'prometheus', 'alertmanager'] as const
  ).map((name, index) => ports[name] ?? free[index])
  const eventsFile = join(directory, 'evaluations.jsonl')

  // Replaces the addresses and folders of the containers by those of these processes. Nothing else is changed but by `change`.
  const place = (from: string, to: string = from): void => {
    const text = readFileSync(join(configDirectory, from), 'utf8')
      .replace('alertmanager:9093', at(alertmanager))
      .replace('otel-collector:8888', at(telemetry))
      .replaceAll('/etc/alertmanager', directory)
    writeFileSync(join(directory, to), change(text, from))
  }
  mkdirSync(join(directory, 'rules'))
  const rules = readdirSync(join(configDirectory, 'rules')).filter((file) => file.endsWith('.yml'))
  for (const file of ['prometheus.yml', 'alertmanager.yml', ...rules.map((rule) => `rules/${rule}`)]) place(file)
  copyFileSync(join(configDirectory, 'messages.tmpl'), join(directory, 'messages.tmpl'))
  copyFileSync(join(configDirectory, 'jaeger/ui.json'), join(directory, 'ui.json'))
  writeFileSync(join(directory, 'webhook_url'), webhookUrl)

  const commands: Record<ServiceName, { args: readonly string[]; env?: Record<string, string>; ready: string }> = {
    otelcol: {
      args: ['otel-collector.yaml', ...overlays].map((file) => `--config=${join(configDirectory, file)}`),
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
      args: commandOf('jaeger', { '/etc/jaeger': join(configDirectory, 'jaeger') }),
      env: {
        JAEGER_HEALTH_LISTEN: at(jaegerHealth),
        JAEGER_UI_CONFIG: join(directory, 'ui.json'),
        JAEGER_UI_LISTEN: at(jaeger),
        JAEGER_GRPC_LISTEN: at(jaegerGrpc),
        JAEGER_OTLP_LISTEN: at(jaegerOtlp),
      },
      ready: `http://${at(jaegerHealth)}/status`,
    },
    prometheus: {
      args: [
        ...prometheusArguments(
          commandOf('prometheus', {
            '/etc/prometheus': directory,
            '=/prometheus': `=${join(directory, 'prometheus')}`,
          }),
        ),
        `--web.listen-address=${at(prometheus)}`,
      ],
      ready: `http://${at(prometheus)}/-/ready`,
    },
    alertmanager: {
      args: [
        ...commandOf('alertmanager', {
          '/etc/alertmanager': directory,
          '=/alertmanager': `=${join(directory, 'alertmanager')}`,
        }),
        `--web.listen-address=${at(alertmanager)}`,
        '--cluster.listen-address=',
      ],
      ready: `http://${at(alertmanager)}/-/ready`,
    },
  }

  const running = new Map<ServiceName, ChildProcess>()
  const start = async (name: ServiceName): Promise<void> => {
    const { args, env, ready } = commands[name]
    const log = createWriteStream(join(directory, `${name}.log`), { flags: 'a' })
    await once(log, 'open')
    const child = spawn(program(name), args, { env: { ...process.env, ...env }, stdio: ['ignore', log, log] })
    running.set(name, child)
    // The program must not keep running if this process ends without closing the services.
    const killWithUs = (): void => void child.kill('SIGKILL')
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
  const stop = async (name: ServiceName, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    const child = running.get(name)
    running.delete(name)
    if (!child || child.exitCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
  const close = async (): Promise<void> => {
    await Promise.all([...running.keys()].map((name) => stop(name, 'SIGKILL')))
  }
  try {
    await Promise.all(NAMES.map(start))
  } catch (error) {
    await close()
    rmSync(directory, { recursive: true, force: true })
    throw error
  }
  return {
    directory,
    otlpUrl: `http://${at(http)}`,
    prometheusUrl: `http://${at(prometheus)}`,
    jaegerUrl: `http://${at(jaeger)}`,
    alertmanagerUrl: `http://${at(alertmanager)}`,
    eventsFile,
    start,
    stop,
    close,
  }
}

/** The arguments that the Compose file gives a service, with the folders of its container replaced. */
function commandOf(service: string, folders: Readonly<Record<string, string>>): string[] {
  const { services }: { services: Record<string, { command: string[] }> } = parse(
    readFileSync(join(configDirectory, 'docker-compose.yml'), 'utf8'),
  )
  return (services[service]?.command ?? []).map((argument) =>
    Object.entries(folders).reduce((text, [from, to]) => text.replace(from, to), argument),
  )
}

if (import.meta.main) {
  const { otlpUrl, jaegerUrl, prometheusUrl, alertmanagerUrl, directory, close } = await startServices({
    ports: { grpc: 4317, http: 4318, jaeger: 16_686, prometheus: 9090, alertmanager: 9093 },
    webhookUrl: process.env['ALERT_WEBHOOK_URL'] ?? 'http://set-ALERT_WEBHOOK_URL.invalid/',
  })
  console.log(
    `Send OTLP to ${otlpUrl}. Jaeger: ${jaegerUrl}  Prometheus: ${prometheusUrl}  Alertmanager: ${alertmanagerUrl}`,
  )
  console.log(`Logs and data are in ${directory}, until Ctrl-C removes them.`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await close()
  rmSync(directory, { recursive: true, force: true })
}
