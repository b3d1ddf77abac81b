import type { Agreement, Calibration, CanaryReference } from '../calibration/calibration.ts'
import { judgeKey, judgeName } from '../calibration/calibration.ts'
import { evidenceOfFall, PAGE_NATS, surelyReached, TICKET_NATS } from '../calibration/evidence.ts'
import type { JudgePass } from './judge-again.ts'

/** The result of one pass for one judge. */
export interface CanaryVerdict extends JudgePass {
  /**
   * `steady`: as measured. `drifting`: 9 nats of evidence for less agreement, worth a ticket. `drifted`: 13 nats, worth a page.
   * `uncalibrated`: there is no reference to compare it with.
   */
  readonly status: 'steady' | 'drifting' | 'drifted' | 'uncalibrated'
  /** Evidence in nats that agreement fell in this pass, on the runs that people pass or on those that they fail. */
  readonly evidence?: number
  /** The lower bound of its agreement, on both kinds of runs. */
  readonly level?: { readonly pass: number; readonly fail: number }
  /** Why it is uncalibrated, and what to do. */
  readonly why?: string
}

/** Compares a pass with the reference of the same judge on the same runs. */
export function verdictOf(pass: JudgePass, calibrations: readonly Calibration[]): CanaryVerdict {
  const calibration = calibrations.find((each) => judgeKey(each) === judgeKey(pass.judge))
  if (calibration === undefined) {
    const same = calibrations.filter(({ scorer }) => scorer === pass.judge.scorer).map(judgeName)
    const known = same.length === 0 ? 'No version of it is calibrated' : `Calibrated are: ${same.join(', ')}`
    return { ...pass, status: 'uncalibrated', why: `${known}. Label runs that this judge scored` }
  }
  const { reference } = calibration
  if (reference === undefined) {
    return { ...pass, status: 'uncalibrated', why: 'There is no reference yet. Run spanscore canary --reference' }
  }
  if (reference.set !== pass.set) {
    return {
      ...pass,
      status: 'uncalibrated',
      why: 'Its reference is of other runs or labels. Run spanscore canary --reference',
    }
  }
  const level = { pass: surelyReached(reference.pass), fail: surelyReached(reference.fail) }
  const found = [evidenceOfFall(pass.pass, level.pass), evidenceOfFall(pass.fail, level.fail)]
  const evidence = Math.max(...found.map((nats) => nats ?? 0))
  const status = evidence > PAGE_NATS ? 'drifted' : evidence > TICKET_NATS ? 'drifting' : 'steady'
  return { ...pass, status, evidence, level }
}

/** Adds a pass to the reference of its judge in the calibrations. A pass over other runs starts a new reference. */
export function withReference(calibrations: readonly Calibration[], pass: JudgePass, at: string): Calibration[] {
  return calibrations.map((calibration) => {
    if (judgeKey(calibration) !== judgeKey(pass.judge)) return calibration
    const before = calibration.reference?.set === pass.set ? calibration.reference : undefined
    const reference: CanaryReference = {
      at,
      set: pass.set,
      pass: sum(before?.pass, pass.pass),
      fail: sum(before?.fail, pass.fail),
    }
    return { ...calibration, reference }
  })
}

function sum(before: Agreement | undefined, now: Agreement): Agreement {
  return { runs: (before?.runs ?? 0) + now.runs, agreed: (before?.agreed ?? 0) + now.agreed }
}
