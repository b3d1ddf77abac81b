import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { inputKeyOf } from '../../../src/cases/input-key.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { Evaluation } from '../../../src/model/score.ts'
import { tryParse } from '../../../src/otlp/pending-document.ts'
import { isRecord } from '../../../src/spans/json.ts'
import { sizeOf } from '../read-files.ts'
import { cutLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { MeanDifferenceSums } from './mean-difference.ts'
import type { MeanDifference } from './mean-difference.ts'
import { isLeftOut } from './gates.ts'
import { toReportedScore } from './reported-evaluation.ts'
import type { ReportedEvaluation, ReportedScore } from './reported-evaluation.ts'
import type { EvaluatedRun } from './run-scorers.ts'
import { rowOf } from './tally.ts'
import { isNewlyFailing } from './tries.ts'
import type { Tries } from './tries.ts'

/** The difference of a scorer's results from the baseline. A question is what an agent was asked; runs of one question are its tries. */
export interface BaselineComparison {
  readonly scorer: string
  /** Over pairs of runs. Absent if no pair has two scores. */
  readonly difference?: MeanDifference
  /** Whether the scorer itself has changed, so that the agent alone does not explain the difference. */
  readonly scorerChanged: boolean
  /** Number of questions with tries that can be compared. */
  readonly questions: number
  /** How many of them newly fail (`isNewlyFailing`), and how many do the opposite. */
  readonly newFailures: number
  readonly fixed: number
  /** The questions that newly fail, those that fell the most first, at most 20. */
  readonly newlyFailing: readonly NewFailure[]
  /** The agents of all questions that newly fail. */
  readonly failingAgents: readonly string[]
  /** How many of the questions passed every try, and the highest number of tries of one. */
  readonly passedEveryTry: { readonly before: number; readonly now: number }
  readonly tries: { readonly before: number; readonly now: number }
  /** Questions of both without a score in one of them. */
  readonly unscored: number
  /** Those of them whose score is missing in the baseline because of errors: the question, or the id of a run. */
  readonly unguarded: readonly string[]
  /** How many questions only the files have, and how many only the baseline has. */
  readonly onlyNow: number
  readonly onlyBefore: number
}

/** A question that newly fails. */
export interface NewFailure {
  /** The row of the agent in the report. */
  readonly agent: string
  readonly before: Tries
  readonly now: Tries
  /** The first try that did not pass. */
  readonly runId: string
  /** Absent if the configuration forbids content, or the spans lack it. */
  readonly userInput?: string
  /** Why the try did not pass. */
  readonly explanation?: string
}

/** Runs of one question, before or now. */
class Asked {
  runs = 0
  tries = 0
  passed = 0
  /** Whether a score is missing because of an error, or because a judge was left out. */
  isIncomplete = false
  #scored = 0
  #sum = 0

  add({ status, value, label, reason }: Pick<ReportedScore, 'status' | 'value' | 'label' | 'reason'>): void {
    this.runs++
    if (isLeftOut(status, reason)) this.isIncomplete = true
    if (status !== 'scored' && reason !== 'run-failed') return
    this.tries++
    if (label === 'pass') this.passed++
    if (value === undefined) return
    this.#scored++
    this.#sum += value
  }

  result(): Tries {
    const { tries, passed } = this
    return { tries, passed, ...(this.#scored > 0 && { mean: this.#sum / this.#scored }) }
  }
}

interface Question {
  readonly before: Asked
  readonly now: Asked
  failing?: FailingTry
  /** The question, or the id of a run, if the baseline lacks its score. */
  unguarded?: string
}

type FailingTry = Pick<NewFailure, 'agent' | 'runId' | 'userInput' | 'explanation'>

interface Before {
  readonly question: Question
  readonly value?: number
  readonly label?: string
  readonly version: string
  isPaired: boolean
}

const MAX_LISTED = 20
const MAX_QUESTION = 300
const MAX_NAME = 60
const MAX_PARSED_BYTES = 32 * 2 ** 20
const MAX_EXPLANATION = 1000

/** The evaluations of one scorer in the baseline, and what was found for the same questions. */
class ScorerBaseline {
  readonly #byRun = new Map<string, Before>()
  readonly #byInput = new Map<string, { readonly runs: Before[]; next: number }>()
  readonly #questions = new Map<string, Question>()
  #difference: MeanDifferenceSums | undefined
  #scorerChanged = false

  keep(reported: ReportedEvaluation): void {
    const { runId, inputKey, value, label, version } = reported
    const question = this.#question(inputKey ?? runId)
    question.before.add(reported)
    const before: Before = {
      question,
      version,
      ...(value !== undefined && { value }),
      ...(label !== undefined && { label }),
      isPaired: false,
    }
    this.#byRun.set(runId, before)
    if (inputKey === undefined) return
    const sameInput = this.#byInput.get(inputKey)
    if (sameInput === undefined) this.#byInput.set(inputKey, { runs: [before], next: 0 })
    else sameInput.runs.push(before)
  }

  /** Whether the run of the baseline that is paired with this one passed, and this one fails. */
  add(run: AgentRun, { scorer, score }: Evaluation, showsInput: boolean): boolean {
    const inputKey = inputKeyOf(run)
    const question = this.#byRun.get(run.id)?.question ?? this.#question(inputKey ?? run.id)
    const reported = toReportedScore(score)
    question.now.add(reported)
    if (reported.label === 'fail' || reported.reason === 'run-failed')
      question.failing ??= toFailing(run, reported, showsInput)
    if (question.before.tries === 0 && question.before.isIncomplete)
      question.unguarded ??=
        showsInput && run.userInput !== undefined ? JSON.stringify(cutLine(run.userInput, MAX_NAME)) : run.id
    const before = this.#partnerOf(run.id, inputKey)
    if (before === undefined) return false
    before.isPaired = true
    this.#scorerChanged ||= !scorer.version.startsWith(before.version)
    if (score.status !== 'scored' || before.value === undefined) return false
    this.#difference ??= new MeanDifferenceSums(scorer.range)
    this.#difference.add(before.value, score.value)
    return before.label === 'pass' && score.label === 'fail'
  }

  result(scorer: string): BaselineComparison {
    const difference = this.#difference?.result()
    const all = [...this.#questions.values()]
    const both = all.filter(({ before, now }) => before.runs > 0 && now.runs > 0)
    const compared = both.filter(({ before, now }) => before.tries > 0 && now.tries > 0)
    const passedEvery = (side: 'before' | 'now') => compared.filter((each) => each[side].passed === each[side].tries)
    const mostTries = (side: 'before' | 'now') => compared.reduce((most, each) => Math.max(most, each[side].tries), 0)
    const newlyFailing = compared
      .filter(({ before, now }) => isNewlyFailing(before, now))
      .toSorted((left, right) => changeOf(left) - changeOf(right))
    return {
      scorer,
      ...(difference !== undefined && { difference }),
      scorerChanged: this.#scorerChanged,
      questions: compared.length,
      newFailures: newlyFailing.length,
      fixed: compared.filter(({ before, now }) => isNewlyFailing(now, before)).length,
      newlyFailing: newlyFailing
        .slice(0, MAX_LISTED)
        .flatMap(({ failing, before, now }) =>
          failing === undefined ? [] : [{ ...failing, before: before.result(), now: now.result() }],
        ),
      failingAgents: [...new Set(newlyFailing.flatMap(({ failing }) => failing?.agent ?? []))],
      passedEveryTry: { before: passedEvery('before').length, now: passedEvery('now').length },
      tries: { before: mostTries('before'), now: mostTries('now') },
      unscored: both.length - compared.length,
      unguarded: both.flatMap(({ unguarded }) => unguarded ?? []),
      onlyNow: all.filter(({ before }) => before.runs === 0).length,
      onlyBefore: all.filter(({ now }) => now.runs === 0).length,
    }
  }

  #question(key: string): Question {
    const known = this.#questions.get(key) ?? { before: new Asked(), now: new Asked() }
    this.#questions.set(key, known)
    return known
  }

  /** Finds the same run, or else the first run without a partner of the same agent with the same input. */
  #partnerOf(runId: string, inputKey: string | undefined): Before | undefined {
    const same = this.#byRun.get(runId)
    if (same !== undefined) return same.isPaired ? undefined : same
    const sameInput = this.#byInput.get(inputKey ?? '')
    while (sameInput?.runs[sameInput.next]?.isPaired === true) sameInput.next++
    return sameInput?.runs[sameInput.next]
  }
}

const changeOf = ({ before, now }: Question): number => now.passed / now.tries - before.passed / before.tries

function toFailing(run: AgentRun, { explanation, message }: ReportedScore, showsInput: boolean): FailingTry {
  const why = explanation ?? message
  return {
    agent: rowOf(run),
    runId: run.id,
    ...(showsInput &&
      run.userInput !== undefined && { userInput: run.userInput.slice(0, MAX_QUESTION).toWellFormed() }),
    ...(why !== undefined && { explanation: why.slice(0, MAX_EXPLANATION).toWellFormed() }),
  }
}

/** An earlier report for comparison. Uses a few hundred bytes of memory per evaluation. */
export class Baseline {
  readonly #scorers = new Map<string, ScorerBaseline>()
  readonly #showsInput: boolean

  private constructor(showsInput: boolean) {
    this.#showsInput = showsInput
  }

  /**
   * @param matches which of its evaluations are compared
   * @param showsInput whether the questions of new failures are kept
   */
  static async read(
    file: string,
    matches: (reported: ReportedEvaluation) => boolean,
    showsInput: boolean,
  ): Promise<Baseline> {
    const baseline = new Baseline(showsInput)
    let count = 0
    for await (const value of evaluationsIn(file)) {
      const reported = toReported(value)
      if (reported === undefined) continue
      count++
      if (matches(reported)) baseline.#of(reported.scorer).keep(reported)
    }
    if (count > 0) return baseline
    throw new UsageError(
      `--baseline: expected a report as spanscore score --json writes it, got no evaluation in ${file}`,
    )
  }

  /** Compares a run. Returns the ids of the scorers that its partner passed before and it fails. */
  add({ run, evaluations }: EvaluatedRun): ReadonlySet<string> {
    const newFailures = evaluations.filter((one) => this.#of(one.scorer.id).add(run, one, this.#showsInput))
    return new Set(newFailures.map(({ scorer }) => scorer.id))
  }

  /** The comparisons, by scorer. */
  results(): readonly BaselineComparison[] {
    return [...this.#scorers].map(([id, scorer]) => scorer.result(id))
  }

  #of(id: string): ScorerBaseline {
    const known = this.#scorers.get(id) ?? new ScorerBaseline()
    this.#scorers.set(id, known)
    return known
  }
}

/** Reads a report of any formatting, or, above a size that fits into memory, one with an evaluation a line, as `JsonReport` writes it. */
async function* evaluationsIn(file: string): AsyncGenerator {
  const report = sizeOf(file) > MAX_PARSED_BYTES ? undefined : tryParse(readFileSync(file, 'utf8'))
  if (isRecord(report) && Array.isArray(report['evaluations'])) {
    yield* report['evaluations']
    return
  }
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
    if (line.startsWith('{"runId":')) yield tryParse(line.endsWith(',') ? line.slice(0, -1) : line)
}

function toReported(value: unknown): ReportedEvaluation | undefined {
  if (!isRecord(value)) return undefined
  const { runId, agent, inputKey, scorer, version, status, value: score, label, reason } = value
  if (typeof runId !== 'string' || typeof scorer !== 'string' || typeof version !== 'string') return undefined
  if (status !== 'scored' && status !== 'skipped' && status !== 'failed') return undefined
  return {
    runId,
    scorer,
    version,
    status,
    ...(typeof agent === 'string' && { agent }),
    ...(typeof inputKey === 'string' && { inputKey }),
    ...(typeof score === 'number' && { value: score }),
    ...(typeof reason === 'string' && { reason }),
    ...((label === 'pass' || label === 'fail') && { label }),
  }
}
