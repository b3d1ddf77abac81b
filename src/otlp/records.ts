import { ByteSource, MAX_RECORD_BYTES } from './byte-source.ts'
import { compressionOf, decompress, DecompressionError, decompressRecord } from './decompress.ts'
import type { Compression } from './decompress.ts'
import type { OtlpRecord } from './otlp-record.ts'
import { PendingDocument, tryParse } from './pending-document.ts'

/** Enough bytes to distinguish JSON from protobuf. */
const SNIFF_BYTES = 256

/**
 * Splits a stream of bytes into records: JSON (one document, in any format, or one document per line, as the Collector's file exporter
 * writes them) or protobuf (one request, or requests that each follow a four-byte length, as the Collector writes them). The whole stream
 * may be compressed with gzip or zstd; with the Collector's `compression: zstd`, each record is compressed after its length. Damage is
 * reported, and only loses the damaged record.
 */
export async function* readOtlpRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<OtlpRecord> {
  const source = new ByteSource(chunks)
  await source.fill(SNIFF_BYTES)
  const compression = compressionOf(source.peek(SNIFF_BYTES))
  if (compression === undefined) yield* readPlainRecords(source)
  else yield* readCompressedRecords(source, compression)
}

async function* readPlainRecords(source: ByteSource): AsyncGenerator<OtlpRecord> {
  await source.fill(SNIFF_BYTES)
  const start = source.peek(SNIFF_BYTES)
  if (isJson(start)) yield* readJsonRecords(source)
  else yield* readProtobufRecords(source, start[0] === 0x0a)
}

/** If data cannot be unpacked completely, everything before the damage is read first. */
async function* readCompressedRecords(source: ByteSource, compression: Compression): AsyncGenerator<OtlpRecord> {
  let damage: string | undefined
  async function* unpack(): AsyncGenerator<Buffer> {
    try {
      yield* decompress(source.rest(), compression)
    } catch (error) {
      if (!(error instanceof DecompressionError)) throw error
      damage = error.message
    }
  }
  const unpacked = new ByteSource(unpack())
  yield* readPlainRecords(unpacked)
  if (damage !== undefined)
    yield { kind: 'damaged', reason: damage, place: `byte ${unpacked.offset} of the unpacked data` }
}

/** Whether data starts like a JSON object or array, or at least has no control characters, which every protobuf request has. */
function isJson(start: Buffer): boolean {
  if (/^[\s\uFEFF]*(\{\s*("\w|\})|\[\s*(\{\s*"\w|\]))/.test(start.toString('utf8'))) return true
  return !start.some((byte) => byte < 9 || byte === 11 || byte === 12 || (byte > 13 && byte < 32))
}

/** The start of a request. Inside a document that never ended, it is the next record. */
const REQUEST_START = /^\s*\{\s*"resource(Spans|Logs|Metrics)"/

/**
 * A line that is a complete document is a record. Other lines are joined until their brackets close. JSON has no line breaks inside
 * strings, so each line can be checked by itself.
 */
async function* readJsonRecords(source: ByteSource): AsyncGenerator<OtlpRecord> {
  const pending = new PendingDocument()
  let lineNumber = 0
  for await (const bytes of source.lines()) {
    lineNumber++
    if (bytes === undefined) {
      yield { kind: 'damaged', reason: `longer than ${MAX_RECORD_BYTES} bytes`, place: `line ${lineNumber}` }
      pending.clear()
      continue
    }
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
    if (text.trim() === '') continue
    const isStart = REQUEST_START.test(text)
    if (pending.isEmpty || isStart) {
      const value = pending.isList ? undefined : tryParse(text)
      if (value !== undefined) {
        if (!pending.isEmpty) yield pending.toDamaged()
        pending.clear()
        yield { kind: 'json', value, place: `line ${lineNumber}` }
        continue
      }
    }
    if (isStart && !pending.isEmpty && !pending.isList) {
      yield pending.toDamaged()
      pending.clear()
    }
    const closed = pending.add(text, lineNumber)
    if (closed === 'open') continue
    yield pending.toRecord()
    pending.clear()
  }
  if (!pending.isEmpty) yield pending.toDamaged()
}

/**
 * A single request consists of field 1, repeated. Each entry is returned as a separate request, so that a large one is read in pieces.
 * Requests after a length are returned as they are.
 */
async function* readProtobufRecords(source: ByteSource, isSingleRequest: boolean): AsyncGenerator<OtlpRecord> {
  while (await source.fill(1)) {
    const place = `byte ${source.offset}`
    await source.fill(8)
    const header = isSingleRequest ? readEntryHeader(source.peek(6)) : readLengthHeader(source.peek(8))
    if (header === undefined) {
      const isUtf16 = source.offset === 0 && /^(?:\xFF\xFE|\xFE\xFF)/.test(source.peek(2).toString('latin1'))
      const reason = isUtf16 ? 'UTF-16: save it as UTF-8' : 'neither OTLP JSON nor OTLP protobuf'
      yield { kind: 'damaged', reason: `${reason}; the rest of the file is not read`, place }
      return
    }
    const length = header.keep + header.length
    source.skip(header.skip)
    const isWhole = length <= MAX_RECORD_BYTES && (await source.fill(length))
    if (!isWhole) {
      yield { kind: 'damaged', reason: `a record of ${length} bytes that the file does not hold whole`, place }
      return
    }
    const bytes = source.take(length)
    yield compressionOf(bytes) === undefined ? { kind: 'protobuf', bytes, place } : unpackRecord(bytes, place)
  }
}

/** Reads a record that the Collector compressed separately: JSON or protobuf. */
function unpackRecord(compressed: Uint8Array, place: string): OtlpRecord {
  try {
    const bytes = decompressRecord(compressed, MAX_RECORD_BYTES)
    if (!isJson(bytes.subarray(0, SNIFF_BYTES))) return { kind: 'protobuf', bytes, place }
    const value = tryParse(bytes.toString('utf8'))
    return value === undefined ? { kind: 'damaged', reason: 'not valid JSON', place } : { kind: 'json', value, place }
  } catch (error) {
    if (!(error instanceof DecompressionError)) throw error
    return { kind: 'damaged', reason: error.message, place }
  }
}

interface RecordHeader {
  /** Bytes of the header that are not part of the record. */
  readonly skip: number
  /** Bytes of the header that are part of the record. */
  readonly keep: number
  readonly length: number
}

/** Reads tag 0x0a and a varint of at most five bytes; both are part of the entry. */
function readEntryHeader(bytes: Buffer): RecordHeader | undefined {
  if (bytes[0] !== 0x0a) return undefined
  let length = 0
  for (let index = 1; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    length += (byte & 0x7f) * 2 ** (7 * (index - 1))
    if (byte < 0x80) return { skip: 0, keep: index + 1, length }
  }
  return undefined
}

/** Reads four bytes, big endian, before a request, which starts with 0x0a if it is not empty, or like compressed data. */
function readLengthHeader(bytes: Buffer): RecordHeader | undefined {
  if (bytes.length < 4) return undefined
  const length = bytes.readUInt32BE(0)
  const isRequest = length === 0 || bytes[4] === 0x0a || compressionOf(bytes.subarray(4)) === 'zstd'
  return isRequest ? { skip: 4, keep: 0, length } : undefined
}
