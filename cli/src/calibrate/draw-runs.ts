import { writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { judgeName } from '../calibration/calibration.ts'
import type { JudgedRun } from '../calibration/calibrator.ts'
import { createSeededRandom, draw } from '../calibration/draw.ts'
import type { CommandContext } from '../command.ts'
import { makeFolderOf, write } from '../output.ts'
import { readFiles } from '../read-files.ts'
import { safeLine } from '../text.ts'
import { NO_SCORES } from '../no-scores.ts'
import { UsageError } from '../usage-error.ts'
import { chooseJudge } from './choose-judge.ts'
import type { JudgeChoice } from './choose-judge.ts'
import { runsWithScores } from './judged-runs.ts'
import { labellingLine } from './labelling-line.ts'
import { readLabels, scoreOf } from './read-labels.ts'

/** The command-line options of `spanscore calibrate draw`. */
export interface DrawOptions extends JudgeChoice {
  /** How many runs to draw. */
  readonly n: number
  /** The same files and seed give the same runs. */
  readonly seed?: number
  /** Files of runs that were drawn before and are left out. */
  readonly labels?: readonly string[]
  /** The new file. */
  readonly out: string
}

/** Draws runs to label and writes them to a new file. Reads the files twice: for the scores, and for the drawn runs. */
export async function drawRuns(files: readonly string[], options: DrawOptions, context: CommandContext): Promise<void> {
  if (files.includes('-')) throw new UsageError('expected files, got standard input: calibrate draw reads them twice')
  const { drawn: before } = await readLabels(options.labels ?? [], 'anybody')
  const { all, empty, unversioned } = await readScores(files, before, context)
  if (all.length === 0) throw new UsageError(nothingToDraw({ before: before.size, empty, unversioned }))
  const { judge, scores, others } = chooseJudge(all, options)
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const drawn = new Map(draw(scores, options.n, createSeededRandom(seed)).map((each) => [each.of.runId, each] as const))
  const lines = new Map<string, string>()
  for await (const { run } of runsWithScores(readFiles(files, quiet(context)).runs)) {
    const one = drawn.get(run.id)
    if (one !== undefined) lines.set(run.id, labellingLine(one.of, one.byVerdict, run))
  }
  // Keeps the random order of the draw.
  const text = [...drawn.keys()].map((runId) => `${lines.get(runId) ?? ''}\n`).join('')
  writeNew(options.out, text)
  const notes = [
    others.length === 0
      ? ''
      : `Runs scored by other judges were left out: ${others.join(', ')} (--scorer-version and --judge choose one).`,
    empty === 0 ? '' : `${empty.toLocaleString('en')} scored runs hold no content and were left out.`,
    before.size === 0 ? '' : `${before.size.toLocaleString('en')} runs that were drawn before were left out.`,
  ].filter((note) => note !== '')
  const of = `${scores.length.toLocaleString('en')} runs that ${safeLine(judgeName(judge))} scored`
  const said = [
    `${drawn.size.toLocaleString('en')} of ${of} are drawn into ${safeLine(options.out)} (--seed ${seed}).`,
    ...notes.map(safeLine),
    'The file holds the content of the runs: messages, tool calls, answers. Set "label" of each line to "pass" or "fail", then:',
    `  spanscore calibrate ${files.map(safeLine).join(' ')} --labels ${safeLine(options.out)} --labeller YOUR_NAME`,
  ]
  await write(context.stdout, `${said.join('\n')}\n`)
}

async function readScores(
  files: readonly string[],
  before: ReadonlySet<string>,
  context: CommandContext,
): Promise<{ all: JudgedRun[]; empty: number; unversioned: number }> {
  const all: JudgedRun[] = []
  let [empty, unversioned] = [0, 0]
  for await (const each of runsWithScores(readFiles(files, context).runs)) {
    unversioned += each.unversioned
    const left = each.judged.filter((judged) => !before.has(scoreOf(judged)))
    if (each.run.content === 'none') empty += left.length === 0 ? 0 : 1
    else all.push(...left)
  }
  return { all, empty, unversioned }
}

interface Left {
  readonly before: number
  readonly empty: number
  readonly unversioned: number
}

/** Why there is nothing to draw from, and what to do. */
export function nothingToDraw({ before, empty, unversioned }: Left): string {
  if (unversioned > 0) {
    return (
      `none of the ${unversioned} scores in the files says which model judged: give the files with the events ` +
      '(gen_ai.evaluation.result) or the late spans, too'
    )
  }
  if (empty > 0) return `all ${empty} scored runs hold no content that a person could read: docs/no-scores.md`
  if (before > 0) return 'all scored runs in the files were drawn before'
  return NO_SCORES
}

/** A context without messages for the second reading, because the first one has reported damaged records. */
function quiet(context: CommandContext): CommandContext {
  return { ...context, stderr: new Writable({ write: (_chunk, _encoding, done) => done() }) }
}

function writeNew(file: string, text: string): void {
  makeFolderOf('--out', file)
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new UsageError(`--out: expected a new file, got ${file}, which may hold labels already`)
    }
    throw new UsageError(`--out: cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
