import type { DatabaseSync } from 'node:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { ToPage } from './messages.ts'
import { ASSETS_FOLDER } from './assets.ts'
import type { Ingest } from './ingest.ts'

/** A recorded run with its scores. */
interface Example {
  readonly runId: string
  readonly traceId: string
  readonly spanIds: readonly string[]
  readonly otlp: unknown
  readonly scores: readonly { readonly runId: string; readonly scoreKey: string; readonly evaluation: object }[]
}

/** Shows the recorded run that ships with the page, until the first other one. It is never sent anywhere. @returns its id */
export function loadExample(ingest: Ingest, database: DatabaseSync): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of this package
  const example = JSON.parse(readFileSync(join(ASSETS_FOLDER, 'example-run.json'), 'utf8')) as Example
  const { runId, traceId, spanIds, otlp, scores } = example
  const items: ToPage[] = [
    {
      kind: 'record',
      signal: 'traces',
      encoding: 'json',
      contentEncoding: '',
      body: Buffer.from(JSON.stringify(otlp)),
    },
    { kind: 'settled', traceId, spanIds, lacksSpans: false, revisions: { [runId]: spanIds.length } },
    ...scores.map((score): ToPage => ({
      kind: 'score',
      runId: score.runId,
      scoreKey: score.scoreKey,
      // Without a probability it counts in no mean.
      evaluation: JSON.stringify({ ...score.evaluation, probability: undefined }),
    })),
  ]
  database.exec('BEGIN')
  for (const item of items) ingest.take(item)
  database.exec('COMMIT')
  return runId
}
