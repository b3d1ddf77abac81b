import { contentFree } from '../../model/explanation.ts'
import { sumReports } from '../../judge/spending.ts'
import { callNoun, callsAt, skipWithoutCallsAt } from '../../scoring/call-scores.ts'
import type { Reads } from '../../scoring/reads.ts'
import { callView, scorerView } from '../../scoring/run-view.ts'
import type { CallVerdict, Verdict } from '../../scoring/scorer.ts'
import { adopted, isThenable } from '../../scoring/thenable.ts'
import { skipped } from '../../scoring/unscored.ts'
import { verdictOfThrown } from '../../scoring/verdict.ts'
import type { StepVerdict } from './assess-steps.ts'
import { MAX_ASKED_CALLS } from './prompt-steps.ts'

/** A scorer of calls that is made of steps. */
export interface CallScorer {
  readonly id: string
  readonly level: 'tool-call' | 'retrieval'
  /** Whether its steps ask a judge. */
  readonly isAsked: boolean
}

/** Runs the steps for one subject. It may throw or reject. */
type Ask = (subject: Readonly<Record<string, unknown>>, reads: Reads) => StepVerdict | Promise<StepVerdict>

/** How many calls asynchronous steps look at together. */
const AT_ONCE = 5

/** Runs the steps for each call of a run. It is synchronous if the steps are. What goes wrong for one call leaves the others. */
export function assessCalls(scorer: CallScorer, reads: Reads, ask: Ask): Verdict | Promise<Verdict> {
  const { id, level, isAsked } = scorer
  const { length } = callsAt(reads.run, level)
  if (length === 0) return skipWithoutCallsAt(reads.run, level, id)
  if (isAsked && length > MAX_ASKED_CALLS) {
    const message = `${id}: the run has ${callNoun(level, length)}, and the judge would be asked once for each; at most ${MAX_ASKED_CALLS} are. Exclude such runs with when.`
    return skipped('refused', contentFree(message))
  }
  const verdicts: StepVerdict[] = []
  for (let index = 0; index < length; index++) {
    const verdict = assessCall(scorer, reads, index, ask)
    if (verdict instanceof Promise) {
      return assessRest(verdicts, verdict, length, (next) => assessCall(scorer, reads, next, ask))
    }
    verdicts.push(verdict)
  }
  return toVerdict(verdicts)
}

/** Steps that take time look at some calls together. @param first the verdict on the first call that is not in `verdicts` */
async function assessRest(
  verdicts: StepVerdict[],
  first: Promise<StepVerdict>,
  length: number,
  assess: (index: number) => StepVerdict | Promise<StepVerdict>,
): Promise<Verdict> {
  const begun = verdicts.length
  let next = begun
  const work = async (): Promise<void> => {
    while (next < length) {
      const index = next++
      verdicts[index] = await (index === begun ? first : assess(index))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => work()))
  return toVerdict(verdicts)
}

function toVerdict(verdicts: readonly StepVerdict[]): Verdict {
  const judge = sumReports(verdicts.flatMap((verdict) => verdict.judge ?? []))
  const calls = verdicts.map((verdict, index): CallVerdict => ({ index, verdict }))
  return { status: 'calls', calls, ...(judge !== undefined && { judge }) }
}

function assessCall(
  { id, level }: CallScorer,
  run: Reads,
  index: number,
  ask: Ask,
): StepVerdict | Promise<StepVerdict> {
  const reads = run.forCall()
  const conclude = (verdict: StepVerdict): StepVerdict => {
    if (reads.absence === undefined || verdict.status === 'skipped') return verdict
    return verdict.judge === undefined ? reads.absence : { ...reads.absence, judge: verdict.judge }
  }
  const concludeThrown = (error: unknown): StepVerdict => reads.absence ?? verdictOfThrown(id, error)
  try {
    const verdict = ask({ call: callView(reads, level, index), agentRun: scorerView(reads, true) }, reads)
    return isThenable(verdict) ? adopted(verdict).then(conclude, concludeThrown) : conclude(verdict)
  } catch (error) {
    return concludeThrown(error)
  }
}
