import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'

import type { ScoreSeries, ScoreSummary } from '../api.ts'
import { percent, plural, time } from '../format.ts'
import { Table, texts } from './table.tsx'

/** Colours of the groups, which also differ in their dashes. */
export const GROUP_STYLES: readonly { readonly name: string; readonly dash: readonly number[] }[] = [
  { name: '--group-1', dash: [] },
  { name: '--group-2', dash: [6, 4] },
  { name: '--group-3', dash: [2, 3] },
  { name: '--group-4', dash: [10, 3, 2, 3] },
]

/** Bands of more groups cover one another; the table has their intervals. */
const MAX_BANDS = 2

/** A point of fewer runs is hollow: chance moves it far. */
const FEW_RUNS = 10

const HEIGHT = 240

/** What is drawn: the share of failing runs, or the mean position in the range. */
export type Measure = 'failing' | 'mean'

/** A moment to mark, such as the first run of a version. */
export interface Mark {
  readonly timeMs: number
  readonly text: string
}

interface ChartProps {
  /** At most as many as there are styles. */
  readonly series: readonly ScoreSeries[]
  readonly bucketMs: number
  readonly measure: Measure
  /** What is counted: `run`. */
  readonly unit: string
  readonly marks?: readonly Mark[]
  /** The mean position from which on a run passes. */
  readonly passAt?: number | undefined
  /** Called with the period of a point that somebody chose. */
  readonly onPeriod?: (fromMs: number, toMs: number, group: string) => void
}

/** Scores over time with their intervals, from the second point in time on. */
export function ScoreChart(props: ChartProps) {
  const times = timesOf(props.series)
  return times.length > 1 ? <Plot {...props} times={times} /> : null
}

interface PlotProps extends ChartProps {
  readonly times: readonly number[]
}

function Plot(props: PlotProps) {
  const { series, measure, bucketMs, times, marks = [], unit, onPeriod } = props
  const place = useRef<HTMLDivElement>(null)
  const plotted = useRef<uPlot | undefined>(undefined)
  const [at, setAt] = useState<number | null>(null)
  const most = Math.max(...countsOf(props))
  const key = JSON.stringify([measure, marks, series.map(({ group, points }) => [group, points.length, points.at(-1)])])
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const draw = (): void => {
      plotted.current?.destroy()
      const options = optionsOf(props, element)
      plotted.current = new uPlot(
        {
          ...options,
          hooks: {
            drawAxes: [(plot) => drawCounts(plot, props)],
            draw: [(plot) => drawMarks(plot, marks)],
            setCursor: [({ cursor }) => setAt(cursor.idx ?? null)],
          },
        },
        dataOf(props),
        element,
      )
    }
    draw()
    const size = new ResizeObserver(() => plotted.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    size.observe(element)
    const theme = matchMedia('(prefers-color-scheme: dark)')
    theme.addEventListener('change', draw)
    return () => {
      size.disconnect()
      theme.removeEventListener('change', draw)
      plotted.current?.destroy()
    }
  }, [key])
  const move = (by: number): void => {
    const next = Math.min(times.length - 1, Math.max(0, at === null ? times.length - 1 : at + by))
    const plot = plotted.current
    plot?.setCursor({ left: plot.valToPos(plot.data[0][next] ?? 0, 'x'), top: 10 })
  }
  const openAt = (): void => {
    const fromMs = at === null ? undefined : times[at]
    const [only] = series.length === 1 ? series : []
    if (fromMs !== undefined) onPeriod?.(fromMs, fromMs + bucketMs, only?.group ?? '')
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowLeft') move(-1)
    else if (event.key === 'ArrowRight') move(1)
    else if (event.key === 'Enter') openAt()
    else return
    event.preventDefault()
  }
  return (
    <figure class="chart">
      <div
        ref={place}
        tabIndex={0}
        role="img"
        class={onPeriod === undefined ? '' : 'is-link'}
        aria-label={`${measure === 'failing' ? 'Failing share' : 'Mean position'} over time${hasBands(series) ? ' with its 95 % interval' : ''}; the arrow keys go from point to point, and a table has all of them`}
        onKeyDown={onKey}
        onClick={openAt}
      />
      <figcaption aria-live="polite">
        {at === null ? (
          <span class="muted">
            {measure === 'failing' ? 'Share of failing' : 'Mean position of'} {unit}s
            {hasBands(series) && ', with 95 % intervals'}; hollow points have fewer than {FEW_RUNS}; grey bars count
            them, at most {most}.{isPassShown(props) && ' The line of dots is the pass mark.'} Times are{' '}
            {Intl.DateTimeFormat().resolvedOptions().timeZone}.
          </span>
        ) : (
          <>
            <b>{time(times[at] ?? 0)}</b>
            {series.map(({ group, points }) => (
              <span key={group}>
                {group === '' ? '' : `${group}: `}
                {pointText(
                  points.find(({ timeMs }) => timeMs === times[at]),
                  measure,
                  unit,
                )}
              </span>
            ))}
            {(times[at] ?? 0) + bucketMs > Date.now() && <span class="muted">in progress</span>}
          </>
        )}
      </figcaption>
      <details class="points">
        <summary>All points as a table</summary>
        <Table
          label="Points of the chart"
          heads={texts('From', ...series.map(({ group }) => (group === '' ? 'All' : group)))}
        >
          {times.map((timeMs) => (
            <tr key={timeMs}>
              <th scope="row">{time(timeMs)}</th>
              {series.map(({ group, points }) => (
                <td key={group}>
                  {pointText(
                    points.find((point) => point.timeMs === timeMs),
                    measure,
                    unit,
                  )}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  )
}

function hasBands(series: readonly ScoreSeries[]): boolean {
  return series.length <= MAX_BANDS
}

function pointText(point: ScoreSummary | undefined, measure: Measure, unit: string): string {
  const value = point?.[measure]
  if (point === undefined || value === undefined) return '–'
  const [low, high] = value.interval95
  const show = measure === 'failing' ? percent : (each: number) => each.toFixed(2)
  return `${show(value.mean)} (${show(low)} – ${show(high)}) of ${plural(point.runs, unit)}`
}

function timesOf(series: readonly ScoreSeries[]): readonly number[] {
  return [...new Set(series.flatMap(({ points }) => points.map(({ timeMs }) => timeMs)))].toSorted(
    (left, right) => left - right,
  )
}

function dataOf({ series, measure, bucketMs, times }: PlotProps): uPlot.AlignedData {
  const columns = series.flatMap(({ points }) => {
    const at = new Map(points.map((point) => [point.timeMs, point]))
    const column = (read: (value: WeightedMean, runs: number) => number | null) =>
      times.map((timeMs) => {
        const point = at.get(timeMs)
        const value = point?.[measure]
        return point === undefined || value === undefined ? null : read(value, point.runs)
      })
    return [
      column(({ mean }) => mean),
      column(({ interval95 }) => interval95[0]),
      column(({ interval95 }) => interval95[1]),
      column(({ mean }, runs) => (runs < FEW_RUNS ? null : mean)),
      column(({ mean }, runs) => (runs < FEW_RUNS ? mean : null)),
    ]
  })
  return [times.map((timeMs) => (timeMs + bucketMs / 2) / 1000), ...columns]
}

function optionsOf({ series, measure, bucketMs, times }: PlotProps, element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const lines = series.flatMap(({ group }, index): uPlot.Series[] => {
    const { name, dash } = GROUP_STYLES[index] ?? { name: '--group-1', dash: [] }
    const stroke = colour(name)
    const points = (fill: string): uPlot.Series => ({
      stroke,
      paths: () => null,
      points: { show: true, size: 6, stroke, fill },
    })
    const band: uPlot.Series = { stroke: 'transparent', points: { show: false }, spanGaps: true }
    return [
      { label: group, stroke, width: 2, dash: [...dash], spanGaps: true, points: { show: false } },
      band,
      band,
      points(stroke),
      points(colour('--raised')),
    ]
  })
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * DAY_MS
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      y: { range: (_plot, _low, high) => [0, measure === 'mean' ? 1 : Math.max(0.1, Math.min(1, high * 1.05))] },
      x: { time: true, range: (_plot, low, high) => [low - bucketMs / 2000, high + bucketMs / 2000] },
    },
    series: [{}, ...lines],
    bands: (hasBands(series) ? series : []).map((_each, index) => ({
      series: [index * COLUMNS + 3, index * COLUMNS + 2],
      fill: `color-mix(in srgb, ${colour(GROUP_STYLES[index]?.name ?? '--group-1')} ${series.length > 1 ? 9 : 18}%, transparent)`,
    })),
    axes: [
      {
        size: 30,
        space: 76,
        // A day is labelled once.
        ...(isLong && { incrs: [1, 2, 3, 7, 14, 30].map((days) => (days * DAY_MS) / 1000) }),
        values: (_plot, splits) => labelsOf(splits, isLong),
        stroke: colour('--text-2'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
      },
      {
        values: (_plot, splits) =>
          splits.map((split) => (measure === 'failing' ? percent(split) : String(Number(split.toFixed(2))))),
        stroke: colour('--text-2'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
        size: 48,
      },
    ],
  }
}

const DAY_MS = 86_400_000

/** Columns of a group: its line, the ends of its intervals, and its points of many and of few runs. */
const COLUMNS = 5

type WeightedMean = NonNullable<ScoreSummary['mean']>

/** How many runs there are at each time, of all groups. */
function countsOf({ series, times }: PlotProps): readonly number[] {
  const points = series.flatMap((each) => each.points)
  return times.map((at) => points.reduce((sum, { timeMs, runs }) => sum + (timeMs === at ? runs : 0), 0))
}

function isPassShown({ measure, passAt }: ChartProps): boolean {
  return measure === 'mean' && passAt !== undefined
}

/** The part of the height that the bars of counts take at most. */
const COUNTS_HEIGHT = 0.15

/** Bars of the numbers of runs below the lines, and the pass mark. */
function drawCounts(plot: uPlot, props: PlotProps): void {
  const { ctx, bbox } = plot
  const counts = countsOf(props)
  const most = Math.max(...counts)
  const style = getComputedStyle(plot.root)
  ctx.save()
  ctx.fillStyle = style.getPropertyValue('--line').trim()
  for (const [index, count] of counts.entries()) {
    const [from = 0, to = 0] = [0, props.bucketMs].map((more) =>
      plot.valToPos(((props.times[index] ?? 0) + more) / 1000, 'x', true),
    )
    const height = (count / most) * COUNTS_HEIGHT * bbox.height
    ctx.fillRect(from + 1, bbox.top + bbox.height - height, Math.max(1, to - from - 2), height)
  }
  if (isPassShown(props)) {
    const y = plot.valToPos(props.passAt ?? 0, 'y', true)
    ctx.strokeStyle = style.getPropertyValue('--text-2').trim()
    ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  }
  ctx.restore()
}

/** Lines where something began, with their numbers, which the list beside the chart explains. */
function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot
  const { min = 0, max = 0 } = plot.scales['x'] ?? {}
  const style = getComputedStyle(plot.root)
  ctx.save()
  ctx.strokeStyle = ctx.fillStyle = style.getPropertyValue('--text-2').trim()
  ctx.font = `${12 * devicePixelRatio}px system-ui`
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio])
  for (const [index, { timeMs }] of marks.entries()) {
    if (timeMs / 1000 < min || timeMs / 1000 > max) continue
    const x = plot.valToPos(timeMs / 1000, 'x', true)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.fillText(String.fromCharCode(65 + (index % 26)), x + 3 * devicePixelRatio, bbox.top + 12 * devicePixelRatio)
  }
  ctx.restore()
}

/** Days, or times on a clock of 24 hours. */
function labelsOf(seconds: readonly number[], isLong: boolean): string[] {
  const span = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0)
  // On a narrow screen, only midnights may be labelled. The shortest day has 23 hours.
  const isByDay = isLong || (seconds[1] ?? 0) - (seconds[0] ?? 0) >= 23 * 3600
  const options: Intl.DateTimeFormatOptions = isByDay
    ? { day: 'numeric', month: 'short' }
    : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(span < 300 && { second: '2-digit' }) }
  const format = new Intl.DateTimeFormat('en-GB', options)
  return seconds.map((each) => format.format(each * 1000))
}

/** Ten parts of the range, from the worst to the best. */
export function Distribution({ shares, label }: { readonly shares: readonly number[]; readonly label: string }) {
  const most = Math.max(0.001, ...shares)
  const said = shares
    .map((share, index) => `${index * 10} to ${index * 10 + 10} %: ${Math.round(share * 100)} %`)
    .join(', ')
  return (
    <svg class="distribution" viewBox="0 0 100 28" role="img" aria-label={`Distribution of ${label}: ${said}`}>
      {shares.map((share, index) => (
        <rect
          key={index}
          x={index * 10 + 0.5}
          width="9"
          y={27 - (share / most) * 26}
          height={Math.max(share > 0 ? 0.8 : 0, (share / most) * 26)}
        />
      ))}
      <line x1="0" x2="100" y1="27.5" y2="27.5" />
    </svg>
  )
}

/** A mean with its interval on a scale. */
export function IntervalBar({
  low,
  mean,
  high,
  from = 0,
  to = 1,
  tone = '',
  label,
}: {
  readonly low: number
  readonly mean: number
  readonly high: number
  readonly from?: number
  readonly to?: number
  /** `fail` or `pass` if it shows that something got worse or better. */
  readonly tone?: string
  readonly label: string
}) {
  const x = (value: number) => ((value - from) / (to - from)) * 200
  return (
    <svg class={`interval ${tone}`} viewBox="-4 0 208 16" role="img" aria-label={label} preserveAspectRatio="none">
      <line class="axis" x1="0" x2="200" y1="8" y2="8" />
      {from < 0 && <line class="zero" x1={x(0)} x2={x(0)} y1="1" y2="15" />}
      <line class="spread" x1={x(low)} x2={x(high)} y1="8" y2="8" />
      <rect class="middle" x={x(mean) - 2} width="4" y="3" height="10" rx="1" />
    </svg>
  )
}
