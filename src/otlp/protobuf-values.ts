import type { BinaryReader as Reader } from '@bufbuild/protobuf/wire'
import { setAttribute } from './batch.ts'

type Attributes = Record<string, unknown>

/** Deeper values are cut: they come from damaged or hostile bytes only. */
const MAX_DEPTH = 200

/** The wire type of texts, bytes and messages. */
export const LENGTH_DELIMITED = 2

/** The attributes of a message that holds them in a list of this field number, up to `end`. */
export function readAttributeList(reader: Reader, end: number, listField: number): Attributes {
  const attributes: Attributes = {}
  eachField(reader, end, (field, wireType) => {
    if (field !== listField || wireType !== LENGTH_DELIMITED) return false
    readKeyValue(reader, endOf(reader), attributes, false, 0)
    return true
  })
  return attributes
}

/** In attributes an empty value is none; inside a structured value it is null. */
export function readKeyValue(reader: Reader, end: number, into: Attributes, keepsNull: boolean, depth: number): void {
  let key = ''
  let value: unknown
  eachField(reader, end, (field) => {
    if (field === 1) key = reader.string()
    else if (field === 2) value = readValue(reader, endOf(reader), depth)
    else return false
    return true
  })
  if (value !== undefined) setAttribute(into, key, value)
  else if (keepsNull) setAttribute(into, key, null)
}

/** An `AnyValue`, up to `end`. */
export function readValue(reader: Reader, end: number, depth: number): unknown {
  let value: unknown
  eachField(reader, end, (field) => {
    if (field === 1) value = reader.string()
    else if (field === 2) value = reader.bool()
    else if (field === 3) value = toInteger(reader.int64())
    else if (field === 4) value = reader.double()
    else if (field === 5) value = readArray(reader, endOf(reader), depth + 1)
    else if (field === 6) value = readObject(reader, endOf(reader), depth + 1)
    else if (field === 7) value = Buffer.from(reader.bytes()).toString('base64')
    else return false
    return true
  })
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

/** Calls `visit` for each field up to `end`; what it does not read (false) is skipped. */
export function eachField(reader: Reader, end: number, visit: (field: number, wireType: number) => boolean): void {
  while (reader.pos < end) {
    const [field, wireType] = reader.tag()
    if (!visit(field, wireType)) reader.skip(wireType, field)
  }
  if (reader.pos !== end) throw new RangeError(`a field runs past the end of its message at byte ${end}`)
}

/** Reads the length of a message and says where it ends. */
export function endOf(reader: Reader): number {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) throw new RangeError(`a message of ${length} bytes at byte ${reader.pos} runs past the end`)
  return end
}

function toInteger(value: bigint | string): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
