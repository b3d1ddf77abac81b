import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'

type AttributeValue = string | number | boolean | string[] | number[] | boolean[]

/** Creates a resource of the SDK. Values that are not valid attributes are omitted. */
export function toResource(attributes: Readonly<Record<string, unknown>>): Resource {
  return resourceFromAttributes(
    Object.fromEntries(
      Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => isAttribute(entry[1])),
    ),
  )
}

function isAttribute(value: unknown): value is AttributeValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === typeof value[0] && isAttribute(item))
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
