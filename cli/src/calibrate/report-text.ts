import type { Calibration } from '../calibration/calibration.ts'
import { judgeName } from '../calibration/calibration.ts'
import type { LabellerAgreement } from '../calibration/labellers.ts'
import type { Paint } from '../output.ts'
import { safeLine, wrap } from '../text.ts'
import { conclusion, period, reportRows } from './report-rows.ts'
import type { ReportRow } from './report-rows.ts'

/** How the report is drawn. */
export interface ReportStyle {
  readonly columns: number
  readonly paint: Paint
}

const BAR = 40

/** Renders one calibration for a terminal. */
export function renderCalibration(calibration: Calibration, { columns, paint }: ReportStyle): string {
  const { labelledPass, labelledFail, judged, confusion, kappa } = calibration
  const about =
    `${judged.toLocaleString('en')} judged runs ${period(calibration)}; of the labelled ones people pass ${labelledPass} ` +
    `and fail ${labelledFail}.`
  return [
    paint('bold', safeLine(judgeName(calibration))),
    ...wrap(about, columns - 2, 3).map((line) => `  ${line}`),
    '',
    paint('dim', `  ${''.padEnd(14)}  judge passes   judge fails`),
    `  people pass   ${shareText(confusion.tp)}${shareText(confusion.fn)}`,
    `  people fail   ${shareText(confusion.fp)}${shareText(confusion.tn)}   ${paint('dim', `κ ${kappa.toFixed(2)}`)}`,
    '',
    ...reportRows(calibration).map((row) => renderRow(row, paint)),
    paint('dim', `  ${''.padEnd(17)}  0${'1'.padStart(BAR - 1)}`),
    ...wrap(conclusion(calibration), columns - 2, 3).map((line) => `  ${line}`),
  ].join('\n')
}

function shareText(part: number): string {
  return `${(part * 100).toFixed(1)} %`.padStart(14)
}

function renderRow({ name, value, interval95, meaning }: ReportRow, paint: Paint): string {
  const [low, high] = interval95 ?? [value, value]
  const at = (position: number): number => Math.round(position * (BAR - 1))
  const bar = Array.from({ length: BAR }, (_, index) => {
    if (index === at(value)) return '●'
    if (index === at(low)) return '├'
    if (index === at(high)) return '┤'
    return index > at(low) && index < at(high) ? '─' : '·'
  })
  const bounds = interval95 === undefined ? '' : ` (${low.toFixed(2)} to ${high.toFixed(2)})`
  return `  ${name.padEnd(17)}  ${bar.join('')}  ${value.toFixed(2)}${bounds} ${paint('dim', meaning)}`
}

/** Describes in one line how far people agree. */
export function renderAgreement({ scores, agreed, alpha, labellers }: LabellerAgreement): string {
  const beyond = alpha === undefined ? '' : `, Krippendorff’s α ${alpha.toFixed(2)}`
  const weak =
    alpha !== undefined && alpha < 0.67
      ? ' Below .67 people do not agree on what a good run is: define it more precisely first.'
      : ''
  return (
    `${labellers.map(safeLine).join(', ')} labelled ${scores.toLocaleString('en')} of the runs together and agree on ` +
    `${Math.round(agreed * 100)} % of their pairs${beyond}. The majority counts.${weak}`
  )
}
