import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import { disown, isThenable } from '../../scoring/thenable.ts'
import { isRecord } from '../../spans/json.ts'
import type { OpenSpan } from '../sdk-types.ts'
import type { HeldSpan } from './held-spans.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'

/** The SDK's default limit: an attribute over it would be counted as dropped. */
const ATTRIBUTE_COUNT_LIMIT = 128

/**
 * Where the attributes of scores can be written at the moment:
 *
 * - `ending`: on the live span, in its `onEnding`.
 * - `ended`: nowhere yet; they are gathered for the copy that `next` gets.
 * - `held`: on the copy that waits for its scores.
 * - `gone`: nowhere any more.
 */
type Stage =
  | { readonly name: 'ending'; readonly span: OpenSpan }
  | { readonly name: 'ended' }
  | { readonly name: 'held'; readonly held: HeldSpan }
  | { readonly name: 'gone' }

const ENDED: Stage = { name: 'ended' }
const GONE: Stage = { name: 'gone' }

/** The agent's span of a run, as a place for the attributes of its scores. */
export class SpanOutlet {
  readonly #hasNext: boolean
  #stage: Stage
  /** How many attributes the live span has room for at least; counted when it is first written. */
  #room = 0
  #gathered: ScoreAttributes | undefined

  /**
   * @param hasNext Whether there is a processor behind that gets a copy of the span.
   * @param at The live span in its `onEnding`, `ended` in its `onEnd`, or `gone` where it has been handed on.
   */
  constructor(hasNext: boolean, at: OpenSpan | 'ended' | 'gone') {
    this.#hasNext = hasNext
    this.#stage = at === 'ended' ? ENDED : at === 'gone' ? GONE : { name: 'ending', span: at }
  }

  /** Whether the span waits for its scores. */
  get isHeld(): boolean {
    return this.#stage.name === 'held' && this.#stage.held.isHeld
  }

  /** Writes attributes to the span, or to the copy that `next` gets; false where neither is possible. */
  write(attributes: ScoreAttributes): boolean {
    const stage = this.#stage
    if (stage.name === 'ending' && this.#setAll(stage.span, attributes)) return true
    if (!this.#hasNext || stage.name === 'gone') return false
    if (stage.name === 'held') return stage.held.stamp(attributes)
    this.#gathered ??= {}
    replaceScoreAttributes(this.#gathered, attributes)
    return true
  }

  /** `onEnding` is over: the span is never written again. */
  endingIsOver(): void {
    if (this.#stage.name === 'ending') this.#stage = ENDED
  }

  /** The span goes on to `next`. Gives the scores that were gathered for it. */
  handOn(): ScoreAttributes | undefined {
    this.#stage = GONE
    return this.#gathered
  }

  /** The span is held, and scores can be written to it for as long as it is. */
  hold(held: HeldSpan): void {
    this.#stage = { name: 'held', held }
    if (this.#gathered !== undefined) held.stamp(this.#gathered)
  }

  /** All scores that the span waited for are in. */
  allIn(): void {
    if (this.#stage.name === 'held') this.#stage.held.ready()
  }

  /** Sets all of the attributes, or none where the span's limit would drop one. */
  #setAll(span: OpenSpan, attributes: ScoreAttributes): boolean {
    const names = Object.keys(attributes)
    if (span.droppedAttributesCount > 0) return false
    // Counting the attributes of a span takes longer than writing a few.
    if (this.#room < names.length) this.#room = attributeLimitOf(span) - Object.keys(span.attributes).length
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

/** The property is private in all SDK lines; there is no public way to ask a span for its limits. */
function attributeLimitOf(span: OpenSpan): number {
  const limits: unknown = Reflect.get(span, '_spanLimits')
  const limit = isRecord(limits) ? limits['attributeCountLimit'] : undefined
  return typeof limit === 'number' ? limit : ATTRIBUTE_COUNT_LIMIT
}
