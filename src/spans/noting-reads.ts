import type { SourceSpan } from './source-span.ts'

/** A span like this one, which adds the values of the attributes that are read to a list. */
export function notingReads(span: SourceSpan, values: unknown[]): SourceSpan {
  const attributes = new Proxy(span.attributes, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      values.push(value)
      return value
    },
  })
  return new Proxy(span, { get: (target, key) => (key === 'attributes' ? attributes : Reflect.get(target, key)) })
}
