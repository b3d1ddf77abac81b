import type { BinaryReader } from '@bufbuild/protobuf/wire'
import { setAttribute } from './batch.ts'

type Attributes = Record<string, unknown>

/** Protobuf's wire reader with its bytes: values that every span has are read from them without a copy. */
export type Reader = BinaryReader & { readonly source: Buffer }

/** Deeper values are dropped. They only occur in damaged or hostile data. */
const MAX_DEPTH = 200

/** Wire types of the protobuf encoding. */
export const VARINT = 0
export const FIXED_64 = 1
/** Strings, bytes and messages. */
export const LENGTH_DELIMITED = 2
export const FIXED_32 = 5

/** Reads the attributes of a message up to `end`. They are a list with this field number. */
export function readAttributeList(reader: Reader, end: number, listField: number): Attributes {
  const attributes: Attributes = {}
  eachField(reader, end, (field, wireType) => {
    if (field !== listField || wireType !== LENGTH_DELIMITED) return false
    readKeyValue(reader, endOf(reader), attributes, false, 0)
    return true
  })
  return attributes
}

/** An empty value is no attribute; inside a structured value it is null. */
export function readKeyValue(reader: Reader, end: number, into: Attributes, keepsNull: boolean, depth: number): void {
  let key = ''
  let value: unknown
  // A loop instead of a callback: this runs for every attribute of every span, and closures would be half of all allocations.
  while (reader.pos < end) {
    const tag = readTag(reader)
    const field = tag >>> 3
    if (field === 1) key = readKey(reader)
    else if (field === 2) value = readValue(reader, endOf(reader), depth)
    else skipField(reader, tag)
  }
  checkEnd(reader, end)
  if (value !== undefined) setAttribute(into, key, value)
  else if (keepsNull) setAttribute(into, key, null)
}

/** Reads an `AnyValue` up to `end`. */
export function readValue(reader: Reader, end: number, depth: number): unknown {
  let value: unknown
  while (reader.pos < end) {
    const tag = readTag(reader)
    const field = tag >>> 3
    if (field === 1) value = readString(reader)
    else if (field === 2) value = reader.bool()
    else if (field === 3) value = readInteger(reader)
    else if (field === 4) value = reader.double()
    else if (field === 5) value = readArray(reader, endOf(reader), depth + 1)
    else if (field === 6) value = readObject(reader, endOf(reader), depth + 1)
    else if (field === 7) value = Buffer.from(reader.bytes()).toString('base64')
    else skipField(reader, tag)
  }
  checkEnd(reader, end)
  return value
}

function readArray(reader: Reader, end: number, depth: number): unknown[] {
  const values: unknown[] = []
  if (depth > MAX_DEPTH) reader.pos = end
  eachField(reader, end, (field) => {
    if (field !== 1) return false
    values.push(readValue(reader, endOf(reader), depth) ?? null)
    return true
  })
  return values
}

function readObject(reader: Reader, end: number, depth: number): Attributes {
  const object: Attributes = {}
  if (depth > MAX_DEPTH) reader.pos = end
  eachField(reader, end, (field) => {
    if (field !== 1) return false
    readKeyValue(reader, endOf(reader), object, true, depth)
    return true
  })
  return object
}

/** Calls `visit` for each field up to `end`. A field for which it returns false is skipped. */
export function eachField(reader: Reader, end: number, visit: (field: number, wireType: number) => boolean): void {
  while (reader.pos < end) {
    const tag = readTag(reader)
    if (!visit(tag >>> 3, tag & 7)) skipField(reader, tag)
  }
  checkEnd(reader, end)
}

/** @throws RangeError where a field ran past the end of its message */
export function checkEnd(reader: Reader, end: number): void {
  if (reader.pos !== end) throw new RangeError(`a field runs past the end of its message at byte ${end}`)
}

/** Reads a field number, times eight, plus its wire type. */
export function readTag(reader: Reader): number {
  const tag = readLength(reader)
  if (tag < 8 || (tag & 7) > FIXED_32) throw new RangeError(`expected a field at byte ${reader.pos}`)
  return tag
}

/** Skips the value of a field. The library's own method would allocate a view of it. */
export function skipField(reader: Reader, tag: number): void {
  const wireType = tag & 7
  if (wireType === LENGTH_DELIMITED) reader.pos = endOf(reader)
  else if (wireType === FIXED_64) reader.pos += 8
  else if (wireType === FIXED_32) reader.pos += 4
  else if (wireType === VARINT) readLength(reader)
  else reader.skip(wireType, tag >>> 3)
  if (reader.pos > reader.len) throw new RangeError(`a field runs past the end at byte ${reader.len}`)
}

/** Reads the length of a message and returns its end. */
export function endOf(reader: Reader): number {
  const length = readLength(reader)
  const end = reader.pos + length
  if (end > reader.len) throw new RangeError(`a message of ${length} bytes at byte ${reader.pos} runs past the end`)
  return end
}

/** The latest texts, each in the slot of its hash. */
type KeptTexts = (string | undefined)[]

/** A power of two. */
const KEPT_TEXTS = 4096

/** There are usually a few hundred attribute keys. Each string is created once and looked up by its bytes. */
const keptKeys: KeptTexts = Array.from({ length: KEPT_TEXTS })
const MAX_KEPT_KEY = 64

/** Many short values are the same in thousands of spans, such as names of models, agents and operations. */
const keptValues: KeptTexts = Array.from({ length: KEPT_TEXTS })
const MAX_KEPT_VALUE = 24

/** Reads a string. Bytes that are not UTF-8 become U+FFFD. */
export function readString(reader: Reader): string {
  const end = endOf(reader)
  const start = reader.pos
  reader.pos = end
  return end - start > MAX_KEPT_VALUE
    ? textAt(reader.source, start, end)
    : keptText(keptValues, reader.source, start, end)
}

function readKey(reader: Reader): string {
  const end = endOf(reader)
  const start = reader.pos
  reader.pos = end
  return end - start > MAX_KEPT_KEY ? textAt(reader.source, start, end) : keptText(keptKeys, reader.source, start, end)
}

function keptText(kept: KeptTexts, source: Buffer, start: number, end: number): string {
  let hash = end - start
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (source[at] ?? 0)) | 0
  const slot = hash & (KEPT_TEXTS - 1)
  const known = kept[slot]
  if (known !== undefined && isTextAt(known, source, start, end)) return known
  const text = textAt(source, start, end)
  // Only in ASCII is a byte a character.
  if (text.length === end - start) kept[slot] = text
  return text
}

function isTextAt(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false
  for (let at = start; at < end; at++) if (text.charCodeAt(at - start) !== bytes[at]) return false
  return true
}

/** UTF-8 is the default, and without its name Node.js does not look for the encoding. */
function textAt(source: Buffer, start: number, end: number): string {
  return source.toString(undefined, start, end)
}

function readInteger(reader: Reader): number | string {
  const first = reader.source[reader.pos] ?? 0
  if (first < 0x80 && reader.pos < reader.len) {
    reader.pos += 1
    return first
  }
  const value = reader.int64()
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** Reads a length or a tag, usually one byte. */
function readLength(reader: Reader): number {
  const first = reader.source[reader.pos]
  if (first === undefined || first >= 0x80) return reader.uint32()
  reader.pos += 1
  return first
}

/** Reads an id as hex digits; empty if its length is wrong or it is all zeros. */
export function readId(reader: Reader, byteLength: 8 | 16): string {
  const end = endOf(reader)
  const start = reader.pos
  reader.pos = end
  if (end - start !== byteLength) return ''
  const id = reader.source.toString('hex', start, end)
  return id === ZEROS[byteLength] ? '' : id
}

const ZEROS = { 8: '0'.repeat(16), 16: '0'.repeat(32) } as const

/** Reads a time in milliseconds since the epoch. */
export function readTime(reader: Reader, wireType: number): number {
  if (wireType !== FIXED_64) throw new RangeError(`expected a 64-bit time at byte ${reader.pos}`)
  const at = reader.pos
  if (at + 8 > reader.len) throw new RangeError(`a time runs past the end at byte ${at}`)
  reader.pos = at + 8
  // The sum is rounded once, like the conversion of a 64-bit integer.
  return (reader.source.readUInt32LE(at + 4) * 2 ** 32 + reader.source.readUInt32LE(at)) / 1e6
}
