import type { SourceSpan } from 'spanscore/engine'

/** Maximum number of attributes of a span or an event that are kept. */
const MAX_ATTRIBUTES = 48

/** Maximum characters of a value that are kept. */
const MAX_CHARACTERS = 1000

/** Maximum number of events of a span that are kept. */
const MAX_EVENTS = 8

type Attributes = SourceSpan['attributes']

/**
 * Reduces a span of no agent, such as a database client's, so that it does not fill the page's database: people look at it, but no scorer
 * reads it. What was dropped is counted as in OpenTelemetry.
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

/** Small arrays and objects are kept unchanged; of large ones, the beginning of their JSON is. */
function boundedValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= MAX_CHARACTERS ? value : cut(text)
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…`
}
