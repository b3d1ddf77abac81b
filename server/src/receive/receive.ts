import type { SourceLog } from 'spanscore/engine'

import { releaseBody } from '../log/record-body.ts'
import type { DecodedRecord, ForwardedRequest, Signal, SpanLog } from '../log/span-log.ts'
import type { BytesInFlight } from './bytes-in-flight.ts'
import { Refusal } from './refusal.ts'
import { RefusedTokens } from './refused-tokens.ts'
import type { RequestReader } from './read-request.ts'

/** A request with its decompressed body. */
export interface IncomingRequest {
  readonly signal: Signal
  readonly encoding: 'protobuf' | 'json'
  readonly body: Uint8Array
  /** The body as received, which is stored on the log. */
  readonly wire: Pick<ForwardedRequest, 'contentType' | 'contentEncoding' | 'body' | 'passed'>
}

/** What receivers count. */
export interface ReceiveCounts {
  requests: number
  spans: number
  logRecords: number
  /** Spans without valid ids, reported as a partial success. */
  invalid: number
  /** How many of them are too large. */
  tooLarge: number
  /** Refused requests, by reason. */
  readonly refused: Map<string, number>
}

/** What receiving needs. */
export interface ReceiverParts {
  readonly log: SpanLog
  readonly reader: RequestReader
  readonly forwards: boolean
  /** The bytes of unanswered requests. */
  readonly inFlight: BytesInFlight
  /** Receives lines for the operator. */
  readonly report: (line: string) => void
  /** Why nothing can be accepted now; `undefined` if it can. */
  readonly unavailable: () => string | undefined
  /** Whether spans of a service are not taken, to leave room for others. */
  readonly isFullFor: (service: unknown) => boolean
  /** Receives what users and other tools say of spans. Resolves when it is stored. */
  readonly onSaid?: ((said: readonly SourceLog[]) => Promise<void>) | undefined
  /** The value of `INSTANCE_HEADER` in everything that this service sends. */
  readonly instance: string
}

/** Header by which a service recognises its own requests: the services that a request has passed, with commas between. */
export const INSTANCE_HEADER = 'spanscore-instance'

/** The common part of both protocols: reads a request, appends it to the log, and answers once it is there. */
export class Receiver {
  readonly #parts: ReceiverParts
  readonly #refusedTokens: RefusedTokens
  readonly counts: ReceiveCounts = { requests: 0, spans: 0, logRecords: 0, invalid: 0, tooLarge: 0, refused: new Map() }

  constructor(parts: ReceiverParts) {
    this.#parts = parts
    this.#refusedTokens = new RefusedTokens('OTLP', parts.report)
  }

  /** Writes a line for the operator. */
  report(line: string): void {
    this.#parts.report(line)
  }

  /** The bytes of unanswered requests. */
  get inFlight(): BytesInFlight {
    return this.#parts.inFlight
  }

  /**
   * Scores that come back would be acknowledged and lost, and forwarded spans would be forwarded again and again. The address alone does not
   * show that: this machine has many names, there are proxies, and other services forward too.
   *
   * @param passed the value of `INSTANCE_HEADER`
   * @throws Refusal if the request has passed this service before
   */
  checkSender(passed: string): void {
    if (!passed.split(',').includes(this.#parts.instance)) return
    const why = '--to leads back to this service, perhaps by others that forward: expected the endpoint of a backend.'
    this.#parts.report(why)
    throw new Refusal('forbidden', why)
  }

  /**
   * Receivers call this before they decompress a body, because many senders send again while nothing can be accepted.
   *
   * @throws Refusal if nothing can be accepted now
   */
  checkAvailable(): void {
    const why = this.#parts.unavailable()
    if (why !== undefined) throw new Refusal('unavailable', why)
  }

  /**
   * @returns how many records were left out because of invalid ids
   * @throws Refusal
   */
  async take({ signal, encoding, body, wire }: IncomingRequest): Promise<number> {
    this.checkAvailable()
    const { log, reader, forwards, report, onSaid } = this.#parts
    const { decoded, invalid, tooLarge, spans, logRecords, isOfUse, said } = reader.read(
      body,
      encoding,
      // The converted body of a request in JSON is also the log's.
      encoding === 'protobuf' && body !== wire.body,
    )
    const kept =
      encoding === 'json'
        ? { contentEncoding: '', body: decoded.bytes.body.bytes }
        : { contentEncoding: wire.contentEncoding, body: wire.body }
    if (!isOfUse) releaseBody(decoded.bytes.body)
    else this.#checkRoom(decoded)
    const record = isOfUse ? { signal, encoding: 'protobuf' as const, ...kept, decoded } : undefined
    await log
      .append({ record, forward: forwards ? { signal, ...copyOf(wire) } : undefined })
      .catch((error: unknown) => {
        const why = `The log could not be written: ${error instanceof Error ? error.message : 'unknown error'}.`
        report(`${why} Senders keep their spans and send them again.`)
        throw new Refusal('unavailable', why)
      })
    if (said.length > 0) await onSaid?.(said)
    this.counts.requests += 1
    this.counts.invalid += invalid
    this.counts.tooLarge += tooLarge
    this.counts.spans += spans
    this.counts.logRecords += logRecords
    return invalid
  }

  /** @throws Refusal if all spans are of services with so many waiting ones that the rest of the room is for others */
  #checkRoom({ spans }: DecodedRecord): void {
    const services = new Set(spans.flatMap((span) => (span === undefined ? [] : [span.resource['service.name']])))
    if (services.size === 0 || ![...services].every((service) => this.#parts.isFullFor(service))) return
    throw new Refusal(
      'unavailable',
      'So many spans of this service wait for their run to be complete that the rest of the room is for others; send again later.',
    )
  }

  /** Counts a refused request of an address. @returns the refusal for the protocol */
  refuse(error: unknown, address?: string): Refusal {
    const refusal =
      error instanceof Refusal
        ? error
        : new Refusal('unavailable', 'The request could not be taken because of an error in the service.')
    if (refusal.reason === 'unauthenticated') this.#refusedTokens.add(address)
    this.counts.refused.set(refusal.reason, (this.counts.refused.get(refusal.reason) ?? 0) + 1)
    return refusal
  }
}

function copyOf({ contentType, contentEncoding, body, passed }: IncomingRequest['wire']) {
  return { contentType, contentEncoding, body, passed }
}
