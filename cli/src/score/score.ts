import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pMapIterable } from 'p-map'
import { toSpanSet } from '../../../src/emit/score-ids.ts'
import type { ResolvedOptions } from '../../../src/engine/config/options.ts'
import { resolveOptions } from '../../../src/engine/config/options.ts'
import type { Scorer } from '../../../src/scoring/scorer.ts'
import { isForConversations } from '../../../src/engine/conversation-offers.ts'
import { keepProcessAlive } from '../../../src/scoring/keep-process-alive.ts'
import type { CommandContext, ExitCode } from '../command.ts'
import { createPaint, makeFolderOf, write } from '../output.ts'
import { createProgress } from '../progress.ts'
import type { OtlpSummary } from '../../../src/otlp/read-runs.ts'
import { agentWith, expectNoUser, withoutPassword } from '../backfill/backend-access.ts'
import { createBackfill } from '../backfill/backfill.ts'
import type { BackfillItem } from '../backfill/backfill.ts'
import { hasStoredScore, ScoreSender } from '../backfill/score-sender.ts'
import type { TimeRange } from '../backfill/time-slices.ts'
import { unreadAnswers } from '../../../src/cases/case-scorers.ts'
import { CaseBook } from '../cases/case-book.ts'
import { readCases } from '../cases/cases.ts'
import { readHeaders } from '../otlp-headers.ts'
import { describeCount, readFiles } from '../read-files.ts'
import type { RunFiles } from '../read-files.ts'
import { RunFilter } from '../run-filter.ts'
import { hanging, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { Baseline } from './baseline.ts'
import type { BaselineComparison } from './baseline.ts'
import { checkBaselineGate, parseBaselineGate } from './baseline-gates.ts'
import type { BaselineGate } from './baseline-gates.ts'
import { TurnCounter } from '../common/turn-counter.ts'
import { FailingInCommon } from './failing-in-common.ts'
import { checkGate, describeIncomplete, parseGate } from './gates.ts'
import type { Gate, GateResult } from './gates.ts'
import { JsonReport } from './json-report.ts'
import { toJunit } from './junit.ts'
import { JudgeUse } from './judge-use.ts'
import { loadConfig } from './load-config.ts'
import { toMarkdown } from './markdown.ts'
import { OtlpLogFile } from './otlp-logs.ts'
import { RunScorers } from './run-scorers.ts'
import type { EvaluatedRun } from './run-scorers.ts'
import type { ScoreOptions } from './score-options.ts'
import {
  renderBaseline,
  renderDetails,
  renderGates,
  renderNewFailures,
  renderScores,
  renderUnused,
  worstFirst,
} from './table.ts'
import { SeenRuns } from './seen-runs.ts'
import { rowOf, Tallies } from './tally.ts'
import type { TallyRow } from './tally.ts'

/** What `--fail-on` takes besides gates on a baseline. */
const UNCHECKED_CASES = 'unchecked-cases'

const NARROWEST = 60
const WIDEST = 120

/** Runs the configured scorers on trace files. Memory does not grow with their size, except for a baseline. */
export async function score(files: readonly string[], given: ScoreOptions, context: CommandContext): Promise<ExitCode> {
  const configured = loadConfig(given.config, context)
  const read = given.cases === undefined ? undefined : readCases(given.cases, '--cases')
  const cases =
    read &&
    new CaseBook(read, {
      showsContent: !configured.stripContent,
      readAnswers: new Set(
        configured.scorers.flatMap(({ scorer }) => (scorer.needs.includes('groundTruth') ? [scorer.id] : [])),
      ),
    })
  const options = withScorers(configured, cases?.scorers ?? [])
  const unread = unreadAnswers(
    read ?? [],
    configured.scorers.map(({ scorer }) => scorer),
  )
  if (unread !== undefined) context.stderr.write(`spanscore: ${unread}\n`)
  const gates = [
    ...(given.failUnder ?? []).map((text) => parseGate(text, 'under', options.scorers)),
    ...(given.failOver ?? []).map((text) => parseGate(text, 'over', options.scorers)),
  ]
  if (given.lower === true && gates.length === 0) {
    throw new UsageError('--lower: expected a gate, --fail-under or --fail-over, whose number it changes; got none')
  }
  const failsUnchecked = given.failOn?.includes(UNCHECKED_CASES) === true
  if (failsUnchecked && read === undefined)
    throw new UsageError(`--fail-on ${UNCHECKED_CASES}: expected --cases with the file of cases, got none`)
  const baselineGates = (given.failOn ?? [])
    .filter((text) => text !== UNCHECKED_CASES)
    .map((text) => parseBaselineGate(text, options.scorers))
  if (baselineGates.length > 0 && given.baseline === undefined) {
    throw new UsageError('--fail-on: expected a --baseline to compare with, got none')
  }
  if (given.allow !== undefined && !baselineGates.some(({ fails }) => fails === 'new-failures')) {
    throw new UsageError('--allow: expected --fail-on new-failures, which it changes; got none')
  }
  checkPaths(files, given)
  if (files.length === 0 && given.from === undefined)
    throw new UsageError('expected trace files, or --from with a backend; got neither', { showsHelp: true })
  if (given.to !== undefined && !(URL.canParse(given.to) && /^https?:/.test(given.to)))
    throw new UsageError(`--to: expected a URL that begins with http:// or https://, got ${withoutPassword(given.to)}`)
  if (given.to !== undefined) expectNoUser('--to', given.to, 'OTEL_EXPORTER_OTLP_HEADERS')
  if (files.length > 0 && given.from !== undefined)
    throw new UsageError(`--from: expected either a backend or files, got both: ${files.join(', ')}`)
  if (given.junitFailures === true && given.junit === undefined) {
    throw new UsageError('--junit-failures: expected --junit with the file of the report, got none')
  }
  const ofConversations = options.scorers.find(isForConversations)
  if (given.resume !== undefined && ofConversations !== undefined) {
    throw new UsageError(
      `--resume: expected scorers of runs or calls, got ${ofConversations.id}, which needs all runs of a conversation at once`,
    )
  }
  const report = given.json === true ? new JsonReport() : undefined
  const work = { given, options, gates, baselineGates, cases, failsUnchecked, report }
  return keepProcessAlive(() => scoreFiles(files, work, context).finally(() => report?.close()))
}

interface Work {
  readonly given: ScoreOptions
  readonly options: ResolvedOptions
  readonly gates: readonly Gate[]
  readonly baselineGates: readonly BaselineGate[]
  readonly cases: CaseBook | undefined
  /** Whether a case that nothing checks fails. */
  readonly failsUnchecked: boolean
  /** Present if the report is JSON. */
  readonly report: JsonReport | undefined
}

async function scoreFiles(
  files: readonly string[],
  { given, options, gates, baselineGates, cases, failsUnchecked, report }: Work,
  context: CommandContext,
): Promise<ExitCode> {
  const filter = toFilter(given.where ?? [])
  const baseline =
    given.baseline === undefined
      ? undefined
      : await Baseline.read(given.baseline, ({ agent, runId }) => filter.admits(agent, runId), !options.stripContent)
  const nowMs = Date.now()
  const backfill =
    given.from === undefined ? undefined : createBackfill({ ...given, from: given.from }, context.environment, nowMs)
  const { items, summary } = backfill ?? toItems(readFiles(files, context))
  const seen = new SeenRuns(options.scorers)
  const scorers = new RunScorers({
    options,
    judgeLimit: given.judgeLimit,
    matches(run) {
      if (!filter.matches(run)) return false
      seen.add(run)
      return cases?.matches(run) ?? true
    },
    givenOf: cases === undefined ? undefined : (run) => cases.givenOf(run),
  })
  const tallies = new Tallies(
    options.scorers.map(({ about }) => about),
    { worst: given.top, showsInput: !options.stripContent },
  )
  const judgeUse = new JudgeUse()
  const failing = new FailingInCommon()
  const turns = new TurnCounter()
  const { explanations } = options.emit
  const out = given.out === undefined ? undefined : new OtlpLogFile(given.out, { explanations, now: Date.now })
  const sender =
    given.to === undefined
      ? undefined
      : new ScoreSender({
          to: given.to,
          headers: readHeaders(context.environment.OTEL_EXPORTER_OTLP_HEADERS),
          agent: agentWith('--to', {
            ca: given.toCa ?? context.environment.OTEL_EXPORTER_OTLP_CERTIFICATE,
            cert: given.toCert ?? context.environment.OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
            key: given.toKey ?? context.environment.OTEL_EXPORTER_OTLP_CLIENT_KEY,
          }),
          explanations,
          // The same for what a resumed backfill sends again.
          nowMs: backfill?.resume.range.toMs ?? nowMs,
          report: (line) => context.stderr.write(`spanscore: ${safeLine(line)}\n`),
        })
  const progress = createProgress({ stream: context.stderr, totalBytes: undefined })
  let doneMs: number | undefined
  const scoreItem = async (item: BackfillItem) => {
    if ('doneMs' in item) return { item, scoredRuns: [] }
    const hasScore = sender === undefined ? undefined : hasStoredScore(item)
    return { item, scoredRuns: await scorers.score(item.run, hasScore) }
  }
  const add = async (one: EvaluatedRun, turn?: number): Promise<void> => {
    tallies.add(one.run, one.evaluations)
    for (const evaluation of one.evaluations) judgeUse.add(evaluation)
    failing.add(rowOf(one.run), one.run, one.evaluations, turn, baseline?.add(one))
    if (one.run.conversation === undefined) cases?.add(one)
    await report?.add(one)
    await out?.add(one)
  }
  try {
    // Up to `concurrency` runs are scored at the same time; they come out in the order in which they were read.
    for await (const { item, scoredRuns } of pMapIterable(items, scoreItem, { concurrency: options.concurrency })) {
      const turn = 'doneMs' in item ? undefined : turns.next(item.run)
      for (const one of scoredRuns) {
        await add(one, turn)
        if ('doneMs' in item) continue
        const { spanIds, withLogs } = item.spansOf(one.run)
        await sender?.add(one, toSpanSet(spanIds, withLogs))
      }
      if ('doneMs' in item) {
        await sender?.flush()
        backfill?.resume.done(item.doneMs)
        ;({ doneMs } = item)
      }
      progress.show(() => describeProgress(tallies.runs, scorers.judgeScores, backfill?.resume.range, doneMs))
    }
    // A conversation may go on until the last run of the files.
    for await (const one of scorers.conversations()) {
      await add(one)
      await sender?.add(one, { count: one.run.revision, digest: '' })
      progress.show(() => describeProgress(tallies.runs, scorers.judgeScores, backfill?.resume.range, doneMs))
    }
    await sender?.flush()
    await out?.end()
  } finally {
    progress.clear()
  }
  filter.check()
  const comparisons = baseline?.results()
  const { allow = 0 } = given
  const results = [
    ...gates.map((gate) => checkGate(gate, tallies, given.lower === true)),
    ...baselineGates.flatMap((gate) => checkBaselineGate(gate, allow, comparisons ?? [], tallies, options.scorers)),
    ...(cases?.results(failsUnchecked) ?? []),
  ]
  const rows = worstFirst(tallies.rows())
  const delivery = sender === undefined ? '' : describeDelivery(sender.sent, scorers.existing)
  const isNothingScored = tallies.runs + tallies.conversations + scorers.existing === 0
  const none = isNothingScored ? seen.whyNone(cases?.isAsked ?? true) : undefined
  const count =
    tallies.runs === 0 && scorers.existing > 0
      ? 'no run lacks a score'
      : (none?.text ?? describeAll(tallies, summary()))
  const shown = given.failedOnly === true ? rows.filter(({ tally }) => tally.hasFailures) : rows
  if (given.junit !== undefined) {
    const isFailed = (row: TallyRow): boolean => given.junitFailures === true && failsNow(row, comparisons, allow)
    writeReport('--junit', given.junit, toJunit(rows, results, comparisons, isFailed))
  }
  const unused = [
    ...describeUnused(options, rows, tallies.runs),
    ...describeRemoved(options, comparisons ?? []),
    ...scorers.warnings,
  ]
  if (given.markdown !== undefined) {
    const markdown = toMarkdown({ rows: shown, unused, gates: results, baseline: comparisons, failing, count })
    writeReport('--markdown', given.markdown, markdown)
  }
  if (report === undefined) {
    const text = renderReport(
      { rows: shown, unused, gates: results, comparisons, failing, judgeUse, count, delivery },
      context,
    )
    await write(context.stdout, text)
  } else {
    await report.end(context.stdout, { rows, gates: results, baseline: comparisons })
    const failed = results.filter(({ passed }) => !passed).map(({ message }) => message)
    const incomplete = options.scorers.flatMap(({ id }) => describeIncomplete(tallies.ofScorer(id)) ?? [])
    const lines = [
      ...(tallies.runs === 0 ? [count] : unused),
      ...incomplete,
      ...(delivery === '' ? [] : [delivery]),
      ...failed,
    ]
    for (const line of lines) context.stderr.write(`spanscore: ${safeLine(line)}\n`)
  }
  if (results.some(({ passed }) => !passed)) return 1
  return none?.isMistake === true ? 2 : 0
}

/** Whether runs of an agent fail a scorer; with a baseline, whether more of its questions newly fail than are allowed. */
function failsNow(
  { agent, tally }: TallyRow,
  comparisons: readonly BaselineComparison[] | undefined,
  allow: number,
): boolean {
  if (comparisons === undefined || tally.failed.size > 0) return tally.hasFailures
  const found = comparisons.find(({ scorer }) => scorer === tally.scorer.id)
  return found !== undefined && found.newFailures > allow && found.failingAgents.includes(agent)
}

/** The options with further scorers, which are for every agent. */
function withScorers(options: ResolvedOptions, scorers: readonly Scorer[]): ResolvedOptions {
  if (scorers.length === 0) return options
  const more = resolveOptions({ scorers: scorers.map((scorer) => ({ scorer, scope: 'every-agent' })) }, true)
  return { ...options, scorers: [...options.scorers, ...more.scorers] }
}

/** How many runs and conversations were scored. */
function describeAll({ runs, conversations }: Tallies, summary: OtlpSummary | undefined): string {
  const count = `${conversations.toLocaleString('en')} ${conversations === 1 ? 'conversation' : 'conversations'}`
  if (conversations === 0) return describeCount(runs, summary)
  return runs === 0 ? count : `${describeCount(runs, summary)}, ${count}`
}

interface Report {
  readonly rows: readonly TallyRow[]
  /** Scorers that applied to no run, and what is wrong with ids of conversations. */
  readonly unused: readonly string[]
  readonly gates: readonly GateResult[]
  readonly comparisons: readonly BaselineComparison[] | undefined
  readonly failing: FailingInCommon
  readonly judgeUse: JudgeUse
  /** Description of how many runs there were. */
  readonly count: string
  /** Description of what was sent; empty if nothing was to be. */
  readonly delivery: string
}

function renderReport(
  { rows, unused, gates, comparisons, failing, judgeUse, count, delivery }: Report,
  context: CommandContext,
): string {
  const { stdout, environment } = context
  const columns = Math.min(WIDEST, Math.max(NARROWEST, stdout.columns ?? 100))
  const style = { columns, paint: createPaint(stdout, environment) }
  const sum = [`${safeLine(count)}.`, judgeUse.describe(), delivery].filter(Boolean).join(' ')
  const end = [hanging('', sum, stdout.columns), renderGates(gates, stdout.columns, style.paint)]
  const parts = [
    renderNewFailures(comparisons ?? [], style),
    rows.length === 0 ? '' : renderScores(rows, style),
    renderUnused(unused, style),
    renderDetails(rows, failing, style),
    comparisons === undefined ? '' : renderBaseline(comparisons, style),
    end.filter((line) => line !== '').join('\n'),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function describeDelivery(sent: number, existing: number): string {
  return `${scoresText(sent)} sent${existing === 0 ? '' : `; ${scoresText(existing)} were there already`}.`
}

function scoresText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'score' : 'scores'}`
}

/** Describes the scorers that applied to no run, although there are runs. */
function describeUnused(options: ResolvedOptions, rows: readonly TallyRow[], runs: number): readonly string[] {
  if (runs === 0) return []
  const used = new Set(rows.map(({ tally }) => tally.scorer.id))
  const all = runs === 1 ? 'the only run' : `any of the ${runs} runs`
  return options.scorers
    .filter(({ id }) => !used.has(id))
    .map(({ id, agents, about }) => {
      if (about.level === 'conversation') {
        return `${id} did not apply to any conversation: runs need an id of one (gen_ai.conversation.id or session.id), or see agent and when of its entry.`
      }
      const filter = agents === undefined ? 'see scope and when of its entry' : `its agent is ${[...agents].join(', ')}`
      return `${id} did not apply to ${all}: ${filter}.`
    })
}

/** Describes the scorers of the baseline that are no longer configured. */
function describeRemoved({ scorers }: ResolvedOptions, comparisons: readonly BaselineComparison[]): readonly string[] {
  return comparisons
    .filter(({ scorer }) => scorers.every(({ id }) => id !== scorer))
    .map(({ scorer }) => `${scorer} is in the baseline and not in the configuration: nothing compares its scores.`)
}

function describeProgress(
  runs: number,
  judgeScores: number,
  range: TimeRange | undefined,
  doneMs: number | undefined,
): string {
  const judged = judgeScores === 0 ? '' : `, ${judgeScores.toLocaleString('en')} judge scores requested`
  return `scoring: ${runs.toLocaleString('en')} runs${judged}${describeTime(range, doneMs)}`
}

function describeTime(range: TimeRange | undefined, doneMs: number | undefined): string {
  if (range === undefined || doneMs === undefined) return ''
  const percent = Math.floor((100 * (doneMs - range.fromMs)) / (range.toMs - range.fromMs))
  return `, up to ${new Date(doneMs).toISOString().slice(0, 16)}Z (${percent} %)`
}

function toItems({ runs, summary }: RunFiles): { items: AsyncIterable<BackfillItem>; summary: RunFiles['summary'] } {
  return { items: runs, summary }
}

function toFilter(conditions: readonly string[]): RunFilter {
  const agents: string[] = []
  const traces: string[] = []
  for (const condition of conditions) {
    const [, key, value] = /^(agent|trace)=(.+)$/s.exec(condition) ?? []
    if (key === undefined || value === undefined) {
      throw new UsageError(`--where: expected agent=NAME or trace=ID, got ${condition}`)
    }
    if (key === 'agent') agents.push(value)
    else traces.push(value)
  }
  return new RunFilter({ agents, traces })
}

/** Refuses to overwrite files that are read. */
function checkPaths(files: readonly string[], { baseline, out, junit, markdown, config, cases }: ScoreOptions): void {
  const inputs = new Set(
    [...files, baseline, config, cases].flatMap((file) => (file === undefined ? [] : [resolve(file)])),
  )
  const outputs = [
    ['--out', out],
    ['--junit', junit],
    ['--markdown', markdown],
  ] as const
  for (const [option, file] of outputs) {
    if (file === undefined) continue
    if (inputs.has(resolve(file))) throw new UsageError(`${option}: expected a file other than the inputs, got ${file}`)
    inputs.add(resolve(file))
  }
}

function writeReport(option: string, file: string, text: string): void {
  makeFolderOf(option, file)
  try {
    writeFileSync(file, text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${option}: cannot write ${file}: ${message}`)
  }
}
