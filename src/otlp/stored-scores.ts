import type { AgentRun } from '../model/agent-run.ts'
import { readFindings } from '../model/finding.ts'
import type { Finding } from '../model/finding.ts'
import { MAX_NAME_LENGTH, shortened } from '../attributes/explanation-rules.ts'
import { EVENT_NAME, readEventAttribute } from '../attributes/event-attributes.ts'
import { readScoreAttribute, scorersIn } from '../attributes/score-attributes.ts'
import { MAX_WEIGHT, weightAt } from '../sampling/weight.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** A score that the traces already have, or the reason why there is none. */
export interface StoredScore {
  /** The id of the scorer, or the name of another tool's evaluation. */
  readonly scorerId: string
  /** The score, in the scorer's own units. */
  readonly value?: number
  /** `pass` or `fail`; other tools that write `gen_ai.evaluation.result` use other labels. */
  readonly label?: string
  /** How many runs the run counts for, at most 1,000, if the agent's span says so: see `storedWeight`. */
  readonly weight?: number
  /** How many things of the kind that it looks for the scorer found, such as attacks, whether they count or not. */
  readonly found?: number
  /** The reason for the score. */
  readonly explanation?: string
  /** What the scorer found, if an event or late span has it. */
  readonly findings?: readonly Finding[]
  /** `skipped` or `failed`, if there is no value. */
  readonly status?: string
  /** Why there is no value, as a code such as `no-content` or `judge-timeout`. */
  readonly reason?: string
  /** One sentence about why there is no value. */
  readonly message?: string
  /** Who says it, if it is recorded: `user` for feedback of the agent's user, or another tool's `human`, `llm_judge` or `deterministic`. */
  readonly evaluatorType?: string
  /** Whether a user or another tool says it. */
  readonly isForeign?: true
  /** The origin of the score, if a spanscore event or late span has it. */
  readonly about?: ScoreIdentity
  /** What the score is about, if it is not the run. */
  readonly level?: string
  /** The scores of the run's calls, of a scorer of calls. */
  readonly calls?: readonly StoredCallScore[]
  /** The number of turns of the conversation, if the score is that of one. */
  readonly turns?: number
}

/** How many runs the run of a stored score counts for: 1 if nothing of it is recorded. */
export function storedWeight({ weight, about }: Pick<StoredScore, 'weight' | 'about'>): number {
  return weight ?? toWeight(weightAt(about?.probability ?? 1, about?.upstreamProbability)) ?? 1
}

/** What is said of the span of a tool call. */
export interface ToolScore extends StoredScore {
  /** The index of the call in `run.toolCalls`. */
  readonly toolCall: number
}

/** The score of one call that the traces have. */
export interface StoredCallScore extends Omit<StoredScore, 'scorerId' | 'about' | 'level' | 'calls' | 'turns'> {
  /** The index of the call in `run.toolCalls`, or in `run.retrievals`; absent if the call is none of the run's. */
  readonly index?: number
}

/** What is needed to weigh a stored score, and to compare it with scores of the same scorer and judge only. */
export interface ScoreIdentity {
  readonly revision: number
  /** The scorer's version: 8 characters. */
  readonly version: string
  /** The model that answered, if a judge was asked. */
  readonly judgeModel?: string
  readonly range: readonly [number, number]
  readonly better: 'higher' | 'lower'
  /** The probability with which the run was chosen, if known. */
  readonly probability?: number
  /** The probability with which the tracer kept the run, if known. */
  readonly upstreamProbability?: number
}

/** Where a score may be found. Of two places, the later one in this list wins. */
const ORIGINS = ['event', 'late-span', 'span'] as const
type Origin = (typeof ORIGINS)[number]

interface Found {
  /** Scores of one name are one score, of which the best record counts. */
  readonly name: string
  readonly score: StoredScore
  readonly origin: Origin
  readonly revision: number
  /** The scorer's version, if the span or event has it. */
  readonly version: string | undefined
  /** Milliseconds between the end of the run and the score. Of two scores of a run, the larger is the later one. */
  readonly delayMs: number
  /** When another tool or a user said it: milliseconds since the epoch. */
  readonly saidMs?: number
  /** The level of a scorer of calls. Its score is that of a call if it has a value, names the call, or is at the call's own span. */
  readonly level?: 'tool-call' | 'retrieval'
  /** Present in the score of one call, wherever it is. */
  readonly call?: FoundCall
}

/** What an event or late span says of the call to which its score belongs. */
interface FoundCall {
  readonly toolCallId: string | undefined
  readonly toolName: string | undefined
}

type Attributes = Readonly<Record<string, unknown>>

/** Whether a span is a score that came after its run's span had ended. */
export function isLateScoreSpan(span: Pick<SourceSpan, 'name' | 'scope'>): boolean {
  return span.scope.name === 'spanscore' && span.name.startsWith('evaluate ')
}

/** A conversation's late span is below its last run, whose score it is not. */
function isOfConversation(attributes: Attributes): boolean {
  return readEventAttribute(attributes, 'spanscore.level') === 'conversation'
}

/**
 * Scores by their span, however they were written: on the span, as a late span, or as an event; and what other tools and users say of it, as
 * events, as spans of evaluators, or as annotations of OpenInference.
 */
export class StoredScores {
  readonly #bySpan = new Map<string, Map<string, Found>>()
  readonly #parents = new Map<string, string>()
  readonly #roots: readonly AgentRun[]
  #around: ReadonlyMap<string, AgentRun | 'several'> | undefined

  /** @param roots the runs of these spans that no other run started; what is said of a span around one of them is said of the run */
  constructor(spans: Iterable<SourceSpan>, logs: Iterable<SourceLog>, roots: readonly AgentRun[] = []) {
    this.#roots = roots
    for (const span of spans) this.#addSpan(span)
    for (const { eventName, traceId, spanId, attributes, timeMs } of logs) {
      if (eventName !== EVENT_NAME) continue
      const found = fromEvent(attributes, timeMs)
      if (isOfConversation(attributes)) this.#addOfConversation(traceId, attributes, found)
      else this.#add(keyOf(traceId, spanId), found)
    }
  }

  /** The scores of one run, without nested runs. Those of its agent span precede those of its model calls, and of spans around it. */
  of(run: AgentRun): readonly StoredScore[] {
    if (this.#bySpan.size === 0) return []
    const keys = [
      run.id,
      ...run.steps.flatMap(({ spanId }) => (spanId === undefined ? [] : [keyOf(run.traceId, spanId)])),
      ...this.#aroundOf(run),
    ]
    const scores = new Map<string, StoredScore>()
    for (const key of keys) {
      for (const [name, { score, call }] of this.#bySpan.get(key) ?? []) {
        if (call === undefined && !scores.has(name)) scores.set(name, score)
      }
    }
    for (const [scorerId, calls] of Map.groupBy(this.#callsOf(run), ({ found }) => found.score.scorerId)) {
      scores.set(scorerId, withCalls(scorerId, scores.get(scorerId), calls))
    }
    return [...scores.values()]
  }

  /** What users and other tools say of the spans of a run's tool calls. */
  ofTools({ toolCalls, traceId: own }: AgentRun): readonly ToolScore[] {
    return toolCalls.flatMap(({ spanId = '', traceId = own }, toolCall) =>
      [...(this.#bySpan.get(keyOf(traceId, spanId))?.values() ?? [])].flatMap(({ score }) =>
        spanId !== '' && score.isForeign === true ? [{ ...score, toolCall }] : [],
      ),
    )
  }

  /** The scores of a run's conversation that were written with the run's trace, because the run was the last one when it was scored. */
  ofConversation({ traceId, conversationId = '' }: AgentRun): readonly StoredScore[] {
    const scores = this.#bySpan.get(keyOf(traceId, conversationPlace(conversationId)))
    return [...(scores?.values() ?? [])].map(({ score }) => score)
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
      [...(this.#bySpan.get(key)?.values() ?? [])].flatMap((found) => {
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
    for (const found of fromAttributes(attributes, isLate ? 'late-span' : 'span')) {
      if (isLate && isOfConversation(attributes)) this.#addOfConversation(traceId, attributes, found)
      else this.#add(place, found)
    }
    if (isLate) return
    for (const event of span.events)
      if (event.name === EVENT_NAME) this.#add(own, fromEvent(event.attributes, event.timeMs))
    // The span of an evaluator is below the span that it evaluates.
    if ('gen_ai.evaluation.name' in attributes) this.#add(parent ?? own, fromEvent(attributes, span.endTimeMs))
    const evaluated = attributes['openinference.span.kind'] === 'EVALUATOR' ? (parent ?? own) : own
    for (const found of fromAnnotations(attributes)) this.#add(evaluated, found)
  }

  #addOfConversation(traceId: string, attributes: Attributes, found: Found | undefined): void {
    if (found === undefined) return
    const id = readEventAttribute(attributes, 'gen_ai.conversation.id') ?? ''
    const turns = readEventAttribute(attributes, 'spanscore.turns')
    const score: StoredScore = { ...found.score, level: 'conversation', ...(turns !== undefined && { turns }) }
    this.#add(keyOf(traceId, conversationPlace(id)), { ...found, score })
  }

  #add(key: string, found: Found | undefined): void {
    if (found === undefined) return
    const scores = this.#bySpan.get(key) ?? new Map<string, Found>()
    this.#bySpan.set(key, scores)
    const known = scores.get(found.name)
    scores.set(found.name, known === undefined ? found : chosen(known, found))
  }
}

interface CallFound {
  readonly found: Found
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

/** In place of a span: no span has such an id. Long ids are written cut. */
function conversationPlace(id: string): string {
  return `conversation ${shortened(id, MAX_NAME_LENGTH)}`
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}:${spanId}`
}

/**
 * The latest revision wins; within a revision, a value wins over a reason. A run that was scored again by another version of the scorer has
 * two scores of one revision, and the later one wins. Otherwise the origin decides, and details that only the event of the same score has
 * are added.
 */
function chosen(known: Found, found: Found): Found {
  // What a user or another tool says again replaces what was said before.
  if (known.saidMs !== undefined && found.saidMs !== undefined) return found.saidMs >= known.saidMs ? found : known
  if (known.revision !== found.revision) return known.revision > found.revision ? known : found
  if (hasValue(known) !== hasValue(found)) return hasValue(known) ? known : found
  if (known.version !== undefined && found.version !== undefined && known.version !== found.version) {
    return found.delayMs > known.delayMs ? found : known
  }
  const [better, other] =
    ORIGINS.indexOf(found.origin) > ORIGINS.indexOf(known.origin) ? [found, known] : [known, found]
  const isSame = better.score.value === other.score.value && better.score.label === other.score.label
  if (!isSame || better.score.about !== undefined || other.score.about === undefined) return better
  const { about, findings } = other.score
  return {
    ...better,
    score: { ...better.score, about, ...(findings !== undefined && { findings }) },
    version: other.version,
    delayMs: other.delayMs,
  }
}

function hasValue({ score }: Found): boolean {
  return score.value !== undefined
}

function fromAttributes(attributes: Attributes, origin: Origin): Found[] {
  const revision = readEventAttribute(attributes, 'spanscore.revision') ?? 1
  return [...scorersIn(attributes)].map((scorerId) => {
    const about = origin === 'late-span' ? aboutIn(attributes) : undefined
    const score = toScore(scorerId, {
      value: readScoreAttribute(attributes, scorerId, 'score'),
      label: readScoreAttribute(attributes, scorerId, 'label'),
      weight: toWeight(readScoreAttribute(attributes, scorerId, 'weight')),
      found: readScoreAttribute(attributes, scorerId, 'found'),
      explanation: readScoreAttribute(attributes, scorerId, 'explanation'),
      findings: origin === 'late-span' ? findingsIn(attributes) : undefined,
      status: readScoreAttribute(attributes, scorerId, 'status'),
      reason: readScoreAttribute(attributes, scorerId, 'status_reason'),
      message: readScoreAttribute(attributes, scorerId, 'status_message'),
      about,
    })
    const version = about?.version ?? readScoreAttribute(attributes, scorerId, 'version')
    const call = origin === 'late-span' ? callIn(score, attributes) : {}
    return { ...named(scorerId, call), score, origin, revision, version, delayMs: delayIn(attributes) }
  })
}

function fromEvent(attributes: Attributes, timeMs: number): Found | undefined {
  const scorerId = readEventAttribute(attributes, 'gen_ai.evaluation.name')
  if (scorerId === undefined) return undefined
  const value = readEventAttribute(attributes, 'gen_ai.evaluation.score.value')
  const label = readEventAttribute(attributes, 'gen_ai.evaluation.score.label')
  const isOther = !isOurs(attributes)
  const about = aboutIn(attributes)
  const score = toScore(scorerId, {
    value,
    label,
    found: isOther ? undefined : readScoreAttribute(attributes, scorerId, 'found'),
    explanation: readEventAttribute(attributes, 'gen_ai.evaluation.explanation'),
    findings: isOther ? undefined : findingsIn(attributes),
    status: value === undefined && label === undefined ? 'failed' : undefined,
    reason: readEventAttribute(attributes, 'error.type'),
    evaluatorType: isOther ? readEventAttribute(attributes, 'gen_ai.evaluation.evaluator.type') : undefined,
    isForeign: isOther ? true : undefined,
    about,
  })
  return {
    ...named(nameOf(score, attributes), callIn(score, attributes)),
    score,
    origin: 'event',
    revision: readEventAttribute(attributes, 'spanscore.revision') ?? 1,
    version: about?.version,
    delayMs: delayIn(attributes),
    ...(isOther && { saidMs: timeMs }),
  }
}

/** A span may have scores of several calls without spans of their own. */
function named(name: string, { level, call }: Pick<Found, 'level' | 'call'>): Pick<Found, 'name' | 'level' | 'call'> {
  return {
    name: call === undefined ? name : `${name}\n${call.toolName}\n${call.toolCallId}`,
    ...(level !== undefined && { level }),
    ...(call !== undefined && { call }),
  }
}

/** What a scorer of calls writes of one. If it could not be asked about them, it has one result without a call, which is the run's. */
function callIn({ value }: StoredScore, attributes: Attributes): Pick<Found, 'level' | 'call'> {
  const level = isOurs(attributes) ? readEventAttribute(attributes, 'spanscore.level') : undefined
  if (level !== 'tool-call' && level !== 'retrieval') return {}
  const toolCallId = readEventAttribute(attributes, 'gen_ai.tool.call.id')
  const toolName = readEventAttribute(attributes, 'gen_ai.tool.name')
  const isNamed = value !== undefined || toolCallId !== undefined || toolName !== undefined
  return { level, ...(isNamed && { call: { toolCallId, toolName } }) }
}

function isOurs(attributes: Attributes): boolean {
  return 'spanscore.revision' in attributes
}

/** Users and people may say different things by one name, and other tools may use a name of ours. */
function nameOf({ scorerId, evaluatorType }: StoredScore, attributes: Attributes): string {
  if (isOurs(attributes)) return scorerId
  const who = [evaluatorType, attributes['user.id'], readEventAttribute(attributes, 'spanscore.score.key')]
  return JSON.stringify([scorerId, 'other', ...who.map((each) => (typeof each === 'string' ? each : null))])
}

const ANNOTATION =
  /^(annotations|evaluations)\.(\d+)\.(?:annotation|evaluation)\.(name|score|label|explanation|annotator_kind|identifier)$/
const ANNOTATORS: Readonly<Record<string, string>> = { HUMAN: 'human', LLM: 'llm_judge', CODE: 'deterministic' }

/** Annotations of OpenInference (`spec/annotations.md`), in either of their forms. */
function fromAnnotations(attributes: Attributes): Found[] {
  const byIndex = new Map<string, Record<string, unknown>>()
  for (const key in attributes) {
    if (!key.startsWith('annotations.') && !key.startsWith('evaluations.')) continue
    const [, form, index, part] = ANNOTATION.exec(key) ?? []
    if (part === undefined) continue
    const place = `${form}.${index}`
    const parts = byIndex.get(place) ?? {}
    byIndex.set(place, parts)
    parts[part] = attributes[key]
  }
  return [...byIndex.values()].flatMap((parts) => {
    const scorerId = textIn(parts, 'name')
    if (scorerId === undefined) return []
    const kind = textIn(parts, 'annotator_kind')
    const score = toScore(scorerId, {
      value: numberIn(parts, 'score'),
      label: textIn(parts, 'label'),
      explanation: textIn(parts, 'explanation'),
      evaluatorType: kind === undefined ? undefined : (ANNOTATORS[kind] ?? kind),
      isForeign: true,
    })
    const name = JSON.stringify([scorerId, 'other', score.evaluatorType ?? null, textIn(parts, 'identifier') ?? null])
    return [{ name, score, origin: 'event', revision: 1, version: undefined, delayMs: -1 }]
  })
}

/** A score on the agent's own span was written before any other. */
function delayIn(attributes: Attributes): number {
  return readEventAttribute(attributes, 'spanscore.verdict_delay_ms') ?? -1
}

/** The findings of an event or late span; `undefined` if there are none that can be read. */
function findingsIn(attributes: Attributes): readonly Finding[] | undefined {
  const text = readEventAttribute(attributes, 'spanscore.findings')
  if (text === undefined) return undefined
  try {
    const findings = readFindings(JSON.parse(text))
    return findings.length === 0 ? undefined : findings
  } catch {
    return undefined
  }
}

/** A weight that somebody sent; `undefined` if it is none. */
function toWeight(given: number | undefined): number | undefined {
  return given !== undefined && Number.isFinite(given) && given > 0 ? Math.min(MAX_WEIGHT, given) : undefined
}

/** `undefined` if another tool wrote the event. */
function aboutIn(attributes: Attributes): ScoreIdentity | undefined {
  const version = readEventAttribute(attributes, 'gen_ai.evaluation.evaluator.version')
  if (version === undefined || !isOurs(attributes)) return undefined
  const judgeModel = readEventAttribute(attributes, 'spanscore.judge.model')
  const probability = readEventAttribute(attributes, 'spanscore.probability')
  const upstreamProbability = readEventAttribute(attributes, 'spanscore.upstream_probability')
  return {
    revision: readEventAttribute(attributes, 'spanscore.revision') ?? 1,
    version,
    ...(judgeModel !== undefined && { judgeModel }),
    range: [
      readEventAttribute(attributes, 'spanscore.score.min') ?? 0,
      readEventAttribute(attributes, 'spanscore.score.max') ?? 1,
    ],
    better: readEventAttribute(attributes, 'spanscore.score.better') === 'lower' ? 'lower' : 'higher',
    ...(probability !== undefined && { probability }),
    ...(upstreamProbability !== undefined && { upstreamProbability }),
  }
}

/** The score with those of its parts that are there. */
function toScore(
  scorerId: string,
  parts: { readonly [Key in keyof StoredScore]?: StoredScore[Key] | undefined },
): StoredScore {
  const there = Object.entries(parts).filter(([, part]) => part !== undefined)
  return { scorerId, ...Object.fromEntries(there) }
}

function numberIn(attributes: Attributes, key: string): number | undefined {
  const value = attributes[key]
  return typeof value === 'number' ? value : undefined
}

function textIn(attributes: Attributes, key: string): string | undefined {
  const value = attributes[key]
  return typeof value === 'string' ? value : undefined
}
