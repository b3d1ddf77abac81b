import { isRecord } from '../../spans/json.ts'

/** Deeper levels add nothing to an example. */
const DEEPEST = 8

/**
 * The least favourable value of a JSON Schema: the last choice, the lowest number, false, one item. It shows a judge the form of its reply,
 * and may violate patterns and similar constraints.
 */
export function exampleOf(schema: unknown): unknown {
  return exampleAt(schema, schema, 0)
}

function exampleAt(schema: unknown, root: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > DEEPEST) return '…'
  const inner = (part: unknown): unknown => exampleAt(part, root, depth + 1)
  const { $ref, enum: choices, anyOf, oneOf, allOf } = schema
  if (typeof $ref === 'string') return inner(referred($ref, root))
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(choices)) return choices.at(-1)
  const variants: unknown = anyOf ?? oneOf
  if (Array.isArray(variants)) return inner(variants[0])
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map(inner).filter(isRecord))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isRecord(schema.properties) ? schema.properties : {}).map(([key, part]) => [key, inner(part)]),
      )
    case 'array':
      return Array.isArray(schema.prefixItems) ? schema.prefixItems.map(inner) : [inner(schema.items)]
    case 'integer':
    case 'number':
      return [schema.minimum, schema.exclusiveMinimum, 0].find(Number.isFinite)
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return '…'
  }
}

/** Resolves `#/$defs/name`. */
function referred(reference: string, root: unknown): unknown {
  return reference
    .split('/')
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((at: unknown, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), root)
}
