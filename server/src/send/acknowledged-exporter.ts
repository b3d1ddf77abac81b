import type { Agent } from 'node:http'

import { certificateTrouble } from 'spanscore/engine'
import type { CertificateOptions } from 'spanscore/engine'
import { OTLPExporterBase, OTLPExporterError } from '@opentelemetry/otlp-exporter-base'
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ISerializer } from '@opentelemetry/otlp-transformer'

import type { Signal } from '../log/span-log.ts'
import { encodeRequest } from './gathered-scores.ts'
import type { EncodedRecord } from './gathered-scores.ts'
import { describeLack } from './taken-signals.ts'
import type { TakenSignals } from './taken-signals.ts'

/** The destination of scores. */
export interface Destination {
  /** Base URL of an OTLP/HTTP endpoint, such as `http://localhost:4318`; `/v1/…` is appended. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Its connections, with proxy and certificates. @default those of Node.js */
  readonly agent?: Agent | undefined
  readonly timeoutMs: number
}

/**
 * The outcome of a batch: `acknowledged` completely, or all but some records, which must not be sent again; `refused` for a reason that a retry would
 * not change; `lacking` if the destination does not have the signal at all; `failed`, so that a retry may succeed.
 */
export type ExportOutcome =
  | { readonly status: 'acknowledged' }
  | { readonly status: 'partly-acknowledged'; readonly rejected: number; readonly message: string }
  | { readonly status: 'refused' | 'lacking' | 'failed'; readonly message: string }

/** Sends batches one after the other. */
export interface AcknowledgedExporter {
  send(records: readonly EncodedRecord[]): Promise<ExportOutcome>
  shutdown(): Promise<void>
}

const NOWHERE: AcknowledgedExporter = {
  send: () => Promise.resolve({ status: 'acknowledged' }),
  shutdown: () => Promise.resolve(),
}

interface PartialSuccess {
  readonly partialSuccess?: {
    readonly rejectedLogRecords?: number
    readonly rejectedSpans?: number
    readonly errorMessage?: string
  }
}

const PATHS = { logs: 'v1/logs', traces: 'v1/traces' } as const

/** Statuses that depend on the content of the request. Others may end, also those of a wrong set-up, which somebody will correct. */
const OF_CONTENT = new Set([400, 413, 422])

/** Whether a destination would refuse the same request again. */
export function isOfContent(status: number): boolean {
  return OF_CONTENT.has(status)
}

/** An exporter of log records, built from the official one's parts. Without a destination, it succeeds immediately. */
export function createLogExporter(destination: Destination | undefined, taken: TakenSignals): AcknowledgedExporter {
  return destination === undefined ? NOWHERE : acknowledged(destination, 'logs', taken, ProtobufLogsSerializer)
}

/** An exporter of spans, built from the official one's parts. Without a destination, it succeeds immediately. */
export function createSpanExporter(destination: Destination | undefined, taken: TakenSignals): AcknowledgedExporter {
  return destination === undefined ? NOWHERE : acknowledged(destination, 'traces', taken, ProtobufTraceSerializer)
}

/**
 * The official exporters report a partial success as success, and ignore what the receiver rejected. The response passes through the
 * serializer, where it can be read.
 */
function acknowledged(
  { url, headers, agent, timeoutMs }: Destination,
  signal: Signal,
  taken: TakenSignals,
  { deserializeResponse }: Pick<ISerializer<never, PartialSuccess>, 'deserializeResponse'>,
): AcknowledgedExporter {
  const path = PATHS[signal]
  const seen: { latest?: PartialSuccess['partialSuccess'] } = {}
  const rejection = () => seen.latest
  const serializer: ISerializer<readonly EncodedRecord[], PartialSuccess> = {
    serializeRequest: encodeRequest,
    deserializeResponse: (data) => {
      const response = deserializeResponse(data)
      seen.latest = response.partialSuccess
      return response
    },
  }
  const options = convertLegacyHttpOptions(
    {
      url: `${url.replace(/\/$/, '')}/${path}`,
      headers: { ...headers },
      timeoutMillis: timeoutMs,
      concurrencyLimit: 1,
      ...(agent !== undefined && { httpAgentOptions: () => agent }),
    },
    signal.toUpperCase(),
    path,
    { 'Content-Type': 'application/x-protobuf' },
  )
  const metrics = { name: signal === 'logs' ? ('log' as const) : ('span' as const), countItems: lengthOf }
  const exporter = new OTLPExporterBase(
    createOtlpHttpExportDelegate(options, serializer, `otlp_http_${metrics.name}_exporter`, metrics, undefined),
  )
  return {
    send: async (records) => {
      seen.latest = undefined
      const result = await new Promise<{ code: number; error?: Error }>((resolve) => {
        exporter.export(records, resolve)
      })
      if (result.code !== 0) return outcomeOf(result.error, { url, signal }, taken)
      taken.accepted(signal)
      const latest = rejection()
      const rejected = latest?.rejectedLogRecords ?? latest?.rejectedSpans ?? 0
      if (rejected === 0) return { status: 'acknowledged' }
      return {
        status: 'partly-acknowledged',
        rejected: Math.min(rejected, records.length),
        message: (latest?.errorMessage ?? '').slice(0, MAX_MESSAGE) || 'no reason given',
      }
    },
    shutdown: () => exporter.shutdown(),
  }
}

/** Characters of a destination's message that are reported. */
const MAX_MESSAGE = 200

function lengthOf(records: readonly EncodedRecord[]): number {
  return records.length
}

/** The options that cure trouble with certificates of the destination. */
export const OPTIONS_OF_TO: CertificateOptions = { ca: '--to-ca', cert: '--to-cert and --to-key' }

function outcomeOf(
  error: Error | undefined,
  { url, signal }: { readonly url: string; readonly signal: Signal },
  taken: TakenSignals,
): ExportOutcome {
  const trouble = certificateTrouble(error, `--to ${url}`, OPTIONS_OF_TO)
  if (trouble !== undefined) return { status: 'failed', message: trouble }
  const code = error instanceof OTLPExporterError ? error.code : undefined
  if (taken.lacks(signal, code)) return { status: 'lacking', message: describeLack(signal) }
  const message = `${code === undefined ? '' : `HTTP ${code}: `}${error?.message ?? 'no answer'}`.slice(0, MAX_MESSAGE)
  return { status: code !== undefined && isOfContent(code) ? 'refused' : 'failed', message }
}
