import type { SpanContext } from '@opentelemetry/api'

import { carriesScore } from '../../attributes/score-attributes.ts'
import type { ScoreAttributes } from '../../attributes/attribute-table.ts'
import type { ScoreTarget } from '../../engine/score-target.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation } from '../../model/score.ts'
import { isRecord } from '../../spans/json.ts'
import type { OpenSpan } from '../../spans/sdk-types.ts'
import type { UndeliveredSpan } from './delayed-export.ts'
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
  | { readonly name: 'held'; readonly held: UndeliveredSpan }
  | { readonly name: 'gone' }

const ENDED: Stage = { name: 'ended' }
const GONE: Stage = { name: 'gone' }

/** The span of a run's scores, reduced to what writing them reads. */
export interface ScoredSpan {
  spanContext(): SpanContext
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
  readonly endTime: readonly [number, number]
}

/** The parts of a `SpanOutput`. */
export interface SpanOutputParts {
  readonly span: ScoredSpan
  /** The live span in `onEnding`, `ended` in `onEnd`, or `gone` if it was handed on. */
  readonly at: OpenSpan | 'ended' | 'gone'
  /** Whether a processor behind receives a copy of the span. */
  readonly hasNext: boolean
  /** Writes an evaluation to every signal. */
  readonly write: (target: SpanOutput, evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean) => void
}

/** A run's agent span as the target of its scores. */
export class SpanOutput implements ScoreTarget {
  readonly spanContext: SpanContext
  readonly span: ScoredSpan
  readonly #hasNext: boolean
  readonly #write: SpanOutputParts['write']
  #stage: Stage
  /** How many more attributes the live span accepts; counted at the first write. */
  #room = 0
  #gathered: ScoreAttributes | undefined

  constructor({ span, at, hasNext, write }: SpanOutputParts) {
    this.span = span
    this.spanContext = span.spanContext()
    this.#hasNext = hasNext
    this.#write = write
    this.#stage = at === 'ended' ? ENDED : at === 'gone' ? GONE : { name: 'ending', span: at }
  }

  claim(scorer: Evaluation['scorer']): boolean {
    return claim(this.span, scorer)
  }

  write(evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean): void {
    this.#write(this, evaluation, run, isFirst)
  }

  /** Whether the span is held for its scores. */
  get isHeld(): boolean {
    return this.#stage.name === 'held' && this.#stage.held.isHeld
  }

  /** Writes attributes to the span, or to the copy for `next`; false if neither is possible. */
  stamp(attributes: ScoreAttributes): boolean {
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
  hold(held: UndeliveredSpan): void {
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
      if (value !== undefined) span.setAttribute(name, value)
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

/** A property of the span object, so that every copy of the package and every processor sees it. */
const CLAIMS: unique symbol = Symbol.for('spanscore.claims')

interface Claimable extends Pick<ScoredSpan, 'attributes'> {
  [CLAIMS]?: unknown
}

const claims = new WeakMap<Evaluation['scorer'], string>()

/** The claim of a scorer: one text for all of its runs, because it is kept with the span. */
function claimOf(scorer: Evaluation['scorer']): string {
  let known = claims.get(scorer)
  if (known === undefined) {
    known = `${scorer.id}@${scorer.version}`
    claims.set(scorer, known)
  }
  return known
}

/** Claims a span for a version of a scorer; false if another processor has claimed it, or the span already has that score. */
function claim(span: Claimable, scorer: Evaluation['scorer']): boolean {
  const known = span[CLAIMS]
  const claimed = claimOf(scorer)
  if (Array.isArray(known)) {
    if (known.includes(claimed)) return false
    known.push(claimed)
  } else {
    // A frozen span stays without a claim.
    Reflect.set(span, CLAIMS, [claimed])
  }
  return !carriesScore(span.attributes, scorer)
}
