import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import { disown, isThenable } from '../../scoring/thenable.ts'
import { isRecord } from '../../spans/json.ts'
import type { OpenSpan } from '../sdk-types.ts'
import type { HeldSpan } from './held-spans.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'

/** The SDK's default limit. Attributes above it are counted as dropped. */
const ATTRIBUTE_COUNT_LIMIT = 128

/**
 * Where score attributes can be written at the moment:
 *
 * - `ending`: to the live span, in `onEnding`.
 * - `ended`: nowhere yet; they are collected for the copy for `next`.
 * - `held`: to the held copy.
 * - `gone`: nowhere any more.
 */
type Stage =
  | { readonly name: 'ending'; readonly span: OpenSpan }
  | { readonly name: 'ended' }
  | { readonly name: 'held'; readonly held: HeldSpan }
  | { readonly name: 'gone' }

const ENDED: Stage = { name: 'ended' }
const GONE: Stage = { name: 'gone' }

/** The destination of score attributes on a run's agent span. */
export class SpanOutlet {
  readonly #hasNext: boolean
  #stage: Stage
  /** How many more attributes the live span accepts; counted at the first write. */
  #room = 0
  #gathered: ScoreAttributes | undefined

  /**
   * @param hasNext whether a processor behind receives a copy of the span
   * @param at the live span in `onEnding`, `ended` in `onEnd`, or `gone` if it was handed on
   */
  constructor(hasNext: boolean, at: OpenSpan | 'ended' | 'gone') {
    this.#hasNext = hasNext
    this.#stage = at === 'ended' ? ENDED : at === 'gone' ? GONE : { name: 'ending', span: at }
  }

  /** Whether the span is held for its scores. */
  get isHeld(): boolean {
    return this.#stage.name === 'held' && this.#stage.held.isHeld
  }

  /** Writes attributes to the span, or to the copy for `next`; false if neither is possible. */
  write(attributes: ScoreAttributes): boolean {
    const stage = this.#stage
    if (stage.name === 'ending' && this.#setAll(stage.span, attributes)) return true
    if (!this.#hasNext || stage.name === 'gone') return false
    if (stage.name === 'held') return stage.held.stamp(attributes)
    this.#gathered ??= {}
    replaceScoreAttributes(this.#gathered, attributes)
    return true
  }

  /** `onEnding` is over: the live span is not written again. */
  endingIsOver(): void {
    if (this.#stage.name === 'ending') this.#stage = ENDED
  }

  /** Hands the span on to `next`. Returns the scores collected for it. */
  handOn(): ScoreAttributes | undefined {
    this.#stage = GONE
    return this.#gathered
  }

  /** Scores can be written to the span while it is held. */
  hold(held: HeldSpan): void {
    this.#stage = { name: 'held', held }
    if (this.#gathered !== undefined) held.stamp(this.#gathered)
  }

  /** All pending scores of the span are in. */
  allIn(): void {
    if (this.#stage.name === 'held') this.#stage.held.ready()
  }

  /** Sets all attributes, or none if the span's limit would drop one. */
  #setAll(span: OpenSpan, attributes: ScoreAttributes): boolean {
    const names = Object.keys(attributes)
    if (span.droppedAttributesCount > 0) return false
    // Counting a span's attributes takes longer than writing a few.
    if (this.#room < names.length) this.#room = attributeLimitOf(span) - attributeCountOf(span)
    if (this.#room < names.length) return false
    this.#room -= names.length
    for (const name of names) {
      const value = attributes[name]
      const set: unknown = value === undefined ? undefined : span.setAttribute(name, value)
      if (set !== span && isThenable(set)) disown(set)
    }
    return names.every((name) => span.attributes[name] !== undefined)
  }
}

/** The property is private in all SDK versions; there is no public way to read a span's limits. */
function attributeLimitOf(span: OpenSpan): number {
  const limits: unknown = Reflect.get(span, '_spanLimits')
  const limit = isRecord(limits) ? limits['attributeCountLimit'] : undefined
  return typeof limit === 'number' ? limit : ATTRIBUTE_COUNT_LIMIT
}

/** SDK 2.x and 3.x count them in a private property. Counting them takes longer than writing a score. */
function attributeCountOf(span: OpenSpan): number {
  const count: unknown = Reflect.get(span, '_attributesCount')
  return typeof count === 'number' ? count : Object.keys(span.attributes).length
}
