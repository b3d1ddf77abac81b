import { isEvaluation, readEventAttribute } from '../attributes/event-attributes.ts'
import { numberOf, textOf } from '../spans/json.ts'
import type { SourceLog } from '../spans/source-span.ts'
import { evaluationIn, toStoredScore } from './stored-score.ts'
import type { Attributes, StoredScore } from './stored-score.ts'

/** What a user or another tool says. */
export interface Said {
  /** What was said of what, and by whom: what is said again has the same name. */
  readonly name: string
  readonly score: StoredScore
  /** Milliseconds since the epoch. */
  readonly timeMs: number
}

/** Whether a record is what a user or another tool says. */
export function isSaid({ eventName, attributes }: Pick<SourceLog, 'eventName' | 'attributes'>): boolean {
  return isEvaluation(eventName) && !isOurs(attributes)
}

/** Whether spanscore wrote a score. */
export function isOurs(attributes: Attributes): boolean {
  return 'spanscore.revision' in attributes
}

/** What is said again replaces what was said before, in whatever order both are read. */
export function replacesSaid(known: Pick<Said, 'timeMs'>, found: Pick<Said, 'timeMs'>): boolean {
  return found.timeMs >= known.timeMs
}

/** The `name` of what an event says. Users and people may say different things by one name. */
export function nameOfSaid(attributes: Attributes): string {
  const parts = ['gen_ai.evaluation.name', 'gen_ai.evaluation.evaluator.type', 'user.id', 'spanscore.score.key']
  return JSON.stringify(parts.map((part) => attributes[part] ?? null))
}

/** What an event says, or the span of an evaluator. */
export function saidIn(attributes: Attributes, timeMs: number): Said | undefined {
  const scorerId = readEventAttribute(attributes, 'gen_ai.evaluation.name')
  if (scorerId === undefined) return undefined
  const evaluatorType = readEventAttribute(attributes, 'gen_ai.evaluation.evaluator.type')
  const score = toStoredScore(scorerId, { ...evaluationIn(attributes), evaluatorType, isForeign: true })
  return { name: nameOfSaid(attributes), score, timeMs }
}

const ANNOTATION =
  /^(annotations|evaluations)\.(\d+)\.(?:annotation|evaluation)\.(name|score|label|explanation|annotator_kind|identifier)$/
const ANNOTATORS: Readonly<Record<string, string>> = { HUMAN: 'human', LLM: 'llm_judge', CODE: 'deterministic' }

/** Annotations of OpenInference (`spec/annotations.md`), in either of their forms. */
export function saidInAnnotations(attributes: Attributes, timeMs: number): Said[] {
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
    const scorerId = textOf(parts.name)
    if (scorerId === undefined) return []
    const kind = textOf(parts.annotator_kind)
    const score = toStoredScore(scorerId, {
      value: numberOf(parts.score),
      label: textOf(parts.label),
      explanation: textOf(parts.explanation),
      evaluatorType: kind === undefined ? undefined : (ANNOTATORS[kind] ?? kind),
      isForeign: true,
    })
    const name = JSON.stringify([scorerId, score.evaluatorType ?? null, textOf(parts.identifier) ?? null])
    return [{ name, score, timeMs }]
  })
}
