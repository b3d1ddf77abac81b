interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly unknown[]
  readonly properties?: Readonly<Record<string, unknown>>
  readonly items?: unknown
  readonly minimum?: number
  readonly maximum?: number
}

/** The most or least favourable value of a JSON Schema: the first or last of a choice, the highest or lowest number. */
export function valueOfSchema(schema: unknown, favourable: boolean): unknown {
  if (!isSchema(schema)) return ''
  if (Array.isArray(schema.enum)) return schema.enum.at(favourable ? 0 : -1)
  if (schema.const !== undefined) return schema.const
  const [variant] = schema.anyOf ?? []
  if (variant !== undefined) return valueOfSchema(variant, favourable)
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, valueOfSchema(property, favourable)]),
      )
    case 'array':
      return [valueOfSchema(schema.items, favourable)]
    case 'number':
    case 'integer':
      return favourable ? (schema.maximum ?? 1) : (schema.minimum ?? 0)
    case 'boolean':
      return favourable
    case 'null':
      return null
    default:
      return ''
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}
