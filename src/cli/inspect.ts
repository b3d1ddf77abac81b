import { statSync } from 'node:fs'
import { readRuns } from '../otlp/read-runs.ts'
import type { OtlpDamage, OtlpInput, OtlpSummary } from '../otlp/read-runs.ts'
import { createPaint, write } from './output.ts'
import type { OutputStream } from './output.ts'
import { createProgress } from './progress.ts'
import { renderRun } from './run-tree.ts'
import { safeJson, safeLine } from './text.ts'
import { UsageError } from './usage-error.ts'

/** The streams and environment that a command works with. */
export interface CommandContext {
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** More damaged records are counted, not listed. */
const MAX_LISTED_DAMAGES = 20

const NARROWEST = 40
const WIDEST = 120

/**
 * `spanscore inspect FILE… [--json]`: shows the agent runs in OTLP files.
 *
 * @throws UsageError where a file cannot be read, or no file holds a span.
 */
export async function inspect(files: readonly string[], asJson: boolean, context: CommandContext): Promise<void> {
  if (files.length === 0) throw new UsageError('inspect needs a file, or - for standard input')
  const sizes = files.map((file) => (file === '-' ? undefined : sizeOf(file)))
  const totalBytes = sizes.reduce((sum, size) => (sum === undefined || size === undefined ? undefined : sum + size), 0)
  const progress = createProgress({ stream: context.stderr, totalBytes })
  const damages: OtlpDamage[] = []
  let summary: OtlpSummary | undefined
  const runs = readRuns(
    files.map((file) => toInput(file, context)),
    {
      onProgress: (bytesRead) => progress.update(bytesRead),
      onDamage: (damage) => damages.length < MAX_LISTED_DAMAGES && damages.push(damage),
      onRead: (read) => {
        summary = read
        progress.clear()
        if (read.spans === 0) throw new UsageError(noSpans(files, damages[0]))
        reportDamages(damages, read, context.stderr)
      },
    },
  )
  try {
    const count = asJson ? await writeJson(runs, context.stdout) : await writeTrees(runs, context)
    if (!asJson) await write(context.stdout, `${describeCount(count, summary)}\n`)
    else if (count === 0) context.stderr.write(`spanscore: ${describeCount(count, summary)}\n`)
  } finally {
    progress.clear()
  }
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw new UsageError(`cannot read ${safeLine(file)}: no such file`)
  if (stats.isDirectory()) throw new UsageError(`cannot read ${safeLine(file)}: it is a directory`)
  return stats.size
}

function toInput(file: string, context: CommandContext): OtlpInput {
  return file === '-' ? { name: 'standard input', bytes: context.stdin } : file
}

async function writeJson(runs: AsyncIterable<unknown>, stdout: OutputStream): Promise<number> {
  let count = 0
  for await (const run of runs) {
    await write(stdout, `${count === 0 ? '{ "runs": [\n' : ',\n'}${safeJson(JSON.stringify(run))}`)
    count++
  }
  await write(stdout, count === 0 ? '{ "runs": [] }\n' : '\n] }\n')
  return count
}

async function writeTrees(runs: ReturnType<typeof readRuns>, { stdout, environment }: CommandContext): Promise<number> {
  const columns = Math.min(WIDEST, Math.max(NARROWEST, stdout.columns ?? 80))
  const style = { columns, paint: createPaint(stdout, environment) }
  let count = 0
  for await (const run of runs) {
    await write(stdout, `${renderRun(run, style)}\n`)
    count++
  }
  return count
}

function reportDamages(damages: readonly OtlpDamage[], summary: OtlpSummary, stderr: OutputStream): void {
  for (const { input, place, reason } of damages) {
    stderr.write(`spanscore: ${safeLine(input)}, ${place}: ${safeLine(reason)}; left out\n`)
  }
  const more = summary.damagedRecords - damages.length
  if (more > 0) stderr.write(`spanscore: ${more} more damaged records left out\n`)
}

function noSpans(files: readonly string[], damage: OtlpDamage | undefined): string {
  const names = files.map((file) => (file === '-' ? 'standard input' : safeLine(file))).join(', ')
  const why = damage === undefined ? '' : ` (${damage.place}: ${safeLine(damage.reason)})`
  return `no spans in ${names}${why}; expected OTLP traces as JSON, JSON lines or protobuf`
}

function describeCount(count: number, summary: OtlpSummary | undefined): string {
  const { spans, recognisedSpans } = summary ?? { spans: 0, recognisedSpans: 0 }
  const from = `in ${spans.toLocaleString('en')} ${spans === 1 ? 'span' : 'spans'}`
  if (count > 0) return `${count.toLocaleString('en')} ${count === 1 ? 'run' : 'runs'} ${from}`
  return recognisedSpans === 0
    ? `no agent runs ${from}: none is from an instrumentation that spanscore knows (docs/instrumentations.md)`
    : `no agent runs ${from}: ${recognisedSpans} are from known instrumentations, but no agent or model call is among them`
}
