import { Readable } from 'node:stream'
// Older versions of Node.js lack zstd. Importing it by name would make them fail to load this file.
import zlib from 'node:zlib'
import { complainOfNode } from '../model/node-version.ts'

/** Supported compressions. */
export type Compression = 'gzip' | 'zstd'

/** Compressed data that cannot be unpacked. The message is for users. */
export class DecompressionError extends Error {
  override readonly name = 'DecompressionError'
}

/**
 * Up to this size, output is always unpacked. Above it, input that grows by more than `MAX_GROWTH` is treated as an attack on the disk to
 * which spans are spilled. Real traces shrink to between a fifth and a fiftieth.
 */
const FREE_BYTES = 256 * 1024 * 1024
const MAX_GROWTH = 250

const ZSTD_MAGIC = 0xfd2fb528

/** Detects the compression of a stream by its first bytes. */
export function compressionOf(start: Buffer): Compression | undefined {
  if (start[0] === 0x1f && start[1] === 0x8b) return 'gzip'
  return start.length >= 4 && start.readUInt32LE(0) === ZSTD_MAGIC ? 'zstd' : undefined
}

/**
 * Unpacks a stream in pieces. Consecutive members or frames form one stream.
 *
 * @throws DecompressionError after the last byte that could be unpacked, if the stream is damaged, cut off, or grows too much
 */
export async function* decompress(chunks: AsyncIterable<Uint8Array>, compression: Compression): AsyncGenerator<Buffer> {
  const input = new FrameInput(chunks[Symbol.asyncIterator]())
  let outputBytes = 0
  do {
    for await (const chunk of unpackFrame(input, compression)) {
      outputBytes += chunk.length
      if (outputBytes > FREE_BYTES && outputBytes > input.bytesRead * MAX_GROWTH) {
        throw new DecompressionError(`the ${compression} data grows more than ${MAX_GROWTH}-fold; the rest is not read`)
      }
      yield chunk
    }
    // Node.js continues after a gzip member by itself, but not after a zstd frame.
  } while (compressionOf(await input.peek()) === compression)
  if ((await input.peek()).length > 0) {
    throw new DecompressionError(`other data follows the ${compression} data, and is not read`)
  }
}

async function* unpackFrame(input: FrameInput, compression: Compression): AsyncGenerator<Buffer> {
  const unpacked = compression === 'gzip' ? zlib.createGunzip() : zstd().createZstdDecompress()
  const feed = Readable.from(input.chunks())
  // An error of the input belongs to the caller, and is passed on unchanged.
  feed.on('error', (error) => unpacked.destroy(error))
  try {
    for await (const chunk of feed.pipe(unpacked)) {
      input.consumed(unpacked.bytesWritten)
      if (Buffer.isBuffer(chunk)) yield chunk
    }
    input.endFrame(unpacked.bytesWritten)
  } catch (error) {
    throw isZlibError(error) ? new DecompressionError(describe(error, compression)) : error
  } finally {
    feed.destroy()
    unpacked.destroy()
  }
}

/** Compressed input. It keeps what it has returned until that is known to be consumed, because a frame may end within it. */
class FrameInput {
  readonly #source: AsyncIterator<Uint8Array>
  #kept: Uint8Array[] = []
  /** The number of chunks and bytes that were dropped. */
  #droppedChunks = 0
  #droppedBytes = 0
  #frameStart = 0
  #bytesRead = 0

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source
  }

  get bytesRead(): number {
    return this.#bytesRead
  }

  /** The input from the start of the frame. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (let index = this.#droppedChunks; ; index++) {
      if (index >= this.#droppedChunks + this.#kept.length && !(await this.#read())) return
      const chunk = this.#kept[index - this.#droppedChunks]
      if (chunk !== undefined) yield chunk
    }
  }

  /** Drops the chunks within the first `length` bytes of the frame. */
  consumed(length: number): void {
    const end = this.#frameStart + length
    for (let first = this.#kept[0]; first !== undefined; first = this.#kept[0]) {
      if (this.#droppedBytes + first.length > end) return
      this.#kept.shift()
      this.#droppedChunks++
      this.#droppedBytes += first.length
    }
  }

  /** The frame was `length` bytes long, and the next one starts there. */
  endFrame(length: number): void {
    this.consumed(length)
    this.#frameStart += length
    const first = this.#kept[0]
    if (first === undefined) return
    this.#kept[0] = first.subarray(this.#frameStart - this.#droppedBytes)
    this.#droppedBytes = this.#frameStart
  }

  /** The next bytes, at least four if the input has them. */
  async peek(): Promise<Buffer> {
    while (this.#kept.reduce((sum, chunk) => sum + chunk.length, 0) < 4 && (await this.#read()));
    return Buffer.concat(this.#kept)
  }

  async #read(): Promise<boolean> {
    const next = await this.#source.next()
    if (next.done === true) return false
    this.#kept.push(next.value)
    this.#bytesRead += next.value.length
    return true
  }
}

/**
 * Unpacks one record of a file whose records the Collector compresses separately (`compression: zstd`).
 *
 * @throws DecompressionError if it is damaged or larger than `maxBytes`
 */
export function decompressRecord(bytes: Uint8Array, maxBytes: number): Buffer {
  try {
    return zstd().zstdDecompressSync(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new DecompressionError(`a record that unpacks to more than ${maxBytes} bytes`)
    }
    throw isZlibError(error) ? new DecompressionError(describe(error, 'zstd')) : error
  }
}

function zstd(): typeof zlib {
  const complaint = complainOfNode(process.version)
  if (complaint !== undefined) throw new DecompressionError(`zstd: ${complaint}`)
  return zlib
}

function isZlibError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^Z(STD)?_/.test(error.code)
}

function describe(error: { readonly code: string }, compression: Compression): string {
  // Z_BUF_ERROR: the input ended before the data did.
  return error.code === 'Z_BUF_ERROR' ? `the ${compression} data is cut off` : `the ${compression} data is damaged`
}
