import type { AgentRun } from '../model/agent-run.ts'
import { MAX_NAME_LENGTH, shortened } from '../attributes/explanation-rules.ts'
import { isEvaluation, readEventAttribute } from '../attributes/event-attributes.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { betterOf, oursInEvent, oursOnSpan } from './our-scores.ts'
import type { OurScore } from './our-scores.ts'
import { isOurs, replacesSaid, saidIn, saidInAnnotations } from './said.ts'
import type { Said } from './said.ts'
import type { Attributes, StoredCallScore, StoredScore, ToolScore } from './stored-score.ts'

/** Whether a span is a score that came after its run's span had ended. */
export function isLateScoreSpan(span: Pick<SourceSpan, 'name' | 'scope'>): boolean {
  return span.scope.name === 'spanscore' && span.name.startsWith('evaluate ')
}

/**
 * Scores by their span, however they were written: on the span, as a late span, or as an event; and what other tools and users say of it, as
 * events, as spans of evaluators, or as annotations of OpenInference.
 */
export class StoredScores {
  readonly #places = new Map<string, Place>()
  readonly #parents = new Map<string, string>()
  readonly #roots: readonly AgentRun[]
  #around: ReadonlyMap<string, AgentRun | 'several'> | undefined

  /** @param roots the runs of these spans that no other run started; what is said of a span around one of them is said of the run */
  constructor(spans: Iterable<SourceSpan>, logs: Iterable<SourceLog>, roots: readonly AgentRun[] = []) {
    this.#roots = roots
    for (const span of spans) this.#addSpan(span)
    for (const { eventName, traceId, spanId, attributes, timeMs } of logs)
      if (isEvaluation(eventName)) this.#addEvent(traceId, keyOf(traceId, spanId), attributes, timeMs)
  }

  /**
   * The scores of one run, without nested runs: ours, then what others say. Those of its agent span precede those of its model calls, and of
   * spans around it.
   */
  of(run: AgentRun): readonly StoredScore[] {
    if (this.#places.size === 0) return []
    const keys = [
      run.id,
      ...run.steps.flatMap(({ spanId }) => (spanId === undefined ? [] : [keyOf(run.traceId, spanId)])),
      ...this.#aroundOf(run),
    ]
    const ours = keys.flatMap((key) => this.#oursAt(key)).filter(({ call }) => call === undefined)
    const scores = firstByName(ours)
    for (const [scorerId, calls] of Map.groupBy(this.#callsOf(run), ({ found }) => found.score.scorerId)) {
      scores.set(scorerId, withCalls(scorerId, scores.get(scorerId), calls))
    }
    return [...scores.values(), ...firstByName(keys.flatMap((key) => this.#saidAt(key))).values()]
  }

  /** What users and other tools say of the spans of a run's tool calls. */
  ofTools({ toolCalls, traceId: own }: AgentRun): readonly ToolScore[] {
    return toolCalls.flatMap(({ spanId = '', traceId = own }, toolCall) =>
      spanId === '' ? [] : this.#saidAt(keyOf(traceId, spanId)).map(({ score }) => ({ ...score, toolCall })),
    )
  }

  /** The scores of a run's conversation that were written with the run's trace, because the run was the last one when it was scored. */
  ofConversation({ traceId, conversationId = '' }: AgentRun): readonly StoredScore[] {
    return this.#oursAt(keyOf(traceId, conversationPlace(conversationId))).map(({ score }) => score)
  }

  /** The scores of a run's calls: at the spans of the calls, or at the agent's if a call has none. */
  #callsOf(run: AgentRun): readonly CallFound[] {
    const { toolCalls, retrievals } = run
    const places = [
      run,
      ...toolCalls.flatMap(({ spanId, traceId = run.traceId }) => (spanId === undefined ? [] : [{ spanId, traceId }])),
      ...retrievals.flatMap(({ spanId }) => (spanId === undefined ? [] : [{ spanId, traceId: run.traceId }])),
    ]
    const spanIds = new Map(places.map(({ traceId, spanId }) => [keyOf(traceId, spanId), spanId]))
    return [...spanIds].flatMap(([key, spanId]) =>
      this.#oursAt(key).flatMap((found) => {
        const { level, call } = found
        if (level === undefined || (call === undefined && spanId === run.spanId)) return []
        const isIt = (one: AgentRun['toolCalls'][number]): boolean =>
          one.spanId === undefined
            ? spanId === run.spanId && one.id === call?.toolCallId && one.name === call?.toolName
            : one.spanId === spanId
        const index =
          level === 'tool-call'
            ? toolCalls.findIndex(isIt)
            : retrievals.findIndex((one) => (one.spanId ?? run.spanId) === spanId)
        return [{ found, level, index }]
      }),
    )
  }

  /** The spans around a run and around no other one, and its trace, if it has no other run. */
  *#aroundOf(run: AgentRun): Generator<string> {
    this.#around ??= this.#findAround()
    if (this.#around.size === 0) return
    for (const key of this.#above(run)) if (this.#around.get(key) === run) yield key
  }

  #findAround(): ReadonlyMap<string, AgentRun | 'several'> {
    const around = new Map<string, AgentRun | 'several'>()
    for (const root of this.#roots)
      for (const key of this.#above(root)) around.set(key, around.has(key) ? 'several' : root)
    return around
  }

  *#above({ id, traceId }: AgentRun): Generator<string> {
    const seen = new Set<string>()
    for (let key = this.#parents.get(id); key !== undefined && !seen.has(key); key = this.#parents.get(key)) {
      seen.add(key)
      yield key
    }
    yield keyOf(traceId, '')
  }

  #addSpan(span: SourceSpan): void {
    const { traceId, attributes, parentSpanId } = span
    const isLate = isLateScoreSpan(span)
    const own = keyOf(traceId, span.spanId)
    const parent = parentSpanId === undefined ? undefined : keyOf(traceId, parentSpanId)
    if (parent !== undefined) this.#parents.set(own, parent)
    const place = isLate ? parent : own
    if (place === undefined) return
    for (const found of oursOnSpan(attributes, isLate ? 'late-span' : 'span'))
      this.#addOurs(traceId, place, attributes, found)
    if (isLate) return
    for (const event of span.events)
      if (isEvaluation(event.name)) this.#addEvent(traceId, own, event.attributes, event.timeMs)
    // The span of an evaluator is below the span that it evaluates.
    if ('gen_ai.evaluation.name' in attributes) this.#addEvent(traceId, parent ?? own, attributes, span.endTimeMs)
    const evaluated = attributes['openinference.span.kind'] === 'EVALUATOR' ? (parent ?? own) : own
    for (const said of saidInAnnotations(attributes, span.endTimeMs)) this.#addSaid(evaluated, said)
  }

  #addEvent(traceId: string, place: string, attributes: Attributes, timeMs: number): void {
    if (isOurs(attributes)) this.#addOurs(traceId, place, attributes, oursInEvent(attributes))
    else this.#addSaid(place, saidIn(attributes, timeMs))
  }

  #addOurs(traceId: string, key: string, attributes: Attributes, found: OurScore | undefined): void {
    if (found === undefined) return
    const isOfConversation = readEventAttribute(attributes, 'spanscore.level') === 'conversation'
    const [place, score] = isOfConversation ? ofConversation(traceId, attributes, found) : [key, found]
    const { ours } = this.#at(place)
    const known = ours.get(score.name)
    ours.set(score.name, known === undefined ? score : betterOf(known, score))
  }

  #addSaid(key: string, found: Said | undefined): void {
    if (found === undefined) return
    const { said } = this.#at(key)
    const known = said.get(found.name)
    if (known === undefined || replacesSaid(known, found)) said.set(found.name, found)
  }

  #at(key: string): Place {
    const place = this.#places.get(key) ?? { ours: new Map(), said: new Map() }
    this.#places.set(key, place)
    return place
  }

  #oursAt(key: string): readonly OurScore[] {
    return [...(this.#places.get(key)?.ours.values() ?? [])]
  }

  #saidAt(key: string): readonly Said[] {
    return [...(this.#places.get(key)?.said.values() ?? [])]
  }
}

/** What was found at a span, or of a conversation, by name. */
interface Place {
  readonly ours: Map<string, OurScore>
  readonly said: Map<string, Said>
}

function firstByName(found: readonly Pick<Said, 'name' | 'score'>[]): Map<string, StoredScore> {
  const first = new Map<string, StoredScore>()
  for (const { name, score } of found) if (!first.has(name)) first.set(name, score)
  return first
}

interface CallFound {
  readonly found: OurScore
  readonly level: string
  /** -1 if the call is none of the run's. */
  readonly index: number
}

/** A score of calls: the one on the agent's span, or else the mean of those that were written. */
function withCalls(scorerId: string, summary: StoredScore | undefined, found: readonly CallFound[]): StoredScore {
  const calls = found.map(({ found: { score }, index }): StoredCallScore => {
    const { scorerId: _scorerId, about: _about, ...ofCall } = score
    return { ...(index !== -1 && { index }), ...ofCall }
  })
  const [first] = found
  const about = summary?.about ?? first?.found.score.about
  return {
    scorerId,
    ...meanOf(calls),
    ...summary,
    ...(about !== undefined && { about }),
    ...(first !== undefined && { level: first.level }),
    calls,
  }
}

function meanOf(calls: readonly StoredCallScore[]): Pick<StoredScore, 'value' | 'label' | 'status'> {
  const values = calls.flatMap(({ value }) => value ?? [])
  if (values.length === 0) return { status: 'failed' }
  const value = values.reduce((sum, each) => sum + each, 0) / values.length
  return { value, label: calls.some(({ label }) => label === 'fail') ? 'fail' : 'pass' }
}

/** A conversation's late span is below its last run, whose score it is not. */
function ofConversation(traceId: string, attributes: Attributes, found: OurScore): [place: string, score: OurScore] {
  const id = readEventAttribute(attributes, 'gen_ai.conversation.id') ?? ''
  const turns = readEventAttribute(attributes, 'spanscore.turns')
  const score: StoredScore = { ...found.score, level: 'conversation', ...(turns !== undefined && { turns }) }
  return [keyOf(traceId, conversationPlace(id)), { ...found, score }]
}

/** In place of a span: no span has such an id. Long ids are written cut. */
function conversationPlace(id: string): string {
  return `conversation ${shortened(id, MAX_NAME_LENGTH)}`
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}:${spanId}`
}
