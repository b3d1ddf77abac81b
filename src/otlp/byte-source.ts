/** The largest record: longer ones do not fit into a JavaScript string. */
export const MAX_RECORD_BYTES: number = 512 * 1024 * 1024 - 24

const LINE_BREAK = 10

/** Reads a stream of bytes in the lengths that its user needs, with minimal buffering. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>
  #parts: Buffer[] = []
  #length = 0
  #offset = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Bytes consumed so far. */
  get offset(): number {
    return this.#offset
  }

  /** Waits until `length` bytes are available; false if the stream ends first. */
  async fill(length: number): Promise<boolean> {
    while (this.#length < length) {
      const next = await this.#chunks.next()
      if (next.done === true) return false
      const { value } = next
      if (value.length === 0) continue
      this.#parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      this.#length += value.length
    }
    return true
  }

  /** Up to `length` of the available bytes, without consuming them. */
  peek(length: number): Buffer {
    return this.#joined().subarray(0, length)
  }

  skip(length: number): void {
    this.take(Math.min(length, this.#length))
  }

  take(length: number): Buffer {
    const joined = this.#joined()
    this.#parts = joined.length === length ? [] : [joined.subarray(length)]
    this.#length -= length
    this.#offset += length
    return joined.subarray(0, length)
  }

  /** All bytes that were not consumed, in pieces. */
  async *rest(): AsyncGenerator<Buffer> {
    while (await this.fill(1)) yield this.take(this.#length)
  }

  /** The lines, without line breaks; `undefined` for a line that exceeds the record limit. */
  async *lines(): AsyncGenerator<Buffer | undefined> {
    let line: Buffer[] = []
    let length = 0
    while (await this.fill(1)) {
      let rest = this.take(this.#length)
      for (let end = rest.indexOf(LINE_BREAK); end !== -1; end = rest.indexOf(LINE_BREAK)) {
        const last = rest.subarray(0, end)
        if (length > MAX_RECORD_BYTES) yield undefined
        else yield line.length === 0 ? last : Buffer.concat([...line, last])
        line = []
        length = 0
        rest = rest.subarray(end + 1)
      }
      length += rest.length
      // A line that is too long is skipped to its end.
      if (length > MAX_RECORD_BYTES) line = []
      else if (rest.length > 0) line.push(rest)
    }
    if (length > 0) yield length > MAX_RECORD_BYTES ? undefined : Buffer.concat(line)
  }

  #joined(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0] ?? Buffer.alloc(0)
  }
}
