import type { Calibration } from '../calibration/calibration.ts'
import { informedness, LEAST_INFORMEDNESS } from '../calibration/corrected-share.ts'

/** One row of the report's chart: a share with its 95 % confidence interval. */
export interface ReportRow {
  readonly name: string
  readonly value: number
  readonly interval95?: readonly [number, number]
  readonly meaning: string
}

/** The results of a calibration, as rows for the terminal and the chart. */
export function reportRows(calibration: Calibration): readonly ReportRow[] {
  const { judgePassed, ppi, sensitivity, sensitivity95, specificity, specificity95 } = calibration
  return [
    { name: 'the judge passes', value: judgePassed, meaning: 'of the judged runs' },
    {
      name: 'people would pass',
      value: ppi.mean,
      interval95: ppi.interval95,
      meaning: 'of the same runs (PPI++)',
    },
    {
      name: 'sensitivity',
      value: sensitivity,
      interval95: sensitivity95,
      meaning: 'of the good runs the judge passes',
    },
    { name: 'specificity', value: specificity, interval95: specificity95, meaning: 'of the bad runs the judge fails' },
  ]
}

/** The conclusion in one sentence. */
export function conclusion(calibration: Calibration): string {
  const says = informedness(calibration)
  if (says < LEAST_INFORMEDNESS) {
    return (
      `Sensitivity + specificity − 1 is ${says.toFixed(2)}, and at least ${LEAST_INFORMEDNESS} is needed: the verdict depends too little on ` +
      'the run. The share that passes is not corrected. Improve the judge first.'
    )
  }
  const wide = Math.max(
    calibration.sensitivity95[1] - calibration.sensitivity95[0],
    calibration.specificity95[1] - calibration.specificity95[0],
  )
  return wide > 0.3
    ? 'The rules correct the share that passes, with a wide interval: more labels would narrow it.'
    : 'The rules correct the share that passes.'
}

/** `from 2026-11-01 to 2026-11-14`, or one day. */
export function period({ from, to }: Calibration): string {
  const [first, last] = [from.slice(0, 10), to.slice(0, 10)]
  return first === last ? `of ${first}` : `from ${first} to ${last}`
}
