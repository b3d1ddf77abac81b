import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Span } from '@opentelemetry/api'
import type { TracerProvider } from '@opentelemetry/sdk-trace'

import type { ScoringSpanProcessor } from 'spanscore'

import type { SourceSpan } from '../../src/spans/source-span.ts'
import { strangeLog } from './logs.ts'
import type { Random } from './random.ts'
import type { RepeatedIds } from './repeated-ids.ts'
import { strangeKey, strangeValue } from './values.ts'

/** Changes a span as no library would. It changes the SDK's own fields, because the API would refuse most of these values. */
function mutate(span: Span, random: Random): void {
  const attributes: unknown = Reflect.get(span, 'attributes')
  if (typeof attributes !== 'object' || attributes === null) return
  for (let change = random.integer(3); change > 0; change -= 1) {
    const keys = Object.keys(attributes)
    const key = random.chance(0.7) && keys.length > 0 ? random.pick(keys) : strangeKey(random)
    const value = strangeValue(random)
    Object.defineProperty(attributes, key, { value, enumerable: true, writable: true, configurable: true })
  }
  if (random.chance(0.1)) Reflect.set(span, 'status', { code: 2, message: strangeValue(random) })
  if (random.chance(0.05)) Reflect.set(span, 'name', random.pick(['', '__proto__', 'execute_tool constructor']))
  const links: unknown = Reflect.get(span, 'links')
  if (random.chance(0.05) && Array.isArray(links)) {
    const ofLink = { [strangeKey(random)]: strangeValue(random), 'gen_ai.input.messages': strangeValue(random) }
    links.push(random.chance(0.8) ? { context: span.spanContext(), attributes: ofLink } : strangeValue(random))
  }
  const events: unknown = Reflect.get(span, 'events')
  if (!random.chance(0.05) || !Array.isArray(events)) return
  const values = { 'exception.message': strangeValue(random), content: strangeValue(random) }
  events.push({ name: random.pick(['exception', 'gen_ai.user.message']), time: [0, 0], attributes: values })
}

/** Where recordings are played. */
export interface Stage {
  readonly provider: TracerProvider
  readonly scoring: Pick<ScoringSpanProcessor, 'logRecordProcessor'>
  readonly random: Random
  /** If given, some parents are named by such an id. */
  readonly ids: RepeatedIds | undefined
  /** Runs each hook; its first argument describes the hook. */
  readonly timed: (what: string, hook: () => void) => void
}

/**
 * Plays the spans of a recording on a real provider: in another order, with spans that are lost, doubled, changed, or never
 * end, and attributes that come at the start or later; with links, and log records that nobody would write.
 *
 * @returns how many spans ended
 */
export function playMutated(recorded: readonly SourceSpan[], { provider, scoring, random, ids, timed }: Stage): number {
  const spans = [...recorded]
  if (random.chance(0.2)) spans.push(random.pick(spans))
  if (random.chance(0.2)) spans.splice(random.integer(spans.length), 1)
  if (random.chance(0.2)) spans.sort(() => random.next() - 0.5)
  const started = new Map<string, Span>()
  const open: Span[] = []
  let ended = 0
  const endOne = (index: number): void => {
    const [span] = open.splice(index, 1)
    if (span === undefined || random.chance(0.02)) return
    if (random.chance(0.4)) mutate(span, random)
    timed('the end of a span', () => span.end())
    ended += 1
  }
  for (const source of spans) {
    const known = random.chance(0.95)
      ? started.get(source.parentSpanId ?? '')
      : [...started.values()][random.integer(started.size + 1)]
    const named = random.chance(0.3) ? ids?.parent() : undefined
    const context =
      named !== undefined
        ? trace.setSpanContext(ROOT_CONTEXT, named)
        : known === undefined
          ? ROOT_CONTEXT
          : trace.setSpan(ROOT_CONTEXT, known)
    const attributes = { ...source.attributes } as Record<string, string>
    const atStart = random.chance(0.6)
    timed('the start of a span', () => {
      const tracer = provider.getTracer(source.scope.name, source.scope.version)
      const linked = random.chance(0.1) ? [...started.values()].slice(-3) : []
      const links = linked.map((one) => ({ context: one.spanContext(), attributes: { 'gen_ai.agent.name': 'linked' } }))
      const span = tracer.startSpan(source.name, { links, ...(atStart && { attributes }) }, context)
      if (!atStart) span.setAttributes(attributes)
      if (source.status.code === 'error') span.setStatus({ code: 2, message: source.status.message ?? '' })
      started.set(source.spanId, span)
      open.push(span)
    })
    const logged = random.chance(0.1) ? open.at(random.integer(open.length)) : undefined
    if (logged !== undefined) {
      timed('a log record', () => scoring.logRecordProcessor.onEmit(strangeLog(logged, random)))
    }
    if (random.chance(0.3)) endOne(random.integer(open.length))
  }
  while (open.length > 0) endOne(random.chance(0.8) ? open.length - 1 : random.integer(open.length))
  return ended
}
