import { z } from 'zod'

import { percent } from '../../../server/page/src/format.ts'

/** A field of an answer. */
interface Field {
  readonly kind: string
  /** Where its value is, such as `agent/name`. */
  readonly place: string
  /** The fields in it, and whether it is a list of such. */
  readonly inside?: Fields
  readonly isList?: boolean
}

/** The fields of an answer, by their names. */
export type Fields = Readonly<Record<string, Field>>

/** The kinds of fields: the schema, and how a value of the page's interface is shown. */
const KINDS: Readonly<Record<string, readonly [z.ZodType, (value: unknown) => unknown]>> = {
  name: [z.string(), (value) => (typeof value === 'string' ? value : undefined)],
  names: [z.array(z.string()), (value) => value],
  content: [z.string(), (value) => (typeof value === 'string' ? value : JSON.stringify(value))],
  number: [z.number(), (value) => Number(Number(value).toPrecision(6))],
  numbers: [z.array(z.number()), (value) => value],
  flag: [z.boolean(), Boolean],
  share: [z.number(), (value) => (Number.isFinite(value) ? percentOf(Number(value)) : undefined)],
  shares: [z.array(z.number()), (value) => (Array.isArray(value) ? value.map((each) => percentOf(Number(each))) : [])],
  time: [z.string(), (value) => isoTime(Number(value))],
}

/**
 * Fields in a line: `id contentAnswer ended:time@end_ms agent@agent/name scores[ scorer value:number ]`. A field without a kind is a name, or content if
 * it begins so; one without a place has the value of its own name, without `content`. The fields alone say what leaves, and what of it is a text of strangers.
 */
export function fieldsIn(line: string): Fields {
  const words = line.split(/\s+/)
  const read = (): Fields => {
    const fields: Record<string, Field> = {}
    for (let word = words.shift(); word !== undefined && word !== ']' && word !== '}'; word = words.shift()) {
      const [, name = '', kind, place, bracket] = /^(\w+)(?::(\w+))?(?:@([^[{]+))?([[{])?$/.exec(word) ?? []
      const isContent = name.startsWith('content')
      const own = isContent ? name.charAt(7).toLowerCase() + name.slice(8) : name
      const inside = bracket === undefined ? {} : { inside: read(), isList: bracket === '[' }
      fields[name] = { kind: kind ?? (isContent ? 'content' : 'name'), place: place ?? own, ...inside }
    }
    return fields
  }
  return read()
}

/** The schema of fields. Each may be absent. */
export function schemaOf(fields: Fields): z.ZodObject {
  const schemas = Object.entries(fields).map(([name, { kind, inside, isList }]) => {
    const one = inside === undefined ? KINDS[kind]?.[0] : schemaOf(inside)
    return [name, (isList === true && one ? z.array(one) : one)?.optional()]
  })
  return z.object(Object.fromEntries(schemas))
}

/** What the fields have of a value. */
export function pickFields(fields: Fields, value: unknown): Readonly<Record<string, unknown>> {
  const picked = Object.entries(fields).map(([name, { kind, place, inside, isList }]) => {
    const found = valueAt(value, place)
    if (found === undefined || found === null) return [name, undefined]
    if (inside === undefined) return [name, KINDS[kind]?.[1](found)]
    return [
      name,
      isList === true && Array.isArray(found)
        ? found.map((each) => pickFields(inside, each))
        : pickFields(inside, found),
    ]
  })
  return Object.fromEntries(picked)
}

function valueAt(value: unknown, place: string): unknown {
  return place
    .split('/')
    .reduce((inside, key) => new Map<string, unknown>(Object.entries(Object(inside))).get(key), value)
}

/** A share in percent, rounded as on the page. */
export function percentOf(value: number): number {
  return Math.sign(value) * Number.parseFloat(percent(Math.abs(value)))
}

/** Milliseconds since the epoch as ISO 8601. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
