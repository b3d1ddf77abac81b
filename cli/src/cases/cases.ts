import { existsSync, readFileSync, appendFileSync } from 'node:fs'

import { parseCases } from '../../../src/cases/agent-case.ts'
import type { AgentCase } from '../../../src/cases/agent-case.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import { readStored, startOf } from '../backfill/backfill.ts'
import type { CommandContext } from '../command.ts'
import { pageSource } from '../mcp/http-source.ts'
import { PageClient } from '../mcp/page-client.ts'
import { makeFolderOf, write } from '../output.ts'
import { describeCount } from '../read-files.ts'
import { readVersion } from '../read-version.ts'
import { findConfig } from '../score/load-config.ts'
import { safeJson, safeLine } from '../text.ts'
import { NO_SCORES } from '../no-scores.ts'
import { UsageError } from '../usage-error.ts'
import { CaseCollector } from './case-collector.ts'
import type { CaseCollectorOptions, LeftOut } from './case-collector.ts'
import { DATASET_FORMATS } from './dataset-formats.ts'
import type { DatasetFormat } from './dataset-formats.ts'
import { runsOfPage } from './page-runs.ts'

/** The command-line options of `spanscore cases`. */
export interface CasesOptions {
  /** The backend whose stored traces are read, instead of files. */
  readonly from?: string
  /** The address of the page whose runs are read, instead of files. */
  readonly page?: string
  /** The file with the page's token. */
  readonly tokenFile?: string
  /** How far back: a duration or a time. */
  readonly since: string
  /** Which traces, in the backend's own language. */
  readonly query?: string
  /** The file that cases are added to; without one they are printed. */
  readonly out?: string
  /** Files with people's labels. */
  readonly labels?: readonly string[]
  /** The scorers that count. */
  readonly scorer?: readonly string[]
  /** Whether only runs count on which a judge and a person differ. */
  readonly disputed?: boolean
  /** At most this many cases. */
  readonly top: number
  /** The configuration, whose `redact` applies. */
  readonly config?: string
}

/** Writes the runs in trace files that failed as cases. */
export async function collectCases(
  files: readonly string[],
  options: CasesOptions,
  context: CommandContext,
): Promise<void> {
  const configured = findConfig(options.config, context)
  if (configured?.stripContent === true)
    throw new UsageError('cases hold the content of runs, which stripContent of the configuration forbids')
  const known = options.out === undefined || !existsSync(options.out) ? [] : readCases(options.out, '--out')
  const collector = new CaseCollector({
    top: options.top,
    disputedOnly: options.disputed === true,
    scorers: new Set(options.scorer),
    labelsOf: await labelsIn(options.labels ?? []),
    known: new Set(known.map(({ id }) => id)),
    redact: configured?.redact,
  })
  const { runs, whyNone } = await read(files, options, context)
  let [count, scores] = [0, 0]
  for await (const { run, scoresOf } of runs) {
    for (const one of withNested(run)) {
      count++
      const stored = scoresOf(one)
      scores += stored.length
      collector.add(one, stored)
    }
  }
  if (count === 0) throw new UsageError(whyNone())
  if (scores === 0) throw new UsageError(NO_SCORES)
  const cases = collector.results()
  const text = cases.map((each) => `${safeJson(JSON.stringify(each))}\n`).join('')
  if (options.out === undefined) await write(context.stdout, text)
  else append(options.out, text)
  for (const line of describe(cases.length, collector.leftOut, options, configured === undefined))
    context.stderr.write(`spanscore: ${safeLine(line)}\n`)
}

interface Runs {
  readonly runs: AsyncIterable<Pick<StoredRun, 'run' | 'scoresOf'>>
  /** The message if there are none. */
  readonly whyNone: () => string
}

async function read(files: readonly string[], options: CasesOptions, context: CommandContext): Promise<Runs> {
  const { page, tokenFile, since, from } = options
  if (page === undefined) {
    const { runs, summary } = readStored(files, options, context)
    return { runs, whyNone: () => describeCount(0, summary()) }
  }
  if (files.length > 0 || from !== undefined)
    throw new UsageError('--page: expected neither files nor --from beside it')
  const client = new PageClient(pageSource(page, tokenFile, context))
  await client.overview(readVersion())
  const runs = runsOfPage(client, startOf(since, Date.now()))
  return { runs, whyNone: () => `no run of the page since ${since} was failed by a scorer or disliked by a user` }
}

/** Prints a file of cases in the form of another tool's datasets. */
export async function convertCases(file: string, to: DatasetFormat, context: CommandContext): Promise<void> {
  const text = readCases(file, 'cases').map((each) => `${safeJson(JSON.stringify(DATASET_FORMATS[to](each)))}\n`)
  await write(context.stdout, text.join(''))
}

/**
 * Reads a file of cases.
 *
 * @param option what names the file, for the message
 * @throws UsageError if it cannot be read, or a line is not a case.
 */
export function readCases(file: string, option: string): readonly AgentCase[] {
  try {
    return parseCases(readFileSync(file, 'utf8'), file)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${option}: cannot read cases: ${safeLine(message)}`)
  }
}

async function labelsIn(files: readonly string[]): Promise<CaseCollectorOptions['labelsOf']> {
  if (files.length === 0) return () => []
  const { readLabels, scoreOf } = await import('../calibrate/read-labels.ts')
  const { byScore } = await readLabels(files, 'somebody')
  return (runId, scorer) => byScore.get(scoreOf({ runId, scorer })) ?? []
}

function append(file: string, text: string): void {
  makeFolderOf('--out', file)
  try {
    const isOpenLine = existsSync(file) && /[^\n]$/.test(readFileSync(file, 'utf8'))
    appendFileSync(file, `${isOpenLine ? '\n' : ''}${text}`, { mode: 0o600 })
  } catch (error) {
    throw new UsageError(`--out: cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function describe(
  count: number,
  { unscored, noQuestion, redactFailed, known, sameQuestion }: LeftOut,
  { out, config }: CasesOptions,
  isUnredacted: boolean,
): readonly string[] {
  const where = out === undefined ? '' : ` written to ${out}`
  const next = count === 0 ? '' : ': fill in "expected", or leave it null'
  return [
    `${count === 1 ? '1 case' : `${count} cases`}${where}${next}.`,
    ...(unscored === 0 ? [] : [`${runsText(unscored)} left out, which ended in an error and which no scorer failed.`]),
    ...(known === 0 ? [] : [`${runsText(known)} left out, because ${out} has a case of the question.`]),
    ...(sameQuestion === 0 ? [] : [`${runsText(sameQuestion)} with the question of another case left out.`]),
    ...(noQuestion === 0
      ? []
      : [`${runsText(noQuestion)} left out, because the spans do not hold the question as the last message.`]),
    ...(redactFailed === 0 ? [] : [`${runsText(redactFailed)} left out, because redact threw.`]),
    ...(isUnredacted && config === undefined && count > 0
      ? ['There is no configuration here, so nothing was redacted (--config).']
      : []),
  ]
}

function runsText(count: number): string {
  return count === 1 ? '1 run' : `${count} runs`
}

function* withNested(run: AgentRun): Generator<AgentRun> {
  yield run
  for (const child of run.children) yield* withNested(child)
}
