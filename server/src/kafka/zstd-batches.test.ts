import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib'

import { compressionsAlgorithms } from '@platformatic/kafka'
import { expect, it } from 'vitest'

import { contentBytesOf, decompressIntoOneBuffer, decompressZstd } from './zstd-batches.ts'

const textOf = (bytes: number): Buffer => Buffer.from('Weather in Oslo? '.repeat(bytes)).subarray(0, bytes)

it.each([200, 255, 256, 300, 65_791, 65_792, 200_000, 17_000_000])(
  'reads the size in the header of a frame with %i bytes, and decompresses it',
  (bytes) => {
    const content = textOf(bytes)
    const frame = zstdCompressSync(content, { pledgedSrcSize: bytes })
    expect(contentBytesOf(frame)).toBe(bytes)
    expect(decompressZstd(frame).equals(content)).toBe(true)
  },
)

it('uses one buffer for a batch, without spare capacity for more than a byte', () => {
  const content = textOf(200_000)
  expect(decompressZstd(zstdCompressSync(content, { pledgedSrcSize: 200_000 })).buffer.byteLength).toBe(200_001)
})

it('decompresses a frame without a size', async () => {
  const content = textOf(200_000)
  const stream = createZstdCompress()
  stream.write(content.subarray(0, 100_000))
  stream.flush(constants.ZSTD_e_flush)
  stream.end(content.subarray(100_000))
  const unsized = Buffer.concat(await stream.toArray())
  expect(contentBytesOf(unsized)).toBeUndefined()
  expect(decompressZstd(unsized).equals(content)).toBe(true)
})

it('throws for bytes that are not zstd, however few', () => {
  for (const bytes of [0, 3, 12, 100]) expect(() => decompressZstd(Buffer.alloc(bytes, 7))).toThrow(/frame|end of file/)
})

it('replaces the decompression of the client library', () => {
  decompressIntoOneBuffer()
  expect(compressionsAlgorithms.zstd.decompressSync).toBe(decompressZstd)
})
