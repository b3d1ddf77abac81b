import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { findProgram } from '../../../scripts/e2e-tools.ts'
import { freePorts } from './kafka-cluster.ts'

const CONFIGS = join(import.meta.dirname, '../../../collector-config/kafka')

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
  const program = findProgram('otelcol')
  if (program === undefined) throw new Error('Expected a Collector: `node scripts/e2e-tools.ts` gets it.')
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
