/** The real stack on loopback, on free ports, from the files of `collector-config/`. */
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server as NetServer } from 'node:net'

import { at, startServices } from '../../scripts/stack.ts'
import type { Services } from '../../scripts/stack.ts'
import { compressTime } from './compress-time.ts'

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

export interface Stack extends Pick<Services, 'otlpUrl' | 'prometheusUrl' | 'jaegerUrl' | 'start' | 'stop' | 'close'> {
  readonly posted: readonly PostedAlert[]
  /** Evaluation events as the Collector's file exporter wrote them, one OTLP document a line. */
  readonly events: () => EventRecord[]
  readonly query: (expression: string) => Promise<Sample[]>
  readonly spansByTags: (service: string, tags: Readonly<Record<string, string>>) => Promise<JaegerSpan[]>
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

function portOf(server: NetServer): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a server that listens on a port')
  return address.port
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.text()
}

export async function startStack({
  timeScale = 1,
  overlays = [],
  alertmanager: changed = (config) => config,
  prometheusFeatures,
}: StackOptions = {}): Promise<Stack> {
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
  webhook.unref()

  const services = await startServices({
    webhookUrl: `http://${at(portOf(webhook))}/`,
    overlays,
    change: (text, file) => compressTime(file === 'alertmanager.yml' ? changed(text) : text, timeScale),
    prometheusArguments: (given) =>
      prometheusFeatures === undefined
        ? given
        : given.map((argument) =>
            argument.startsWith('--enable-feature=') ? `--enable-feature=${prometheusFeatures.join(',')}` : argument,
          ),
  })
  const { directory, otlpUrl, prometheusUrl, jaegerUrl, eventsFile, start, stop } = services
  const close = async (): Promise<void> => {
    await services.close()
    webhook.closeAllConnections()
    webhook.close()
    if (process.env['SPANSCORE_E2E_KEEP']) console.log(`kept: ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
  return {
    otlpUrl,
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
