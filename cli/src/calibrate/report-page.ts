import type { Calibration } from '../calibration/calibration.ts'
import { judgeName } from '../calibration/calibration.ts'
import { correctedShare } from '../calibration/corrected-share.ts'
import { conclusion, period, reportRows } from './report-rows.ts'

/** Renders calibrations as a page with charts: one file, without scripts or external resources. */
export function renderPage(calibrations: readonly Calibration[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Calibration of judges</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.1rem }
table { border-collapse: collapse; margin: 1rem 0 } th, td { padding: .25rem .75rem; border: 1px solid #ccc; text-align: right }
th { font-weight: 600 } figure { margin: 1rem 0; display: inline-block; vertical-align: top } figcaption { max-width: 20rem; font-size: .85rem; color: #555 }
svg { max-width: 100%; height: auto } svg text { font: 13px system-ui, sans-serif; fill: #222 }
</style>
<h1>Calibration of judges</h1>
<p>What people say of runs, held against what judges say of them. Bars are 95 % intervals.</p>
${calibrations.map(section).join('\n')}
</html>
`
}

function section(calibration: Calibration): string {
  const { labelledPass, labelledFail, judged, confusion, kappa, labelledAt } = calibration
  return `<section>
<h2>${escaped(judgeName(calibration))}</h2>
<p>${judged.toLocaleString('en')} judged runs ${escaped(period(calibration))}. Of the labelled ones people pass ${labelledPass} and fail ${labelledFail};
the last label is of ${escaped(labelledAt.slice(0, 10))}. Cohen’s κ is ${kappa.toFixed(2)}. ${escaped(conclusion(calibration))}</p>
<table>
<tr><th></th><th>judge passes</th><th>judge fails</th></tr>
<tr><th>people pass</th>${cell(confusion.tp)}${cell(confusion.fn)}</tr>
<tr><th>people fail</th>${cell(confusion.fp)}${cell(confusion.tn)}</tr>
</table>
<figure>${intervals(calibration)}</figure>
${correction(calibration)}
</section>`
}

function cell(part: number): string {
  return `<td>${(part * 100).toFixed(1)} %</td>`
}

const WIDTH = 320
const ROW = 28

function intervals(calibration: Calibration): string {
  const rows = reportRows(calibration)
  const [left, top] = [150, 10]
  const x = (share: number): string => (left + share * WIDTH).toFixed(1)
  const height = top + rows.length * ROW
  const lines = rows.map(({ name, value, interval95, meaning }, index) => {
    const y = top + index * ROW + ROW / 2
    const bar =
      interval95 === undefined
        ? ''
        : `<line x1="${x(interval95[0])}" x2="${x(interval95[1])}" y1="${y}" y2="${y}" stroke="#3b6ea5" stroke-width="6" opacity=".4"/>`
    return `<g><title>${escaped(`${value.toFixed(3)} ${meaning}`)}</title><text x="${left - 8}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>
${bar}<circle cx="${x(value)}" cy="${y}" r="4" fill="#3b6ea5"/><text x="${left + WIDTH + 10}" y="${y + 4}">${value.toFixed(2)}</text></g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + WIDTH + 60}" height="${height + 24}" viewBox="0 0 ${left + WIDTH + 60} ${height + 24}" role="img" aria-label="Shares with their intervals">
${axis(x, top, height)}
${lines.join('\n')}
</svg>`
}

const QUARTERS = [0, 0.25, 0.5, 0.75, 1]

function axis(x: (share: number) => string, top: number, height: number): string {
  return QUARTERS.map(
    (share) =>
      `<line x1="${x(share)}" x2="${x(share)}" y1="${top}" y2="${height}" stroke="#ddd"/><text x="${x(share)}" y="${height + 16}" text-anchor="middle">${share}</text>`,
  ).join('\n')
}

/** A chart of the share of live runs that people would pass, by the share that the judge passes, with its confidence band. */
function correction(calibration: Calibration): string {
  const steps = Array.from({ length: 51 }, (_, index) => index / 50)
  const points = steps.flatMap((passed) => {
    // The band covers only the judge's uncertainty. That of the traffic depends on the number of runs.
    const corrected = correctedShare(passed, Number.POSITIVE_INFINITY, calibration)
    return corrected === undefined ? [] : [{ passed, ...corrected }]
  })
  if (points.length === 0) return ''
  const [left, top, size] = [50, 10, 240]
  const at = (passed: number, share: number): string =>
    `${(left + passed * size).toFixed(1)},${(top + (1 - share) * size).toFixed(1)}`
  const upper = points.map(({ passed, interval95 }) => at(passed, interval95[1]))
  const lower = points.map(({ passed, interval95 }) => at(passed, interval95[0])).toReversed()
  const x = (share: number): string => (left + share * size).toFixed(1)
  const levels = QUARTERS.map((share) => {
    const y = (top + (1 - share) * size).toFixed(1)
    return `<line x1="${left}" x2="${left + size}" y1="${y}" y2="${y}" stroke="#ddd"/><text x="${left - 6}" y="${y}" dy="4" text-anchor="end">${share}</text>`
  })
  return `<figure><svg xmlns="http://www.w3.org/2000/svg" width="320" height="${top + size + 40}" viewBox="0 0 320 ${top + size + 40}" role="img" aria-label="The correction">
${axis(x, top, top + size)}
${levels.join('\n')}
<line x1="${left}" y1="${top + size}" x2="${left + size}" y2="${top}" stroke="#999" stroke-dasharray="4 4"/>
<polygon points="${[...upper, ...lower].join(' ')}" fill="#3b6ea5" opacity=".2"/>
<polyline points="${points.map(({ passed, share }) => at(passed, share)).join(' ')}" fill="none" stroke="#3b6ea5" stroke-width="2"/>
<text x="${left + size / 2}" y="${top + size + 34}" text-anchor="middle">share that the judge passes</text>
</svg><figcaption>The share that people would pass, by the share that the judge passes. The dashed line is a judge that is always right. The chart is valid as long as the judge makes as many errors of each kind as it did here.</figcaption></figure>`
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
