/** Wire types of protobuf. */
const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5

/** Shorter ASCII strings are written character by character: a native call takes longer. */
const SHORT_TEXT = 40

/** If a length needs more than one byte, the data after it is moved. */
const MAX_ONE_BYTE = 0x7f

const NONE: Readonly<Record<string, unknown>> = {}

/** From here on, numbers are not 64-bit integers. */
const MAX_INTEGER = 2 ** 63

/** The largest 64-bit time that a number can represent. */
const MAX_TIME = 2 ** 64 - 2 ** 11

/**
 * Writes protobuf messages, in call order, into one growing buffer. The SDK's serializers walk through its records twice, and cost as much
 * as scoring does.
 */
export class OtlpWriter {
  #buffer = Buffer.allocUnsafe(16 * 1024)
  #at = 0

  /** Returns a copy of the written bytes, and starts again. */
  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.#at))
    this.#at = 0
    return taken
  }

  /** Bytes written since the last copy. */
  get length(): number {
    return this.#at
  }

  /** Opens a message in a field. @returns the argument of `end` */
  begin(field: number): number {
    this.#tag(field, LENGTH_DELIMITED, 1)
    return ++this.#at
  }

  /** Closes the message that `begin` opened last. */
  end(start: number): void {
    const length = this.#at - start
    if (length > MAX_ONE_BYTE) {
      const more = bytesOfVarint(length) - 1
      this.#reserve(more)
      this.#buffer.copyWithin(start + more, start, this.#at)
      this.#at += more
    }
    const end = this.#at
    this.#at = start - 1
    this.#varint(length)
    this.#at = end
  }

  string(field: number, text: string): void {
    this.#tag(field, LENGTH_DELIMITED, SHORT_TEXT)
    const { length } = text
    if (length < SHORT_TEXT && this.#ascii(text, length)) return
    const bytes = Buffer.byteLength(text)
    this.#reserve(bytes + 5)
    this.#varint(bytes)
    this.#at += this.#buffer.write(text, this.#at, bytes, 'utf8')
  }

  /** An id in hex digits. */
  id(field: number, hex: string): void {
    const bytes = hex.length >> 1
    this.#tag(field, LENGTH_DELIMITED, bytes + 1)
    this.#varint(bytes)
    this.#at += this.#buffer.write(hex, this.#at, bytes, 'hex')
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.#tag(field, LENGTH_DELIMITED, bytes.byteLength + 5)
    this.#varint(bytes.byteLength)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.byteLength
  }

  /** A whole number from 0 to 2^53. */
  integer(field: number, value: number): void {
    this.#tag(field, VARINT, 10)
    this.#varint(value)
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, FIXED_32, 4)
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
  }

  /** A time as seconds and nanoseconds. It does not fit into a number, so both halves are computed without rounding. */
  time(field: number, [seconds, nanoseconds]: readonly [number, number]): void {
    this.#tag(field, FIXED_64, 8)
    const upper = Math.floor(seconds / 0x10000) * 1e9
    const lower = (seconds % 0x10000) * 1e9 + nanoseconds
    const low = (upper % 0x10000) * 0x10000 + (lower % 0x100000000)
    const high = Math.floor(upper / 0x10000) + Math.floor(lower / 0x100000000) + Math.floor(low / 0x100000000)
    this.#at = this.#buffer.writeUInt32LE(low % 0x100000000, this.#at)
    this.#at = this.#buffer.writeUInt32LE(high, this.#at)
  }

  /** A time in milliseconds, so that reading it returns the same number of milliseconds. */
  timeMs(field: number, ms: number): void {
    const nearest = Math.min(Math.max(0, Math.round(ms * 1e6)), MAX_TIME)
    const step = Math.max(1, 2 ** (Math.floor(Math.log2(Math.max(1, nearest))) - 52))
    const nanoseconds = [nearest, nearest - step, nearest + step].find((each) => each / 1e6 === ms) ?? nearest
    this.#tag(field, FIXED_64, 8)
    this.#at = this.#buffer.writeUInt32LE(nanoseconds % 0x100000000, this.#at)
    this.#at = this.#buffer.writeUInt32LE(Math.floor(nanoseconds / 0x100000000), this.#at)
  }

  /**
   * Writes one `KeyValue` for each attribute with a value.
   *
   * @param except names of attributes to omit
   */
  attributes(
    field: number,
    attributes: Readonly<Record<string, unknown>>,
    except: Readonly<Record<string, unknown>> = NONE,
  ): void {
    // oxlint-disable-next-line eslint/guard-for-in -- attributes are plain objects, and this loop needs no array
    for (const name in attributes) {
      const value = attributes[name]
      if (value === undefined || value === null) continue
      if (except !== NONE && Object.hasOwn(except, name)) continue
      this.#keyValue(field, name, value)
    }
  }

  /** Writes messages again that were written in another field. Both field numbers are below 16, so their tags are one byte. */
  again(field: number, messages: Uint8Array): void {
    this.#reserve(messages.byteLength)
    this.#buffer.set(messages, this.#at)
    const end = this.#at + messages.byteLength
    while (this.#at < end) {
      this.#buffer[this.#at++] = field * 8 + LENGTH_DELIMITED
      let length = 0
      for (let shift = 1, more = true; more; shift *= 0x80) {
        const byte = this.#buffer[this.#at++] ?? 0
        length += (byte & MAX_ONE_BYTE) * shift
        more = byte > MAX_ONE_BYTE
      }
      this.#at += length
    }
  }

  /** Writes an `AnyValue` in a field. */
  value(field: number, value: unknown): void {
    const start = this.begin(field)
    this.#value(value)
    this.end(start)
  }

  #keyValue(field: number, name: string, value: unknown): void {
    const start = this.begin(field)
    this.string(1, name)
    this.value(2, value)
    this.end(start)
  }

  /** Writes an `AnyValue`, which is empty for an unsupported value. */
  #value(value: unknown): void {
    if (typeof value === 'string') this.string(1, value)
    else if (typeof value === 'boolean') this.integer(2, value ? 1 : 0)
    else if (typeof value === 'number') this.#number(value)
    else if (Array.isArray(value)) {
      const start = this.begin(5)
      for (const item of value as readonly unknown[]) {
        this.value(1, item)
      }
      this.end(start)
    } else if (typeof value === 'object' && value !== null) {
      const start = this.begin(6)
      for (const [name, item] of Object.entries(value)) this.#keyValue(1, name, item)
      this.end(start)
    }
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && value >= 0) this.integer(3, value)
    else if (Number.isInteger(value) && Math.abs(value) < MAX_INTEGER) {
      this.#tag(3, VARINT, 10)
      this.#largeVarint(BigInt.asUintN(64, BigInt(value)))
    } else {
      this.#tag(4, FIXED_64, 8)
      this.#at = this.#buffer.writeDoubleLE(value, this.#at)
    }
  }

  /** Writes a text for which there is room. @returns false, without writing anything, if a character is not ASCII */
  #ascii(text: string, length: number): boolean {
    const buffer = this.#buffer
    const start = this.#at
    buffer[start] = length
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      buffer[start + 1 + index] = code
    }
    this.#at = start + 1 + length
    return true
  }

  /** Begins a field, and makes room for its value of that many bytes. */
  #tag(field: number, wireType: number, bytes: number): void {
    this.#reserve(bytes + 2)
    this.#varint(field * 8 + wireType)
  }

  #varint(value: number): void {
    let rest = value
    while (rest > MAX_ONE_BYTE) {
      this.#buffer[this.#at++] = (rest % 0x80) + 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#at++] = rest
  }

  #largeVarint(value: bigint): void {
    let rest = value
    while (rest > 0x7fn) {
      this.#buffer[this.#at++] = Number(rest & 0x7fn) + 0x80
      rest >>= 7n
    }
    this.#buffer[this.#at++] = Number(rest)
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

function bytesOfVarint(value: number): number {
  let bytes = 1
  for (let rest = value; rest > MAX_ONE_BYTE; rest = Math.floor(rest / 0x80)) bytes += 1
  return bytes
}
