import { RecognisedSpanCounter } from '../../../src/spans/recognised-spans.ts'
import { toStoredRuns } from '../../../src/otlp/runs-by-start.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import type { CommandContext } from '../command.ts'
import { readFiles } from '../read-files.ts'
import type { RunFiles } from '../read-files.ts'
import type { ScoreOptions } from '../score/score-options.ts'
import { readHeaders } from '../otlp-headers.ts'
import { UsageError } from '../usage-error.ts'
import { agentWith } from './backend-access.ts'
import { createBackend } from './create-backend.ts'
import { ResumeFile } from './resume-file.ts'
import { timeSlices } from './time-slices.ts'

/** A run, or the time up to which all runs came. */
export type BackfillItem = StoredRun | { readonly doneMs: number }

/** The stored traces of a backend. */
export interface Backfill {
  readonly items: AsyncGenerator<BackfillItem>
  readonly summary: RunFiles['summary']
  readonly resume: ResumeFile
}

/** Runs may still be in progress for so long. It is how long the service waits for parents of spans. */
const UNSETTLED_MS = 300_000

/**
 * Reads the runs of a backend by time.
 *
 * @throws UsageError if an option is wrong
 */
export function createBackfill(
  {
    from,
    since,
    query,
    to,
    resume: path,
    fromCa: ca,
    fromCert: cert,
    fromKey: key,
  }: Pick<ScoreOptions, 'since' | 'query' | 'to' | 'resume' | 'fromCa' | 'fromCert' | 'fromKey'> & {
    readonly from: string
  },
  environment: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): Backfill {
  const access = {
    headers: readHeaders(environment.SPANSCORE_FROM_HEADERS),
    agent: agentWith('--from', { ca, cert, key }),
  }
  const backend = createBackend(from, query, access)
  const range = { fromMs: startOf(since, nowMs), toMs: nowMs - UNSETTLED_MS }
  if (range.fromMs >= range.toMs) {
    throw new UsageError(`--since: expected more than 5 minutes, in which runs may still be in progress; got ${since}`)
  }
  const resume = new ResumeFile(path, { from, query: query ?? null, to: to ?? null }, range)
  const counts = { spans: 0, logRecords: 0, metricRequests: 0, damagedRecords: 0 }
  const recognised = new RecognisedSpanCounter()
  async function* items(): AsyncGenerator<BackfillItem> {
    for await (const { spans, toMs } of timeSlices(backend, resume.rest)) {
      counts.spans += spans.length
      for (const span of spans) recognised.add(span)
      yield* toStoredRuns(spans, [])
      yield { doneMs: toMs }
    }
  }
  return { items: items(), summary: () => ({ ...counts, ...recognised.counted }), resume }
}

/**
 * The runs of files, or of a backend if there are none.
 *
 * @throws UsageError if it is neither or both, or an option is wrong
 */
export function readStored(
  files: readonly string[],
  given: Pick<ScoreOptions, 'from' | 'since' | 'query'>,
  context: CommandContext,
): Pick<RunFiles, 'summary'> & { readonly runs: AsyncIterable<StoredRun> } {
  const { from } = given
  if (files.length > 0 && from !== undefined)
    throw new UsageError(`--from: expected either a backend or files, got both: ${files.join(', ')}`)
  if (from === undefined && files.length === 0)
    throw new UsageError('expected trace files, or --from with a backend; got neither', { showsHelp: true })
  if (from === undefined) return readFiles(files, context)
  const { items, summary } = createBackfill({ ...given, from }, context.environment, Date.now())
  async function* runs(): AsyncGenerator<StoredRun> {
    for await (const item of items) if (!('doneMs' in item)) yield item
  }
  return { runs: runs(), summary }
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * When a duration before now, or a date, begins: milliseconds since the epoch.
 *
 * @param option how the error names it
 * @throws UsageError if it is neither
 */
export function startOf(since: string, nowMs: number, option = '--since'): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(since) ?? []
  const startMs = count === undefined ? Date.parse(since) : nowMs - Number(count) * (UNITS_MS[unit] ?? 0)
  if (Number.isFinite(startMs)) return startMs
  throw new UsageError(`${option}: expected a time such as 24h, 7d or 2026-11-27T00:00:00Z, got ${since}`)
}
