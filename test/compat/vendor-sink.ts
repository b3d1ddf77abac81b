import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

import { readOtlpJson } from '../../src/otlp/json.ts'
import { createProtobufDecoder } from '../../src/otlp/protobuf.ts'
import { listenOnLoopback } from '../../src/testing/listen-on-loopback.ts'

/** A span as a vendor received it, whatever its wire. */
export interface SunkSpan {
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A server in the place of every vendor: it takes whatever comes, and answers what their agents wait for. */
export interface VendorSink extends AsyncDisposable {
  readonly url: string
  /** The spans of OTLP, of Sentry's envelopes and of Azure's items. */
  readonly spans: readonly SunkSpan[]
  /** Everything that came in another form, as text, such as Datadog's MessagePack. */
  readonly text: () => string
}

export async function createVendorSink(): Promise<VendorSink> {
  const spans: SunkSpan[] = []
  const others: string[] = []
  const decode = await createProtobufDecoder()

  const take = (request: IncomingMessage, body: Buffer): void => {
    const type = request.headers['content-type'] ?? ''
    if (type.includes('protobuf') && request.url?.includes('metrics') === false) spans.push(...decode(body).spans)
    else if (request.url?.includes('/envelope') === true) spans.push(...spansOfEnvelope(body.toString()))
    else if (request.url?.endsWith('/track') === true) spans.push(...spansOfAzure(body.toString()))
    else if (type.includes('json') && body.includes('"resourceSpans"')) {
      spans.push(...(readOtlpJson(JSON.parse(body.toString()))?.spans ?? []))
    } else others.push(`${request.method} ${request.url} ${body.toString()}`)
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      let status = 200
      try {
        take(request, decompressed(Buffer.concat(pieces), request.headers['content-encoding']))
      } catch (error) {
        status = 400
        others.push(`${request.url} ${String(error)}`)
      }
      // An empty message of protobuf is no byte.
      const isProtobuf = request.headers['content-type']?.includes('protobuf') === true
      const type = isProtobuf ? 'application/x-protobuf' : 'application/json'
      response.writeHead(status, { 'content-type': type })
      response.end(isProtobuf ? '' : JSON.stringify(answerTo(request.url ?? '')))
    })
  })
  const { origin, ...listening } = await listenOnLoopback(server, 0)
  return { url: origin, spans, text: () => others.join('\n'), ...listening }
}

/** Azure asks how many items were accepted, AgentOps for a token, SolarWinds what to sample. */
function answerTo(url: string): object {
  if (url.startsWith('/v1/settings/')) {
    const limits = { BucketCapacity: 1000, BucketRate: 1000 }
    const flags = 'SAMPLE_START,SAMPLE_THROUGH_ALWAYS'
    return { value: 1_000_000, flags, timestamp: Math.floor(Date.now() / 1000), ttl: 120, arguments: limits }
  }
  if (url.endsWith('/track')) return { itemsReceived: 1, itemsAccepted: 1, errors: [] }
  return url.includes('/auth/token') ? { token: 'token', project_id: 'project' } : {}
}

function decompressed(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(body)
  if (encoding === 'deflate') return inflateSync(body)
  return encoding === 'br' ? brotliDecompressSync(body) : body
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of it is checked
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** Transactions of Sentry, and its streams of spans, whose attributes are `{ type, value }`. */
function spansOfEnvelope(text: string): SunkSpan[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    const item = fieldsOf(JSON.parse(line))
    const root = fieldsOf(fieldsOf(item['contexts'])['trace'])
    const own = item['type'] === 'transaction' ? [{ description: item['transaction'], data: root['data'] }] : []
    const streamed = listOf(item['items']).filter((each) => 'span_id' in each)
    return [...own, ...listOf(item['spans']), ...streamed].map((each) => ({
      name: String(Reflect.get(each, 'description') ?? Reflect.get(each, 'name')),
      attributes: plain(fieldsOf(Reflect.get(each, 'data') ?? Reflect.get(each, 'attributes'))),
    }))
  })
}

function plain(attributes: Fields): Fields {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      'value' in fieldsOf(value) ? fieldsOf(value)['value'] : value,
    ]),
  )
}

/** Requests and dependencies of Azure Monitor. All their properties are texts. */
function spansOfAzure(text: string): SunkSpan[] {
  const items: unknown = text.trimStart().startsWith('[')
    ? JSON.parse(text)
    : text.split('\n').map((line) => JSON.parse(line))
  return listOf(items).flatMap((item) => {
    const { baseType, baseData } = fieldsOf(item['data'])
    if (baseType !== 'RemoteDependencyData' && baseType !== 'RequestData') return []
    const { name, properties } = fieldsOf(baseData)
    return [{ name: String(name), attributes: fieldsOf(properties) }]
  })
}
