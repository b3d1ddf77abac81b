import { Refusal } from './refusal.ts'

/**
 * The bytes of requests that have not been answered, as they came and decompressed. Limits of a single request do not bound what many
 * of them take together. Where all of them would hold too much, the largest is given up, so that a few senders of large bodies, or slow
 * ones, do not keep small requests out.
 */
export class BytesInFlight {
  readonly #maxBytes: number
  readonly #requests = new Set<RequestBytes>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes that all of them hold. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * A request is being received.
   *
   * @param onGivenUp Called once if its bytes must be let go of. They are not counted from then on.
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

  /** Whether the request is whole, and will be answered soon. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** More of the request is in memory. */
  add(bytes: number): void {
    if (this.#isOver) return
    this.#bytes += bytes
    this.#onAdded(bytes)
  }

  /** The request is whole: it is not given up any more. */
  keep(): void {
    this.#isKept = true
  }

  /** The request was answered, or its sender is gone. */
  end(): void {
    this.#isOver = true
    this.#onEnded(this)
  }

  giveUp(refusal: Refusal): void {
    this.end()
    this.#onGivenUp(refusal)
  }
}
