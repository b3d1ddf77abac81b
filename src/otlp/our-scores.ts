import { readFindings } from '../model/finding.ts'
import type { Finding } from '../model/finding.ts'
import { readEventAttribute } from '../attributes/event-attributes.ts'
import { readScoreAttribute, scorersIn } from '../attributes/score-attributes.ts'
import { evaluationIn, toStoredScore, toWeight } from './stored-score.ts'
import type { Attributes, ScoreIdentity, StoredScore } from './stored-score.ts'

/** Where a score may be found. Of two places, the later one in this list wins. */
const ORIGINS = ['event', 'late-span', 'span'] as const
type Origin = (typeof ORIGINS)[number]

/** A score that spanscore wrote. */
export interface OurScore {
  /** Scores of one name are one score, of which the best record counts. */
  readonly name: string
  readonly score: StoredScore
  readonly origin: Origin
  readonly revision: number
  /** The scorer's version, if the span or event has it. */
  readonly version: string | undefined
  /** Milliseconds between the end of the run and the score. Of two scores of a run, the larger is the later one. */
  readonly delayMs: number
  /** The level of a scorer of calls. Its score is that of a call if it has a value, names the call, or is at the call's own span. */
  readonly level?: 'tool-call' | 'retrieval'
  /** Present in the score of one call, wherever it is. */
  readonly call?: ScoredCall
}

/** What an event or late span says of the call to which its score belongs. */
interface ScoredCall {
  readonly toolCallId: string | undefined
  readonly toolName: string | undefined
}

/**
 * The latest revision wins; within a revision, a value wins over a reason. A run that was scored again by another version of the scorer has
 * two scores of one revision, and the later one wins. Otherwise the origin decides, and details that only the event of the same score has
 * are added.
 */
export function betterOf(known: OurScore, found: OurScore): OurScore {
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

function hasValue({ score }: OurScore): boolean {
  return score.value !== undefined
}

/** The scores on a span, or on a late span. */
export function oursOnSpan(attributes: Attributes, origin: 'span' | 'late-span'): OurScore[] {
  const revision = readEventAttribute(attributes, 'spanscore.revision') ?? 1
  return [...scorersIn(attributes)].map((scorerId) => {
    const about = origin === 'late-span' ? aboutIn(attributes) : undefined
    const score = toStoredScore(scorerId, {
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

/** The score in an event of ours. */
export function oursInEvent(attributes: Attributes): OurScore | undefined {
  const scorerId = readEventAttribute(attributes, 'gen_ai.evaluation.name')
  if (scorerId === undefined) return undefined
  const about = aboutIn(attributes)
  const score = toStoredScore(scorerId, {
    ...evaluationIn(attributes),
    found: readScoreAttribute(attributes, scorerId, 'found'),
    findings: findingsIn(attributes),
    about,
  })
  return {
    ...named(scorerId, callIn(score, attributes)),
    score,
    origin: 'event',
    revision: readEventAttribute(attributes, 'spanscore.revision') ?? 1,
    version: about?.version,
    delayMs: delayIn(attributes),
  }
}

/** A span may have scores of several calls without spans of their own. */
function named(
  name: string,
  { level, call }: Pick<OurScore, 'level' | 'call'>,
): Pick<OurScore, 'name' | 'level' | 'call'> {
  return {
    name: call === undefined ? name : `${name}\n${call.toolName}\n${call.toolCallId}`,
    ...(level !== undefined && { level }),
    ...(call !== undefined && { call }),
  }
}

/** What a scorer of calls writes of one. If it could not be asked about them, it has one result without a call, which is the run's. */
function callIn({ value }: StoredScore, attributes: Attributes): Pick<OurScore, 'level' | 'call'> {
  const level = readEventAttribute(attributes, 'spanscore.level')
  if (level !== 'tool-call' && level !== 'retrieval') return {}
  const toolCallId = readEventAttribute(attributes, 'gen_ai.tool.call.id')
  const toolName = readEventAttribute(attributes, 'gen_ai.tool.name')
  const isNamed = value !== undefined || toolCallId !== undefined || toolName !== undefined
  return { level, ...(isNamed && { call: { toolCallId, toolName } }) }
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

/** `undefined` if the version of the scorer is not there. */
function aboutIn(attributes: Attributes): ScoreIdentity | undefined {
  const version = readEventAttribute(attributes, 'gen_ai.evaluation.evaluator.version')
  if (version === undefined) return undefined
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
