import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { BoundedMap, BoundedNames, EVENT_NAME, feedbackAttributes, readFeedback, SCOPE_NAME } from 'spanscore/engine'
import type { ExplanationRules, ReadFeedback, SourceLog } from 'spanscore/engine'

import { Refusal } from './receive/refusal.ts'
import { encodeEvent, originOf } from './send/gathered-scores.ts'
import type { Outbox } from './send/outbox.ts'
import { toResource } from './send/to-resource.ts'

/** What the intake of feedback needs. */
export interface FeedbackParts {
  readonly outbox: Pick<Outbox, 'add' | 'isFull'>
  /** What of the user's words is sent. */
  readonly rules: () => ExplanationRules
  /** Shows the event on the page. Resolves when it is stored. */
  readonly show: (log: SourceLog) => Promise<void>
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** How long the destination may take to acknowledge an event. @default 10000 */
  readonly timeoutMs?: number
}

/** How many keys are remembered. */
const MAX_KEYS = 100_000

const MAX_KEY_LENGTH = 256

/** How many names, and how many labels, are counted apart. */
const MAX_NAMES = 100

/** Feedback of one name and label, and how often it came. */
interface FeedbackCount {
  readonly name: string
  readonly label: string | undefined
  count: number
}

/**
 * Takes feedback that backends of applications send, and writes it as an event. It is answered when the destination has acknowledged the
 * event, so nothing has to be kept: whoever got no answer sends it again, with the same key.
 */
export class FeedbackIntake {
  readonly #parts: FeedbackParts
  readonly #origin = originOf(toResource({ 'service.name': 'spanscore' }))
  /** What was delivered for each key. */
  readonly #delivered = new BoundedMap<string, string>(MAX_KEYS)
  /** What is on its way to the destination, by key and what was said. Whoever sends it again waits for it. */
  readonly #onTheWay = new Map<string, Promise<void>>()
  readonly #names = new BoundedNames(MAX_NAMES)
  readonly #labels = new BoundedNames(MAX_NAMES)
  readonly #counts = new Map<string, FeedbackCount>()

  constructor(parts: FeedbackParts) {
    this.#parts = parts
  }

  /** How often feedback came, by name and label. */
  get counts(): Iterable<Readonly<FeedbackCount>> {
    return this.#counts.values()
  }

  /**
   * Resolves when the event was delivered.
   *
   * @throws Refusal if this is no feedback, or the destination does not acknowledge it
   */
  async take(given: unknown): Promise<void> {
    const { feedback, key } = readKeyed(given)
    const said = JSON.stringify(feedback)
    if (this.#delivered.get(key) === said) return
    const { timeoutMs = 10_000 } = this.#parts
    const place = `${key} ${said}`
    const delivered = this.#onTheWay.get(place) ?? this.#deliver(feedback, key, said)
    this.#onTheWay.set(place, delivered)
    void delivered.finally(() => this.#onTheWay.delete(place))
    const isDelivered = delivered.then(() => true)
    if (!(await Promise.race([isDelivered, sleep(timeoutMs, false, { ref: false })])))
      throw new Refusal('unavailable', 'The destination has not acknowledged the event; send again with the same key.')
  }

  /** @throws Refusal if too much waits for the destination */
  #deliver(feedback: ReadFeedback, key: string, said: string): Promise<void> {
    const { outbox, rules, show, nowMs } = this.#parts
    if (outbox.isFull) throw new Refusal('unavailable', 'The destination is behind; send again later.')
    const timeMs = nowMs()
    const attributes = { ...feedbackAttributes(feedback, rules()), 'spanscore.score.key': key }
    const { traceId, spanId } = feedback.target
    const bytes = encodeEvent({ target: feedback.target, timeMs, attributes })
    const delivered = new Promise<void>((resolve) => {
      outbox.add({ logRecords: [{ origin: this.#origin, bytes }], spans: [], onDelivered: resolve })
    })
    return delivered.then(async () => {
      const isNew = this.#delivered.get(key) === undefined
      this.#delivered.set(key, said)
      if (isNew) this.#count(feedback)
      await show({ traceId, spanId, eventName: EVENT_NAME, timeMs, attributes, scope: { name: SCOPE_NAME } })
    })
  }

  #count({ name: givenName, label: givenLabel }: ReadFeedback): void {
    const name = this.#names.of(givenName)
    const label = givenLabel === undefined ? undefined : this.#labels.of(givenLabel)
    const place = `${name}\n${label ?? ''}`
    const known = this.#counts.get(place) ?? { name, label, count: 0 }
    this.#counts.set(place, known)
    known.count += 1
  }
}

/** What one user says by one name of one run has one key, unless it comes with a key. */
function readKeyed(given: unknown): { readonly feedback: ReadFeedback; readonly key: string } {
  try {
    const { key, ...rest }: Readonly<Record<string, unknown>> = isObject(given) ? given : {}
    const isKey = key === undefined || (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH)
    if (!isKey)
      throw new TypeError(`feedback.key: expected a text of at most ${MAX_KEY_LENGTH} characters, got another`)
    const feedback = readFeedback(isObject(given) ? rest : given, ['key'])
    const { target, name, userId = '' } = feedback
    const parts = [target.traceId, target.spanId, ...(key === undefined ? [name, userId] : [key])]
    return { feedback, key: hash('sha256', JSON.stringify(parts)).slice(0, 32) }
  } catch (error) {
    throw new Refusal('malformed', error instanceof Error ? error.message : 'Expected feedback as JSON.')
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
