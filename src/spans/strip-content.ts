import { isContentAttribute } from './content/content-attributes.ts'
import type { Dialect } from './dialect.ts'
import type { EndedSpan } from './sdk-types.ts'

/** Texts of exceptions and of evaluators, which may quote content. No dialect reads them as content. */
const QUOTING_TEXT: ReadonlySet<string> = new Set([
  'exception.message',
  'exception.stacktrace',
  'error.message',
  'error.stack',
  'error.data',
  'gen_ai.evaluation.explanation',
  'spanscore.findings',
])
const CONTENT_EVENT =
  /^(?:gen_ai\.(?:content\.|system\.|user\.|assistant\.|tool\.|choice$|client\.inference)|db\.(?:query|search)\.(?:result|embeddings)$)/

/** Whether `stripContent` removes an attribute of a span, event or link: content that dialects read, and texts that may quote it. */
export function isStripped(key: string, dialect?: Dialect): boolean {
  return isContentAttribute(key, dialect) || QUOTING_TEXT.has(key)
}

type SpanEvent = EndedSpan['events'][number]

export function eventWithoutContent(event: SpanEvent, dialect: Dialect | undefined): SpanEvent {
  const { attributes } = event
  if (attributes === undefined) return event
  return {
    ...event,
    attributes: CONTENT_EVENT.test(event.name) ? onlyNames(attributes) : withoutContent(attributes, dialect),
  }
}

type SpanLink = EndedSpan['links'][number]

export function linkWithoutContent(link: SpanLink): SpanLink {
  return link.attributes === undefined ? link : { ...link, attributes: withoutContent(link.attributes) }
}

export function withoutContent(
  attributes: Readonly<Record<string, unknown>>,
  dialect?: Dialect,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => !isStripped(key, dialect)))
}

/** Shorter content is not looked for in names, because it may be part of one by chance. */
const LEAST_CONTENT = 12

/**
 * A span's name without the content that some instrumentations build it from: a task's description, for example. What was removed from the
 * attributes is removed from the name, unless an attribute that stays holds it, too.
 *
 * @param kept the attributes that stay
 */
export function nameWithoutContent(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
  kept: Readonly<Record<string, unknown>>,
): string {
  let shown = name
  let keptValues: ReadonlySet<unknown> | undefined
  for (const key of Object.keys(attributes)) {
    const value = attributes[key]
    if (typeof value !== 'string' || value.length < LEAST_CONTENT || !shown.includes(value)) continue
    keptValues ??= new Set(Object.values(kept))
    if (Object.hasOwn(kept, key) || keptValues.has(value)) continue
    shown = shown.replaceAll(value, '[removed]')
  }
  return shown
}

/** Reduces a message event to its kind, without its content. */
function onlyNames(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes).filter(([key]) => key === 'gen_ai.system' || key === 'event.name' || key === 'role'),
  )
}

export function withoutMessage(status: EndedSpan['status']): EndedSpan['status'] {
  return { code: status.code }
}
