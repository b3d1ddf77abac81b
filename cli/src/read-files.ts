import { statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { readStoredRuns } from '../../src/otlp/read-runs.ts'
import type { OtlpDamage, OtlpInput, OtlpSummary } from '../../src/otlp/read-runs.ts'
import type { StoredRun } from '../../src/otlp/runs-by-start.ts'
import type { RecognisedSpans } from '../../src/spans/recognised-spans.ts'
import type { CommandContext } from './command.ts'
import { createProgress } from './progress.ts'
import { cutLine, safeLine } from './text.ts'
import { UsageError } from './usage-error.ts'

/**
 * Keeps the heap's young generation at its first size. What is read lives for milliseconds, so a larger one saves no time, and its
 * pages are what made the memory of a command depend on the size of its files.
 */
const KEEPS_YOUNG_HEAP_SMALL = '--semi-space-growth-factor=1'

/** How many damaged records are listed. Further ones are only counted. */
const MAX_LISTED_DAMAGES = 20

/** Trace files that are being read. */
export interface RunFiles {
  /** The runs by start time, once all files have been read. Rejects with a `UsageError` if no file has a span. */
  readonly runs: AsyncGenerator<StoredRun>
  /** The contents of the files in numbers; `undefined` before the first run is returned. */
  readonly summary: () => OtlpSummary | undefined
}

/**
 * Reads the runs in trace files for a command. Shows a progress bar on a terminal, and prints a line on stderr for each record that
 * could not be read.
 *
 * @throws UsageError if no file is given, or one cannot be opened.
 */
export function readFiles(files: readonly string[], context: CommandContext): RunFiles {
  setFlagsFromString(KEEPS_YOUNG_HEAP_SMALL)
  const sizes = files.map((file) => (file === '-' ? undefined : sizeOf(file)))
  const totalBytes = sizes.reduce((sum, size) => (sum === undefined || size === undefined ? undefined : sum + size), 0)
  const progress = createProgress({ stream: context.stderr, totalBytes })
  const damages: OtlpDamage[] = []
  let summary: OtlpSummary | undefined
  const runs = readStoredRuns(
    files.map((file) => toInput(file, context)),
    {
      onProgress: (bytesRead) => progress.update(bytesRead),
      onDamage: (damage) => damages.length < MAX_LISTED_DAMAGES && damages.push(damage),
      onRead: (read) => {
        summary = read
        progress.clear()
        if (read.spans === 0) throw new UsageError(noSpans(files, read, damages))
        reportDamages(damages, read, context)
      },
    },
  )
  return { runs: clearing(runs, () => progress.clear()), summary: () => summary }
}

/** Removes the bar when reading ends, with or without an error. */
async function* clearing(runs: AsyncGenerator<StoredRun>, clear: () => void): AsyncGenerator<StoredRun> {
  try {
    yield* runs
  } finally {
    clear()
  }
}

/**
 * The size of a file in bytes.
 *
 * @throws UsageError if it cannot be read.
 */
export function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw new UsageError(`cannot read ${safeLine(file)}: no such file`)
  if (stats.isDirectory()) throw new UsageError(`cannot read ${safeLine(file)}: it is a directory; name its files`)
  return stats.size
}

function toInput(file: string, context: CommandContext): OtlpInput {
  return file === '-' ? { name: 'standard input', bytes: context.stdin } : file
}

function reportDamages(damages: readonly OtlpDamage[], summary: OtlpSummary, { stderr }: CommandContext): void {
  for (const { input, place, reason } of damages) {
    stderr.write(`spanscore: ${safeLine(input)}, ${place}: ${safeLine(reason)}; left out\n`)
  }
  const more = summary.damagedRecords - damages.length
  if (more > 0) stderr.write(`spanscore: ${more} more damaged records left out\n`)
}

function isEmptyFile(file: string): boolean {
  const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false })
  return stats !== undefined && stats.isFile() && stats.size === 0
}

function noSpans(files: readonly string[], read: OtlpSummary, damages: readonly OtlpDamage[]): string {
  const names = files.map((file) => (file === '-' ? 'standard input' : safeLine(file))).join(', ')
  if (files.every(isEmptyFile))
    return `no spans in ${names}: ${files.length === 1 ? 'the file is' : 'the files are'} empty`
  const held = read.metricRequests > 0 ? ' (only metrics)' : read.logRecords > 0 ? ' (only log records)' : ''
  // Each reason at its first place.
  const places = new Map(damages.toReversed().map(({ place, reason }) => [reason, place]))
  const causes = [...places]
    .toReversed()
    .slice(0, 2)
    .map(([reason, place]) => `${place}: ${safeLine(reason)}`)
  const why = causes.length === 0 ? held : ` (${causes.join('; ')})`
  return `no spans in ${names}${why}; expected traces as OTLP (JSON, JSON lines, protobuf), or of Jaeger or Tempo: docs/reference/trace-files.md`
}

/** Why there are no runs in files that hold spans, or how many there are. */
export function describeCount(count: number, summary: OtlpSummary | undefined): string {
  const { spans } = summary ?? { spans: 0 }
  const from = `in ${spans.toLocaleString('en')} ${spans === 1 ? 'span' : 'spans'}`
  if (summary === undefined || spans === 0) return 'no traces'
  if (count > 0) return `${count.toLocaleString('en')} ${count === 1 ? 'run' : 'runs'} ${from}`
  return summary.recognisedSpans === 0
    ? `no agent runs ${from}: none is from an instrumentation that spanscore knows (docs/reference/libraries.md)`
    : `no agent runs ${from}: ${describeRecognised(summary)}`
}

/** Why spans of known instrumentations hold no run. */
export function describeRecognised({ recognisedSpans, dialects, firstFailed }: RecognisedSpans): string {
  const from = `${recognisedSpans} ${recognisedSpans === 1 ? 'is' : 'are'} from ${dialects.join(', ')}`
  const none = `${from}, and no agent or model call is among them`
  if (firstFailed === undefined) return none
  const { name, error } = firstFailed
  const text = cutLine(safeLine(error.message ?? error.type ?? ''), LONGEST_ERROR)
  return `${none}; ${cutLine(safeLine(name), LONGEST_ERROR)} failed: ${text}; what fails before its first model call is no run`
}

/** How much of an error is shown, in columns. */
const LONGEST_ERROR = 200
