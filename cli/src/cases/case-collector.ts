import type { CaseFault } from '../../../src/cases/agent-case.ts'
import { toCase } from '../../../src/cases/agent-case.ts'
import type { AgentCase } from '../../../src/cases/agent-case.ts'
import type { Label } from '../../../src/cases/labels.ts'
import { caseIdsOf } from '../../../src/cases/input-key.ts'
import { positionInRange } from '../../../src/emit/position-in-range.ts'
import { redactInSteps } from '../../../src/engine/redact.ts'
import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { StoredScore } from '../../../src/otlp/stored-score.ts'
import { withoutPause } from '../../../src/scoring/background.ts'

/** Which runs become cases, and what of them. */
export interface CaseCollectorOptions {
  /** At most this many cases. */
  readonly top: number
  /** Whether only runs count on which a judge and a person differ. */
  readonly disputedOnly: boolean
  /** The scorers that count; empty for all. */
  readonly scorers: ReadonlySet<string>
  /** What people say of a score; empty if nobody labelled it. */
  readonly labelsOf: (runId: string, scorer: string) => readonly Label[]
  /** Cases that are there already. */
  readonly known: ReadonlySet<string>
  /** What may be shown of a run. @default all */
  readonly redact?: ((run: AgentRun) => AgentRun) | undefined
}

interface Candidate {
  readonly found: AgentCase
  /** 0 for the worst. */
  readonly position: number
}

/** Why runs that failed are no cases, and how many. */
export interface LeftOut {
  /** They ended in an error, and no scorer failed them. */
  unscored: number
  /** Their question is not recorded, or is not the last message. */
  noQuestion: number
  /** `redact` threw. */
  redactFailed: number
  /** The file has a case of the question. */
  known: number
  /** A run with this question was worse. */
  sameQuestion: number
}

/** Collects the worst runs as cases, one for each question. Its size follows the number of cases, not of runs. */
export class CaseCollector {
  readonly leftOut: LeftOut = { unscored: 0, noQuestion: 0, redactFailed: 0, known: 0, sameQuestion: 0 }
  readonly #options: CaseCollectorOptions
  readonly #byId = new Map<string, Candidate>()

  constructor(options: CaseCollectorOptions) {
    this.#options = options
  }

  add(run: AgentRun, scores: readonly StoredScore[]): void {
    const { scorers, disputedOnly, known, labelsOf } = this.#options
    const judged = scores
      .filter(({ scorerId }) => scorers.size === 0 || scorers.has(scorerId))
      .map((score) => ({ score, person: verdictOf(labelsOf(run.id, score.scorerId)) }))
    const wrong = judged.filter(({ score, person }) => score.label === 'fail' || person === 'fail')
    if (wrong.length === 0 && run.status === 'error') this.leftOut.unscored++
    if (wrong.length === 0 || (disputedOnly && !judged.some(isDisputed) && !differs(judged))) return
    const shown = this.#shown(run)
    if (shown === undefined) return
    const faults = wrong.map(({ score, person }) => this.#toFault(score, person))
    const found = toCase(run, shown, faults)
    if (found === 'no-question') {
      this.leftOut.noQuestion++
      return
    }
    const position = Math.min(...wrong.map(({ score }) => positionOf(score)))
    const before = this.#byId.get(found.id)
    const isKnown = caseIdsOf(run).some((id) => known.has(id))
    if (isKnown) this.leftOut.known++
    else if (before !== undefined) this.leftOut.sameQuestion++
    if (isKnown || (before !== undefined && before.position <= position)) return
    this.#byId.set(found.id, { found, position })
    if (this.#byId.size > 2 * this.#options.top) this.#keepWorst()
  }

  /** The cases, worst first. */
  results(): readonly AgentCase[] {
    this.#keepWorst()
    return [...this.#byId.values()].map(({ found }) => found)
  }

  #keepWorst(): void {
    const worst = [...this.#byId.values()].toSorted((left, right) => left.position - right.position)
    this.#byId.clear()
    for (const each of worst.slice(0, this.#options.top)) this.#byId.set(each.found.id, each)
  }

  #shown(run: AgentRun): AgentRun | undefined {
    const { redact } = this.#options
    if (redact === undefined) return run
    try {
      return withoutPause(redactInSteps(redact, run))
    } catch {
      this.leftOut.redactFailed++
      return undefined
    }
  }

  #toFault(
    { scorerId, value, label, explanation, about, evaluatorType }: StoredScore,
    person: CaseFault['person'],
  ): CaseFault {
    // A judge was shown what `redact` left. Any other explanation may quote the run itself.
    const isShown = this.#options.redact === undefined || about?.judgeModel !== undefined
    return {
      scorer: scorerId,
      ...(value !== undefined && { score: value }),
      ...(label !== undefined && { label }),
      ...(person !== undefined && { person }),
      ...(evaluatorType === 'user' && { by: 'user' }),
      ...(explanation !== undefined && isShown && { explanation }),
    }
  }
}

interface JudgedScore {
  readonly score: StoredScore
  readonly person: 'pass' | 'fail' | undefined
}

function isDisputed({ score, person }: JudgedScore): boolean {
  return person !== undefined && score.label !== undefined && person !== score.label
}

/** Whether a user's feedback and a score differ. */
function differs(judged: readonly JudgedScore[]): boolean {
  const labels = (isFromUser: boolean) =>
    new Set(
      judged.filter(({ score }) => (score.evaluatorType === 'user') === isFromUser).map(({ score }) => score.label),
    )
  const [users, scorers] = [labels(true), labels(false)]
  return (users.has('fail') && scorers.has('pass')) || (users.has('pass') && scorers.has('fail'))
}

/** What most people say; `undefined` if nobody said anything, or they differ evenly. */
function verdictOf(labels: readonly Label[]): 'pass' | 'fail' | undefined {
  const passes = labels.filter(({ label }) => label === 'pass').length
  if (2 * passes === labels.length) return undefined
  return 2 * passes > labels.length ? 'pass' : 'fail'
}

function positionOf({ value, about, label }: StoredScore): number {
  if (value === undefined || about === undefined) return label === 'fail' ? 0 : 1
  return positionInRange({ scorer: about }, value)
}
