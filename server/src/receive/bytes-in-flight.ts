import { Refusal } from './refusal.ts'

/**
 * The bytes of unanswered requests, received and decompressed. Limits of a single request do not bound many of them together. Above the
 * total limit, the largest request is dropped, so that a few senders of large or slow bodies do not keep out small requests.
 */
export class BytesInFlight {
  readonly #maxBytes: number
  readonly #requests = new Set<RequestBytes>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes of all requests together. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Starts counting a request.
   *
   * @param onGivenUp called once if its bytes must be released; they are not counted afterwards
   */
  begin(onGivenUp: (refusal: Refusal) => void): RequestBytes {
    const request = new RequestBytes(
      (added) => this.#add(added),
      (ended) => this.#end(ended),
      onGivenUp,
    )
    this.#requests.add(request)
    return request
  }

  #add(bytes: number): void {
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes) {
      const largest = this.#largest()
      if (largest === undefined) return
      largest.giveUp(
        new Refusal(
          'unavailable',
          `Requests of more than ${this.#maxBytes} bytes are being received; send again later.`,
        ),
      )
    }
  }

  #end(request: RequestBytes): void {
    if (this.#requests.delete(request)) this.#bytes -= request.bytes
  }

  #largest(): RequestBytes | undefined {
    let largest: RequestBytes | undefined
    for (const request of this.#requests) {
      if (!request.isKept && request.bytes > (largest?.bytes ?? 0)) largest = request
    }
    return largest
  }
}

/** The bytes of one request. */
export class RequestBytes {
  readonly #onAdded: (bytes: number) => void
  readonly #onEnded: (request: RequestBytes) => void
  readonly #onGivenUp: (refusal: Refusal) => void
  #bytes = 0
  #isKept = false
  #isOver = false

  constructor(
    onAdded: (bytes: number) => void,
    onEnded: (request: RequestBytes) => void,
    onGivenUp: (refusal: Refusal) => void,
  ) {
    this.#onAdded = onAdded
    this.#onEnded = onEnded
    this.#onGivenUp = onGivenUp
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether the request is complete, and will be answered soon. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** More of the request is in memory. */
  add(bytes: number): void {
    if (this.#isOver) return
    this.#bytes += bytes
    this.#onAdded(bytes)
  }

  /** The request is complete, and is no longer dropped. */
  keep(): void {
    this.#isKept = true
  }

  /** The request was answered, or its sender disconnected. */
  end(): void {
    this.#isOver = true
    this.#onEnded(this)
  }

  giveUp(refusal: Refusal): void {
    this.end()
    this.#onGivenUp(refusal)
  }
}
