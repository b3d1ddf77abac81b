import { gzipSync } from 'node:zlib'

import { expect, it } from 'vitest'

import { BytesInFlight } from './bytes-in-flight.ts'
import { decompressBody, decompressAgain } from './decompress.ts'

const text = (bytes: number): Buffer => Buffer.from('some words of a prompt, '.repeat(bytes / 24))

const decompressed = async (body: Buffer, maxBytes = 20_000_000): Promise<Uint8Array> => {
  const held = new BytesInFlight(1e9).begin(() => undefined)
  return await decompressBody(body, 'gzip', maxBytes, held, new Promise<never>(() => undefined))
}

it.each([0, 24, 24_000, 2_400_000, 12_000_000])(
  'decompresses a body of %d bytes, each time it is needed',
  async (bytes) => {
    const body = gzipSync(text(bytes))
    expect(Buffer.compare(await decompressed(body), text(bytes))).toBe(0)
    expect(Buffer.compare(decompressAgain(body, 'gzip'), text(bytes))).toBe(0)
  },
)

it('allocates one block for a body that states its size', async () => {
  const whole = await decompressed(gzipSync(text(1_200_000)))
  expect(whole.buffer.byteLength).toBeLessThan(1_201_000)
})

it('reads bodies of several members, of which only the last one states its size at the end', async () => {
  const [large, small] = [text(4_800_000), text(24)]
  const body = Buffer.concat([gzipSync(large), gzipSync(small)])
  expect(Buffer.compare(await decompressed(body), Buffer.concat([large, small]))).toBe(0)
  await expect(decompressed(body, 1_000_000)).rejects.toThrow(/at most 1000000 bytes/)
})

it('refuses a body whose stated size is wrong', async () => {
  const body = gzipSync(text(24_000))
  body.writeUInt32LE(0xffffffff, body.byteLength - 4)
  await expect(decompressed(body)).rejects.toThrow(/does not decompress/)
})
