import { randomBytes, randomInt } from 'node:crypto'

import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'

/** Spans of one request, as a batch processor sends them. */
const BATCH = 512

/** Traces that are open at the same time in one sender. Their spans alternate in its requests. */
const INTERLEAVED = 16

/** Protobuf requests whose trace ids can be changed, so that they can be sent again as new traces. */
export interface MadeRequests {
  readonly bodies: readonly Buffer[]
  readonly spans: number
  readonly traces: number
  /** Changes the trace ids in all bodies. */
  renew(): void
}

type Recorded = ReturnType<typeof readScenario>['spans']

/**
 * Creates OTLP requests from the recordings of five libraries. Each trace has its own ids and its own words, so that requests
 * compress as real ones do. A share of the spans is not about agents, but belongs to the rest of the application.
 */
export function makeRequests(count: number, ordinaryShare: number): MadeRequests {
  const recorded = libraryNames()
    .filter((name) =>
      /^(?:ai-7.*otel$|openinference-langchain|strands|mastra|python-openinference-openai-agents)/.test(name),
    )
    .flatMap((name) => loadLibrary(name).map((scenario) => readScenario(scenario).spans))
    .filter((spans) => spans.length > 0 && new Set(spans.map(({ traceId }) => traceId)).size === 1)
  const spans = interleaved(recorded, count, ordinaryShare)
  const bodies: Buffer[] = []
  for (let at = 0; at < spans.length; at += BATCH) {
    bodies.push(Buffer.from(ProtobufTraceSerializer.serializeRequest(spans.slice(at, at + BATCH)) ?? []))
  }
  const traceIds = new Set(spans.map((span) => span.spanContext().traceId))
  const places = bodies.map((body) => placesOf(body, traceIds))
  return {
    bodies,
    spans: spans.length,
    traces: traceIds.size,
    renew: () => {
      const mask = randomBytes(16)
      for (const [index, body] of bodies.entries()) {
        for (const start of places[index] ?? []) {
          for (let byte = 0; byte < 16; byte++) body[start + byte] = (body[start + byte] ?? 0) ^ (mask[byte] ?? 0)
        }
      }
    },
  }
}

/** Finds the positions of the trace ids: field 1 of a span, if its sixteen bytes equal one of the ids. */
function placesOf(body: Buffer, traceIds: ReadonlySet<string>): readonly number[] {
  const places: number[] = []
  for (let at = body.indexOf(TRACE_ID); at !== -1; at = body.indexOf(TRACE_ID, at + 1)) {
    if (traceIds.has(body.toString('hex', at + 2, at + 18))) places.push(at + 2)
  }
  return places
}

const TRACE_ID = Buffer.of(0x0a, 16)

function interleaved(recorded: readonly Recorded[], count: number, ordinaryShare: number): ReadableSpan[] {
  const out: ReadableSpan[] = []
  const open: ReadableSpan[][] = []
  let next = 0
  while (out.length < count) {
    while (open.length < INTERLEAVED) {
      const spans = recorded[next % recorded.length] ?? []
      open.push(traceOf(spans, next, ordinaryShare))
      next += 1
    }
    const chosen = randomInt(open.length)
    const spans = open[chosen] ?? []
    out.push(...spans.splice(0, 1 + randomInt(4)))
    if (spans.length === 0) open.splice(chosen, 1)
  }
  // Traces that have begun are sent completely.
  return [...out, ...open.flat()]
}

const template = {
  resource: resourceFromAttributes({
    'service.name': 'shop-agents',
    'service.version': '4.2.1',
    'deployment.environment.name': 'production',
    'telemetry.sdk.language': 'python',
  }),
  links: [],
  duration: [0, 0] as [number, number],
  ended: true,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
}

function traceOf(spans: Recorded, index: number, ordinaryShare: number): ReadableSpan[] {
  const traceId = randomBytes(16).toString('hex')
  const ids = new Map<string, string>()
  const newId = (id: string): string => {
    const known = ids.get(id) ?? randomBytes(8).toString('hex')
    ids.set(id, known)
    return known
  }
  const words = new Map<string, string>()
  return spans.flatMap((span) => {
    const made: ReadableSpan = {
      ...template,
      name: span.name,
      kind: Math.max(0, span.kind - 1),
      spanContext: () => ({ traceId, spanId: newId(span.spanId), traceFlags: 1 }),
      ...(span.parentSpanId !== undefined && {
        parentSpanContext: { traceId, spanId: newId(span.parentSpanId), traceFlags: 1 },
      }),
      startTime: toTime(span.startTimeMs),
      endTime: toTime(span.endTimeMs),
      status: { code: span.status.code === 'error' ? 2 : 0 },
      attributes: inOtherWords(span.attributes, words),
      events: span.events.map((event) => ({
        name: event.name,
        time: toTime(event.timeMs),
        attributes: inOtherWords(event.attributes, words),
      })),
      instrumentationScope: span.scope,
    }
    const ordinary = Math.round(ordinaryShare / (1 - ordinaryShare))
    return [made, ...Array.from({ length: ordinary }, () => ordinarySpan(traceId, newId(span.spanId), index))]
  })
}

const HTTP = { name: '@opentelemetry/instrumentation-undici', version: '0.14.0' }

/** A span of an HTTP client with the attributes of the semantic conventions. Its parent is a span of the trace. */
function ordinarySpan(traceId: string, parentSpanId: string, index: number): ReadableSpan {
  const spanId = randomBytes(8).toString('hex')
  return {
    ...template,
    name: 'GET',
    kind: 2,
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    parentSpanContext: { traceId, spanId: parentSpanId, traceFlags: 1 },
    startTime: toTime(Date.now()),
    endTime: toTime(Date.now() + 12),
    status: { code: 0 },
    attributes: {
      'http.request.method': 'GET',
      'http.request.method_original': 'GET',
      'url.full': `https://catalog.internal:8443/products/${randomInt(100_000)}?page=${index}`,
      'url.path': `/products/${randomInt(100_000)}`,
      'url.scheme': 'https',
      'server.address': 'catalog.internal',
      'server.port': 8443,
      'user_agent.original': 'undici',
      'network.peer.address': '10.0.4.17',
      'network.peer.port': 8443,
      'http.response.status_code': 200,
      'http.response.header.content-length': randomInt(100_000),
    },
    events: [],
    instrumentationScope: HTTP,
  }
}

/** Replaces words of prose by others of the same length, consistently in the whole trace. Names, keys and JSON stay as they are. */
function inOtherWords(
  attributes: Readonly<Record<string, unknown>>,
  words: Map<string, string>,
): ReadableSpan['attributes'] {
  const other = (word: string): string => {
    const known = words.get(word) ?? randomBytes(word.length).toString('base64url').slice(0, word.length).toLowerCase()
    words.set(word, known)
    return known
  }
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replace(/(?<= )[a-z]{4,}(?=[ .,])/g, other) : value,
    ]),
  )
}

function toTime(ms: number): [number, number] {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}
