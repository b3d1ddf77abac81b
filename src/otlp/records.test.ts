import { gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OtlpRecord } from './otlp-record.ts'
import { readOtlpRecords } from './records.ts'

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Uint8Array | string, chunkSize = 7): Promise<OtlpRecord[]> {
  const records: OtlpRecord[] = []
  const chunks = inChunks(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, chunkSize)
  for await (const record of readOtlpRecords(chunks)) records.push(record)
  return records
}

function valuesOf(records: readonly OtlpRecord[]): unknown[] {
  return records.flatMap((record) => (record.kind === 'json' ? [record.value] : []))
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return length
}

const request = (name: string): object => ({ resourceSpans: [{ name }] })

describe('cutting a stream into records', () => {
  it('reads a pretty document, a line each, a list, and documents one after the other', async () => {
    const documents = [request('a'), request('b')]
    for (const text of [
      documents.map((item) => JSON.stringify(item)).join('\n'),
      documents.map((item) => JSON.stringify(item, null, 1)).join('\n'),
      `\uFEFF${documents.map((item) => JSON.stringify(item)).join('\r\n')}\r\n`,
    ]) {
      expect(valuesOf(await read(text))).toEqual(documents)
    }
    expect(valuesOf(await read(JSON.stringify(documents, null, 2)))).toEqual([documents])
    expect(valuesOf(await read(`[\n${documents.map((item) => JSON.stringify(item)).join(',\n')}\n]`))).toEqual([
      documents,
    ])
  })

  it('names the line of what is damaged and reads on', async () => {
    const good = JSON.stringify(request('good'))
    const records = await read([good, good.slice(0, 20), good, 'not json', '', good].join('\n'))
    expect(records.map((record) => `${record.kind} ${record.place}`)).toEqual([
      'json line 1',
      'damaged line 2',
      'json line 3',
      'damaged line 4',
      'json line 6',
    ])
  })

  it('does not take a document that never ends for all that follows', async () => {
    const cut = JSON.stringify(request('cut'), null, 1).split('\n').slice(0, 3).join('\n')
    const records = await read(`${cut}\n${JSON.stringify(request('next'))}\n`)
    expect(records).toEqual([
      { kind: 'damaged', place: 'lines 1-3', reason: 'the JSON is cut off' },
      { kind: 'json', place: 'line 4', value: request('next') },
    ])
  })

  it('says nothing of what a damaged line holds', async () => {
    const [record] = await read('{"resourceSpans": secret-token}')
    expect(record).toMatchObject({ kind: 'damaged' })
    expect(JSON.stringify(record)).not.toContain('secret')
  })

  it('reads length-delimited protobuf, empty records too, and stops at an invalid length', async () => {
    const message = Uint8Array.of(0x0a, 2, 0x12, 0)
    const record = Uint8Array.of(0, 0, 0, 4, ...message)
    const records = await read(Uint8Array.of(...record, 0, 0, 0, 0, ...record, 1, 2, 3, 4, 5))
    expect(records.map((item) => [item.kind, item.place])).toEqual([
      ['protobuf', 'byte 0'],
      ['protobuf', 'byte 8'],
      ['protobuf', 'byte 12'],
      ['damaged', 'byte 20'],
    ])
  })

  it('gives the entries of one protobuf request one by one', async () => {
    const records = await read(Uint8Array.of(0x0a, 2, 0x12, 0, 0x0a, 0))
    expect(records.map((item) => item.kind === 'protobuf' && [...item.bytes])).toEqual([
      [0x0a, 2, 0x12, 0],
      [0x0a, 0],
    ])
  })

  it('unpacks gzip and zstd, also in several members, and JSON or protobuf in them', async () => {
    const lines = ['a', 'b'].map((name) => Buffer.from(`${JSON.stringify(request(name))}\n`))
    const protobuf = Uint8Array.of(0, 0, 0, 4, 0x0a, 2, 0x12, 0)
    for (const pack of [gzipSync, zstdCompressSync]) {
      expect(valuesOf(await read(pack(Buffer.concat(lines))))).toEqual([request('a'), request('b')])
      expect(valuesOf(await read(Buffer.concat(lines.map((line) => pack(line)))))).toEqual([request('a'), request('b')])
      expect(await read(pack(protobuf))).toMatchObject([{ kind: 'protobuf', place: 'byte 0' }])
    }
  })

  it('reads records that the Collector compressed one by one, and names a damaged one', async () => {
    const packed = [
      zstdCompressSync(JSON.stringify(request('a'))),
      zstdCompressSync(Uint8Array.of(0x0a, 2, 0x12, 0)),
      Buffer.concat([zstdCompressSync('x').subarray(0, 4), Buffer.alloc(20, 0xff)]),
    ]
    const framed = packed.flatMap((bytes) => [lengthOf(bytes), bytes])
    expect(await read(Buffer.concat(framed))).toMatchObject([
      { kind: 'json', value: request('a') },
      { kind: 'protobuf' },
      { kind: 'damaged', reason: 'the zstd data is damaged' },
    ])
  })

  it('reads the readable part of a cut or damaged archive, and reports the damage', async () => {
    const lines = Array.from(
      { length: 2000 },
      (_, index) => `${JSON.stringify(request(`name ${index * 7919}`))}\n`,
    ).join('')
    for (const pack of [gzipSync, zstdCompressSync]) {
      const packed = pack(lines)
      const records = await read(packed.subarray(0, packed.length - 40), 1000)
      expect(records.at(-1)).toMatchObject({
        kind: 'damaged',
        reason: expect.stringMatching(/data is (cut off|damaged)/),
      })
      expect(valuesOf(records)[0] ?? request('name 0')).toEqual(request('name 0'))
    }
  })

  it('reports uncompressed bytes after compressed data', async () => {
    const line = `${JSON.stringify(request('a'))}\n`
    const records = await read(Buffer.concat([zstdCompressSync(line), Buffer.from('plain text')]))
    expect(records).toMatchObject([{ value: request('a') }, { reason: expect.stringContaining('other data follows') }])
  })

  it('limits the output of decompression bombs', { timeout: 60_000 }, async () => {
    const line = `${JSON.stringify(request('x'.repeat(100_000)))}\n`
    const block = Buffer.from(line.repeat(80))
    const bomb = zstdCompressSync(Buffer.concat(Array.from({ length: 50 }, () => block)))
    expect(bomb.length).toBeLessThan(1_000_000)
    let count = 0
    let last: OtlpRecord | undefined
    for await (const record of readOtlpRecords(inChunks(bomb, 65_536))) {
      count++
      last = record
    }
    expect(last).toMatchObject({ kind: 'damaged', reason: expect.stringContaining('grows more than 250-fold') })
    expect(count).toBeLessThan(3500)
  })

  it('names UTF-16', async () => {
    const records = await read(Buffer.from(`\uFEFF${JSON.stringify(request('a'))}`, 'utf16le'), 1000)
    expect(records).toMatchObject([{ kind: 'damaged', reason: expect.stringMatching(/^UTF-16: save it as UTF-8/) }])
  })

  it('gives the same records however the bytes are cut, and never throws', async () => {
    const json = fc.array(fc.oneof(fc.constant(JSON.stringify(request('ü日本'))), fc.string(), fc.json()), {
      maxLength: 8,
    })
    const bytes = fc.oneof(
      json.map((lines) => Buffer.from(lines.join('\n'))),
      fc.uint8Array({ maxLength: 400 }),
    )
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 50 }), async (input, size) => {
        expect(await read(input, size)).toEqual(await read(input, 1000))
      }),
    )
  })
})
