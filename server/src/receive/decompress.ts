import { promisify } from 'node:util'
import { gunzip, gunzipSync, inflate, inflateSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'

import { Refusal } from './refusal.ts'

const DECOMPRESS = {
  gzip: { async: promisify(gunzip), sync: gunzipSync },
  deflate: { async: promisify(inflate), sync: inflateSync },
  zstd: { async: promisify(zstdDecompress), sync: zstdDecompressSync },
} as const

/** The output grows by blocks of this size. Requests are large: with the default of 16 KiB, much time goes into joining blocks. */
const CHUNK_BYTES = 256 * 1024

/**
 * Decompresses the body of a request, on another thread.
 *
 * @param contentEncoding As in HTTP; empty for none.
 * @throws Refusal where the encoding is not known, the body is broken, or it grows over the limit
 */
export async function decompress(body: Buffer, contentEncoding: string, maxBytes: number): Promise<Uint8Array> {
  if (contentEncoding === '' || contentEncoding === 'identity') return body
  if (!isKnown(contentEncoding)) {
    throw new Refusal('unsupported-type', 'Expected Content-Encoding gzip, zstd, deflate or none, got another.')
  }
  try {
    const out = await DECOMPRESS[contentEncoding].async(body, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES })
    return withoutRest(out)
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw isTooLarge
      ? new Refusal(
          'too-large',
          `Expected a body of at most ${maxBytes} bytes once it is decompressed, got a larger one.`,
        )
      : new Refusal(
          'malformed',
          `Expected a body compressed with ${contentEncoding}, got one that does not decompress.`,
        )
  }
}

/** Decompresses what has been decompressed before, and was found good. */
export function decompressAgain(body: Uint8Array, contentEncoding: string): Uint8Array {
  return isKnown(contentEncoding)
    ? withoutRest(DECOMPRESS[contentEncoding].sync(body, { chunkSize: CHUNK_BYTES }))
    : body
}

/** A small body would keep the block in memory that it is at the beginning of, for as long as its spans wait. */
function withoutRest(body: Uint8Array): Uint8Array {
  return body.byteLength < body.buffer.byteLength / 2 ? new Uint8Array(body) : body
}

function isKnown(encoding: string): encoding is keyof typeof DECOMPRESS {
  return Object.hasOwn(DECOMPRESS, encoding)
}
