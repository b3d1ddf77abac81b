import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'

/** Objects (SDK 3.x keeps them in attributes) are counted to this depth; deeper ones are bounded by their JSON's own size. */
const MAX_DEPTH = 6

/** Bytes of a span's attributes and events, estimated: one for each character of every string, eight for all else. */
export function contentBytesOf(span: SdkSpanLike): number {
  const { attributes } = span
  let bytes = 0
  // Own keys and inherited ones alike: attributes are plain objects, and `in` order costs no array.
  // oxlint-disable-next-line eslint/guard-for-in
  for (const key in attributes) {
    const value = attributes[key]
    bytes += typeof value === 'string' ? value.length : bytesOf(value, 1)
  }
  for (const event of span.events) bytes += bytesOf(event.attributes)
  return bytes
}

/** Bytes of a value, estimated in the same way. */
export function bytesOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 8
  if (value instanceof Uint8Array) return value.byteLength
  let bytes = 0
  if (Array.isArray(value)) {
    for (const item of value) bytes += bytesOf(item, depth + 1)
    return bytes
  }
  for (const item of Object.values(value)) bytes += bytesOf(item, depth + 1)
  return bytes
}
