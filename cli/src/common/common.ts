import { changedTraits, commonTraits, LEAST_FAILING } from '../../../src/traits/common-traits.ts'
import { TraitTable } from '../../../src/traits/trait-table.ts'
import type { TraitRun } from '../../../src/traits/trait-table.ts'
import { withoutPause } from '../../../src/scoring/background.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import { createBackfill, startOf } from '../backfill/backfill.ts'
import type { CommandContext } from '../command.ts'
import { createPaint, write } from '../output.ts'
import { readFiles } from '../read-files.ts'
import { safeJson } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { commonMarkdown, renderCommon, toCommonJson } from './common-report.ts'
import { ScoredRuns } from './scored-runs.ts'
import { TraitFilter } from './trait-filter.ts'

/** The command-line options of `spanscore common`. */
export interface CommonOptions {
  /** The scorer whose failing runs are compared. */
  readonly scorer: string
  /** When the failures began: runs from before are compared with. */
  readonly since?: string
  /** A file with runs from before. */
  readonly baseline?: string
  /** `agent=NAME` or a trait: which runs are compared. */
  readonly where?: readonly string[]
  /** A backend whose stored traces are read, instead of files. */
  readonly from?: string
  /** Which stored traces are read, in the backend's own language. */
  readonly query?: string
  /** Whether to print the result for programs. */
  readonly json?: boolean
  /** Whether to print the result as Markdown. */
  readonly markdown?: boolean
}

const NARROWEST = 40
const WIDEST = 120

/** Reads scored runs, and prints what the failing ones have in common. */
export async function common(files: readonly string[], options: CommonOptions, context: CommandContext): Promise<void> {
  checkOptions(files, options)
  const nowMs = Date.now()
  const sinceMs = options.since === undefined ? undefined : startOf(options.since, nowMs)
  const table = new TraitTable()
  const now = new ScoredRuns(options.scorer, table, new TraitFilter(options.where ?? []))
  for await (const stored of itemsOf(files, options, { nowMs, sinceMs }, context)) now.add(stored)
  now.check()
  const earlier =
    options.baseline === undefined ? undefined : await readBaseline(options.baseline, options, table, context)
  const runs = sinceMs === undefined ? now.runs : now.runs.filter(({ startTimeMs }) => startTimeMs >= sinceMs)
  const before = earlier ?? (sinceMs === undefined ? [] : now.runs.filter(({ startTimeMs }) => startTimeMs < sinceMs))
  if (runs.length === 0) throw new UsageError(outside(now.runs, options.since))
  const failing = runs.filter(({ fails }) => fails).length
  if (failing < LEAST_FAILING) throw new UsageError(tooFew(options.scorer, failing, runs.length))
  if (now.leftOut > 0) {
    context.stderr.write(
      `spanscore: ${now.leftOut.toLocaleString('en')} runs are left out: at most ${now.runs.length.toLocaleString('en')} are compared; use --where\n`,
    )
  }
  const report = {
    scorer: options.scorer,
    sinceMs,
    unscored: now.unscored,
    changed: withoutPause(changedTraits(before, runs, table)),
    found: withoutPause(commonTraits(runs, before, table)),
  }
  const text =
    options.json === true
      ? safeJson(toCommonJson(report))
      : options.markdown === true
        ? commonMarkdown(report)
        : rendered(report, context)
  await write(context.stdout, `${text}\n`)
}

function rendered(report: Parameters<typeof renderCommon>[0], { stdout, environment }: CommandContext): string {
  const columns = Math.min(WIDEST, Math.max(NARROWEST, stdout.columns ?? 100))
  return renderCommon(report, { columns, paint: createPaint(stdout, environment) })
}

function checkOptions(files: readonly string[], { since, baseline, from, query, json, markdown }: CommonOptions): void {
  if (files.length === 0 && from === undefined)
    throw new UsageError('expected trace files with scores, or --from with a backend; got neither', { showsHelp: true })
  if (files.length > 0 && from !== undefined)
    throw new UsageError(`--from: expected either a backend or files, got both: ${files.join(', ')}`)
  if (since !== undefined && baseline !== undefined)
    throw new UsageError('--since: expected a time or a --baseline to compare with, got both')
  if (query !== undefined && from === undefined)
    throw new UsageError('--query: expected --from with a backend, got none')
  if (json === true && markdown === true) throw new UsageError('--json: expected one form, got --markdown, too')
}

/** How far back a backend is read without `--since`. */
const DAY_MS = 86_400_000

async function* itemsOf(
  files: readonly string[],
  { from, query }: CommonOptions,
  { nowMs, sinceMs }: { readonly nowMs: number; readonly sinceMs: number | undefined },
  context: CommandContext,
): AsyncGenerator<StoredRun> {
  if (from === undefined) {
    yield* readFiles(files, context).runs
    return
  }
  // Twice as far back, so that there are runs to compare with.
  const startMs = sinceMs === undefined ? nowMs - DAY_MS : 2 * sinceMs - nowMs
  const settings = { from, since: new Date(startMs).toISOString(), ...(query !== undefined && { query }) }
  const runs: StoredRun[] = []
  for await (const item of createBackfill(settings, context.environment, nowMs).items) {
    if (!('doneMs' in item)) runs.push(item)
  }
  yield* runs.toSorted((one, other) => one.run.startTimeMs - other.run.startTimeMs)
}

async function readBaseline(
  file: string,
  { scorer, where }: CommonOptions,
  table: TraitTable,
  context: CommandContext,
): Promise<readonly TraitRun[]> {
  const scored = new ScoredRuns(scorer, table, new TraitFilter(where ?? []))
  for await (const stored of readFiles([file], context).runs) scored.add(stored)
  if (scored.runs.length === 0)
    throw new UsageError(`--baseline: expected a trace file with scores of ${scorer}, got none in ${file}`)
  return scored.runs
}

function outside(runs: readonly { readonly startTimeMs: number }[], since: string | undefined): string {
  const times = runs.map(({ startTimeMs }) => startTimeMs)
  const [first, last] = [times[0], times.at(-1)].map((time) => new Date(time ?? 0).toISOString())
  return `--since: expected a time between ${first} and ${last}, when the scored runs began; got ${since}`
}

function tooFew(scorer: string, failing: number, runs: number): string {
  const count = failing === 0 ? 'none' : `only ${failing}`
  return `${count} of ${runs.toLocaleString('en')} scored runs ${failing === 1 ? 'fails' : 'fail'} ${scorer}; at least ${LEAST_FAILING} failing runs are needed to say what they have in common: see each with spanscore inspect, or read more files`
}
