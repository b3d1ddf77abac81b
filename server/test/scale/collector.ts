import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { freePorts } from './kafka-cluster.ts'

const run = promisify(execFile)

const MANIFEST = join(import.meta.dirname, 'ocb.yaml')
const CONFIGS = join(import.meta.dirname, '../../../collector-config/kafka')

/** The Collector with the Kafka exporter, built from its Go modules and kept by the hash of the manifest. */
export async function findCollector(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(MANIFEST)).digest('hex').slice(0, 12)
  const root = process.env['SPANSCORE_KAFKA_CACHE'] ?? join(homedir(), '.cache', 'spanscore-kafka')
  const program = join(root, `otelcol-kafka-${hash}`)
  if (existsSync(program)) return program
  mkdirSync(root, { recursive: true })
  const folder = mkdtempSync(join(root, 'build-'))
  const options = {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOBIN: folder },
    maxBuffer: 64 * 1024 * 1024,
  }
  await run('go', ['install', 'go.opentelemetry.io/collector/cmd/builder@v0.158.0'], options)
  // It writes sources and go.mod, and then runs `go mod tidy`, which also fetches modules that only tests of components need.
  await run(join(folder, 'builder'), ['--config', MANIFEST, '--skip-compilation'], options).catch(() => undefined)
  await run(
    'go',
    ['build', '-mod=mod', '-trimpath', '-ldflags', '-s -w', '-tags', 'grpcnotrace', '-o', '../otelcol', '.'],
    {
      ...options,
      cwd: join(folder, 'otelcol-build'),
    },
  )
  renameSync(join(folder, 'otelcol'), program)
  rmSync(folder, { recursive: true, force: true })
  return program
}

/** A Collector with one of the shipped configurations. */
export interface KafkaCollector {
  /** Base of its OTLP/HTTP endpoint. */
  readonly url: string
  /** Resolves when it has acknowledged a request, which is then in its queue. */
  send(request: unknown, path?: string): Promise<void>
  /** Kills it without a warning. */
  kill(): Promise<void>
  start(): void
  pid(): number
  close(): Promise<void>
}

/** Starts a Collector that writes to Kafka, with its queue on disk. */
export function startCollector(brokers: readonly string[]): Promise<KafkaCollector> {
  return launchCollector('otel-collector-ingest.yaml', { KAFKA_BROKERS: JSON.stringify(brokers) })
}

/** Starts a Collector that distributes traces over services at these gRPC addresses. */
export function startBalancer(services: readonly [string, string]): Promise<KafkaCollector> {
  return launchCollector('otel-collector-load-balancing.yaml', {
    SPANSCORE_1: services[0],
    SPANSCORE_2: services[1],
  })
}

async function launchCollector(config: string, env: Readonly<Record<string, string>>): Promise<KafkaCollector> {
  const program = await findCollector()
  const queue = mkdtempSync(join(tmpdir(), 'spanscore-queue-'))
  const [http, grpc] = await freePorts(2)
  const start = () => {
    const child = spawn(program, ['--config', join(CONFIGS, config)], {
      stdio: ['ignore', 'ignore', 'ignore'],
      env: {
        ...process.env,
        ...env,
        OTLP_HTTP_LISTEN: `127.0.0.1:${http}`,
        OTLP_GRPC_LISTEN: `127.0.0.1:${grpc}`,
        OTELCOL_QUEUE: queue,
        OTELCOL_METRICS_LEVEL: 'none',
      },
    })
    return { child, ended: new Promise((resolve) => child.once('exit', resolve)) }
  }
  const url = `http://127.0.0.1:${http}`
  let running = start()
  const kill = async (): Promise<void> => {
    running.child.kill('SIGKILL')
    await running.ended
  }
  return {
    url,
    send: async (request, path = '/v1/traces') => {
      for (;;) {
        const status = await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(request),
        }).then(
          async (response) => {
            await response.arrayBuffer()
            return response.status
          },
          () => 0,
        )
        if (status === 200) return
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    kill,
    pid: () => running.child.pid ?? 0,
    start: () => {
      running = start()
    },
    close: async () => {
      await kill()
      rmSync(queue, { recursive: true, force: true })
    },
  }
}
