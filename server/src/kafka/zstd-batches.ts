import { zstdDecompressSync } from 'node:zlib'

import { compressionsAlgorithms } from '@platformatic/kafka'

/** The size of the pieces in which Node.js collects output by default. */
const PIECE_BYTES = 16 * 1024

/** Maximum number of bytes that are allocated in advance. */
const MAX_SIZED_BYTES = 16 * 1024 * 1024

/**
 * Lets the client library decompress a batch of records into one buffer of the right size. Otherwise it collects small pieces and copies
 * them, which takes a worker a twelfth of its time. The library has no option for that.
 */
export function decompressIntoOneBuffer(): void {
  Object.assign(compressionsAlgorithms.zstd, { decompressSync: decompressZstd })
}

/** Decompresses the records of a batch. */
export function decompressZstd(batch: Buffer): Buffer {
  const bytes = contentBytesOf(batch)
  if (bytes === undefined || bytes < PIECE_BYTES || bytes > MAX_SIZED_BYTES) return zstdDecompressSync(batch)
  // Node.js allocates another piece as soon as one is full, so there is room for one byte more.
  return zstdDecompressSync(batch, { chunkSize: bytes + 1 })
}

/** The size of the content in the header of a zstd frame (RFC 8878, section 3.1.1.1); `undefined` if it has none, or is tiny. */
export function contentBytesOf(frame: Buffer): number | undefined {
  const descriptor = frame[4] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes
  if (frame.byteLength < at + 8) return undefined
  switch (descriptor >> 6) {
    case 0:
      return isSingleSegment ? frame.readUInt8(at) : undefined
    case 1:
      return frame.readUInt16LE(at) + 256
    case 2:
      return frame.readUInt32LE(at)
    default:
      return Number(frame.readBigUInt64LE(at))
  }
}
