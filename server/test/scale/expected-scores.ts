import { join } from 'node:path'

import { buildRuns, scoreIds, toSpanSet } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'
import { evaluate } from 'spanscore/scorers/prebuilt'

import { loadServiceConfig } from '../../src/config/load-config.ts'

/** The scorers of workers under test. The one called `content` shows whether the whole run is as expected. */
export const CONTENT_CONFIG = join(import.meta.dirname, 'content-config.mjs')

/** Everything that is written of a score. An absent part is undefined. */
export interface WrittenScore {
  /** Follows from run, scorer, version and spans. */
  readonly id: unknown
  readonly revision: unknown
  readonly complete: unknown
  /** `scored`, `skipped` or `failed`; events are not written for skipped scores. */
  readonly status: unknown
  /** The value of the score; of a skipped or failed one, the reason. */
  readonly value: unknown
  readonly label: unknown
  /** The explanation; of a skipped or failed score, the message, which events do not have. */
  readonly explanation: unknown
}

/** The scores of a run, by scorer. */
export type WrittenScores = Readonly<Record<string, WrittenScore>>

const { options } = loadServiceConfig(CONTENT_CONFIG, () => undefined)

const scorers = options.scorers.map((entry) => ('scorer' in entry ? entry.scorer : entry))

/** What every scorer says of the runs that `buildRuns` makes of these spans and log records: by run, then by scorer. */
export async function expectedScores(
  spans: readonly SourceSpan[],
  logs: readonly SourceLog[],
): Promise<ReadonlyMap<string, WrittenScores>> {
  const set = toSpanSet(
    spans.map(({ spanId }) => spanId),
    [...new Set(logs.map(({ spanId }) => spanId))],
  )
  const found = new Map<string, WrittenScores>()
  for (const run of buildRuns(spans, { logs })) {
    const scores: Record<string, WrittenScore> = {}
    for (const scorer of scorers) {
      const { score, complete } = await evaluate(scorer, run)
      scores[scorer.id] = {
        id: scoreIds(run, scorer, set).id,
        revision: set.count,
        complete,
        status: score.status,
        ...(score.status === 'scored'
          ? { value: score.value, label: score.label, explanation: score.explanation }
          : {
              value: score.status === 'skipped' ? score.reason : score.code,
              label: undefined,
              explanation: score.message,
            }),
      }
    }
    found.set(`${run.traceId}:${run.spanId}`, scores)
  }
  return found
}

/** What a late span says. Unlike events, late spans are also written for skipped scores. */
export function readLateSpan(span: SourceSpan): WrittenScore {
  const { attributes } = span
  const of = (name: string) => attributes[`spanscore.${scorerOf(span)}.${name}`]
  const isScored = of('status') === undefined
  return {
    ...identityOf(attributes),
    status: isScored ? 'scored' : of('status'),
    value: isScored ? of('score') : of('status_reason'),
    label: of('label'),
    explanation: isScored ? of('explanation') : of('status_message'),
  }
}

/** What an event says. */
export function readEvent({ attributes }: SourceLog): WrittenScore {
  const error = attributes['error.type']
  return {
    ...identityOf(attributes),
    status: error === undefined ? 'scored' : 'failed',
    value: error ?? attributes['gen_ai.evaluation.score.value'],
    label: attributes['gen_ai.evaluation.score.label'],
    explanation: attributes['gen_ai.evaluation.explanation'],
  }
}

/** The id of the scorer that wrote an event or a late span. */
export function scorerOf({ attributes }: Pick<SourceSpan, 'attributes'>): string {
  return String(attributes['gen_ai.evaluation.name'])
}

function identityOf(attributes: SourceSpan['attributes']): Pick<WrittenScore, 'id' | 'revision' | 'complete'> {
  return {
    id: attributes['spanscore.score.id'],
    revision: attributes['spanscore.revision'],
    complete: attributes['spanscore.complete'],
  }
}
