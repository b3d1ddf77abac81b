import type { SourceSpan } from 'spanscore/engine'

/** Attributes of one span, or of one of its events, that are kept. */
const MAX_ATTRIBUTES = 48

/** Characters of one value that are kept. */
const MAX_CHARACTERS = 1000

/** Events of one span that are kept. */
const MAX_EVENTS = 8

type Attributes = SourceSpan['attributes']

/**
 * A span of no agent, such as one of a database client, without what would fill the database of the page: people look at it, and no
 * scorer reads it. What was left out is counted as OpenTelemetry counts it.
 */
export function boundedSpan(span: SourceSpan): SourceSpan {
  const attributes = boundedAttributes(span.attributes)
  const left = Object.keys(span.attributes).length - Object.keys(attributes).length
  return {
    ...span,
    name: cut(span.name),
    attributes,
    events: span.events
      .slice(0, MAX_EVENTS)
      .map((event) => ({ ...event, name: cut(event.name), attributes: boundedAttributes(event.attributes) })),
    resource: boundedAttributes(span.resource),
    status: span.status.message === undefined ? span.status : { ...span.status, message: cut(span.status.message) },
    droppedAttributesCount: span.droppedAttributesCount + left,
  }
}

function boundedAttributes(attributes: Attributes): Attributes {
  const kept = Object.entries(attributes).slice(0, MAX_ATTRIBUTES)
  return Object.fromEntries(kept.map(([key, value]) => [cut(key), boundedValue(value)]))
}

/** Lists and objects are kept as they are where they are small, else as the beginning of their JSON. */
function boundedValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= MAX_CHARACTERS ? value : cut(text)
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…`
}
