/** A value of a span or log attribute that every SDK line accepts. */
export type AttributeValue = string | number | boolean

/** Attributes by name. */
export type ScoreAttributes = Record<string, AttributeValue>

/** An attribute that is written. */
export interface AttributeDoc {
  readonly type: keyof ValueOf
  /** What it means, as the reference says it. */
  readonly doc: string
}

/** Values by the type that the reference gives an attribute. */
interface ValueOf {
  readonly string: string
  readonly double: number
  readonly int: number
  readonly boolean: boolean
}

/** What may be written of a table of attributes. */
export type AttributeValues<Table extends Readonly<Record<string, AttributeDoc>>> = {
  -readonly [Name in keyof Table]?: ValueOf[Table[Name]['type']]
}

const TYPES = { string: 'string', double: 'number', int: 'number', boolean: 'boolean' } as const

/** The value of an attribute that was read; `undefined` if it is absent or of another type. */
export type ReadAttribute<Doc extends AttributeDoc> = ValueOf[Doc['type']] | undefined

/** @returns the value as it is, if it has the documented type */
export function readAttribute<Doc extends AttributeDoc>({ type }: Doc, value: unknown): ReadAttribute<Doc> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the line compares the type
  return typeof value === TYPES[type] ? (value as ReadAttribute<Doc>) : undefined
}
