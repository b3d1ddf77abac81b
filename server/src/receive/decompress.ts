import {
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'

import type { RequestBytes } from './bytes-in-flight.ts'
import { Refusal } from './refusal.ts'

const DECOMPRESS = {
  gzip: { create: createGunzip, sync: gunzipSync },
  deflate: { create: createInflate, sync: inflateSync },
  zstd: { create: createZstdDecompress, sync: zstdDecompressSync },
} as const

/** The output grows in blocks of this size. Requests are large, and with the default of 16 KiB, joining blocks takes much time. */
const CHUNK_BYTES = 256 * 1024

/** Maximum size of a block that is made for a whole body. A sender may state any size. */
const MAX_CHUNK_BYTES = 4 * 1024 * 1024

/** Room in a block beyond the stated size, so that the end of the body is found without a further block. */
const SPARE_BYTES = 64

/**
 * Decompresses the body of a request on another thread.
 *
 * @param contentEncoding as in HTTP; empty for none
 * @param held counts the output
 * @param givenUp rejects when the body is no longer needed
 * @throws Refusal if the encoding is unknown, the body is broken, or it exceeds the limit
 */
export async function decompressBody(
  body: Buffer,
  contentEncoding: string,
  maxBytes: number,
  held: RequestBytes,
  givenUp: Promise<never>,
): Promise<Uint8Array> {
  if (contentEncoding === '' || contentEncoding === 'identity') return body
  if (!isKnown(contentEncoding)) {
    throw new Refusal('unsupported-type', 'Expected Content-Encoding gzip, zstd, deflate or none, got another.')
  }
  const stream = DECOMPRESS[contentEncoding].create({ chunkSize: chunkBytes(body, contentEncoding) })
  const chunks: Buffer[] = []
  let bytes = 0
  const whole = new Promise<void>((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength
      if (bytes > maxBytes) {
        reject(
          new Refusal(
            'too-large',
            `Expected a body of at most ${maxBytes} bytes once it is decompressed, got a larger one.`,
          ),
        )
        return
      }
      chunks.push(chunk)
      held.add(chunk.byteLength)
    })
    stream.on('end', resolve)
    stream.on('error', () =>
      reject(
        new Refusal(
          'malformed',
          `Expected a body compressed with ${contentEncoding}, got one that does not decompress.`,
        ),
      ),
    )
  })
  try {
    stream.end(body)
    await Promise.race([whole, givenUp])
  } finally {
    stream.destroy()
  }
  return withoutRest(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes))
}

/** Decompresses a body that was successfully decompressed before. */
export function decompressAgain(body: Uint8Array, contentEncoding: string): Uint8Array {
  return isKnown(contentEncoding)
    ? withoutRest(DECOMPRESS[contentEncoding].sync(body, { chunkSize: chunkBytes(body, contentEncoding) }))
    : body
}

/**
 * The size of the blocks for a body. The last four bytes of gzip state how long the body is once it is decompressed: a block of that size
 * needs no copy. A wrong number only changes the number of blocks, of which there are at most about a thousand, because none is smaller
 * than the compressed body.
 */
function chunkBytes(body: Uint8Array, contentEncoding: string): number {
  const { byteLength } = body
  if (contentEncoding !== 'gzip' || byteLength < 4) return CHUNK_BYTES
  const stated = new DataView(body.buffer, body.byteOffset, byteLength).getUint32(byteLength - 4, true)
  return stated < byteLength || stated > MAX_CHUNK_BYTES ? CHUNK_BYTES : stated + SPARE_BYTES
}

/** Copies a small body, which would otherwise keep its whole block in memory while its spans wait. */
function withoutRest(body: Uint8Array): Uint8Array {
  return body.byteLength < body.buffer.byteLength / 2 ? new Uint8Array(body) : body
}

function isKnown(encoding: string): encoding is keyof typeof DECOMPRESS {
  return Object.hasOwn(DECOMPRESS, encoding)
}
