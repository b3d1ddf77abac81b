import type { AgentCase } from '../../../src/cases/agent-case.ts'
import { caseScorers, givenOf, isChecked, leavesOpen } from '../../../src/cases/case-scorers.ts'
import { caseIdsOf } from '../../../src/cases/input-key.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { Evaluation } from '../../../src/model/score.ts'
import type { Scorer } from '../../../src/scoring/scorer.ts'
import { numberText } from '../score/number-text.ts'
import type { EvaluatedRun } from '../score/run-scorers.ts'

/** Whether the runs that asked a case's question passed. */
export interface CaseResult {
  /** The case's id. */
  readonly caseId: string
  readonly passed: boolean
  /** Present if the answer may be as bad as before: nothing checks what was wrong with it. */
  readonly unchecked?: true
  /** One line for people: the question, and what was wrong. */
  readonly message: string
}

interface Progress {
  runs: number
  readonly scorers: Set<string>
  /** Runs with a fault. */
  failed: number
  readonly faults: Set<string>
}

const MAX_QUESTION = 60
const MAX_EXPLANATION = 200
const MAX_FAULTS = 5

/** Settings of `CaseBook`. */
export interface CaseBookOptions {
  /** Whether questions are shown. */
  readonly showsContent: boolean
  /** The ids of scorers that compare with the expected answers. */
  readonly readAnswers: ReadonlySet<string>
}

/** Cases, and what became of the runs that asked their questions. */
export class CaseBook {
  readonly #byId: ReadonlyMap<string, AgentCase>
  readonly #caseOfRun = new Map<string, AgentCase>()
  readonly #progress = new Map<string, Progress>()
  readonly #options: CaseBookOptions
  /** Scorers that compare a run with what its case expects. */
  readonly scorers: readonly Scorer[]

  constructor(cases: readonly AgentCase[], options: CaseBookOptions) {
    this.#byId = new Map(cases.map((each) => [each.id, each]))
    this.#options = options
    this.scorers = caseScorers(cases, (run) => this.#caseOfRun.get(run.id))
  }

  /** Whether any run asks the question of a case. */
  get isAsked(): boolean {
    return this.#caseOfRun.size > 0
  }

  /** Whether the run asks the question of a case. */
  matches(run: AgentRun): boolean {
    const found = caseIdsOf(run).flatMap((id) => this.#byId.get(id) ?? [])[0]
    if (found === undefined) return false
    this.#caseOfRun.set(run.id, found)
    const progress = this.#progress.get(found.id) ?? toProgress()
    this.#progress.set(found.id, progress)
    progress.runs++
    return true
  }

  /** What scorers get of the run's case. */
  givenOf(run: AgentRun): ReturnType<typeof givenOf> {
    const found = this.#caseOfRun.get(run.id)
    return found === undefined ? {} : givenOf(found)
  }

  add({ run, evaluations }: EvaluatedRun): void {
    const found = this.#caseOfRun.get(run.id)
    const progress = this.#progress.get(found?.id ?? '')
    if (found === undefined || progress === undefined) return
    const faults = evaluations.flatMap((evaluation) => faultOf(evaluation) ?? this.#openIn(found, evaluation) ?? [])
    if (faults.length > 0) progress.failed++
    for (const fault of faults) if (progress.faults.size < MAX_FAULTS) progress.faults.add(fault)
    for (const evaluation of evaluations) {
      if (evaluation.score.status === 'scored') progress.scorers.add(evaluation.scorer.id)
    }
  }

  /** What a skip leaves open. */
  #openIn(found: AgentCase, { scorer: { id }, score }: Evaluation): string | undefined {
    if (score.status !== 'skipped') return undefined
    const { reason } = score
    const isOpen = leavesOpen(found, { id, reason, readsAnswers: this.#options.readAnswers.has(id) })
    return isOpen ? `${id} gave no score (${reason})` : undefined
  }

  /**
   * A case passes if its question was asked, something was scored, and nothing failed.
   *
   * @param failsUnchecked whether a case fails, too, if nothing checks what was wrong
   */
  results(failsUnchecked: boolean): readonly CaseResult[] {
    return [...this.#byId.values()].map((each) => {
      const { runs, scorers, failed, faults } = this.#progress.get(each.id) ?? toProgress()
      const problems =
        runs === 0 ? ['no run asks its question'] : scorers.size === 0 ? [...faults, 'nothing was scored'] : [...faults]
      const unchecked = problems.length === 0 && !isChecked(each, scorers, this.#options.readAnswers.size > 0)
      const passed = problems.length === 0 && !(unchecked && failsUnchecked)
      const question = this.#options.showsContent ? ` "${shortened(each.input, MAX_QUESTION)}"` : ''
      const what = unchecked
        ? `${whyUnchecked(each)}: fill in "expected"`
        : passed
          ? `passes in ${runs === 1 ? '1 run' : `${runs} runs`}`
          : `${runs > 1 && failed > 0 ? `${failed} of ${runs} runs fail: ` : ''}${problems.join('; ')}`
      const message = `case ${each.id}${question}: ${what}`
      return { caseId: each.id, passed, ...(unchecked && { unchecked }), message }
    })
  }
}

const toProgress = (): Progress => ({ runs: 0, scorers: new Set(), failed: 0, faults: new Set() })

function whyUnchecked({ wrong }: AgentCase): string {
  if (wrong.length === 0) return 'nothing checks it'
  const person = wrong.some(({ person: label }) => label === 'fail') ? 'a person' : wrong[0]?.scorer
  return `${wrong.some(({ by }) => by === 'user') ? 'a user' : person} failed it, and nothing checks that`
}

function faultOf({ scorer, score }: Evaluation): string | undefined {
  if (score.status === 'failed') return `${scorer.id} failed (${score.code})`
  if (score.status === 'skipped' || score.label === 'pass') return undefined
  const why = score.explanation === undefined ? '' : ` (${shortened(score.explanation, MAX_EXPLANATION)})`
  return `${scorer.id} ${numberText(score.value)}${why}`
}

function shortened(text: string, characters: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > characters ? `${line.slice(0, characters).toWellFormed()} …` : line
}
