import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

import type { ScoreSeries } from '../api.ts'

/** Colours of the groups, which also differ in their dashes. */
export const GROUP_STYLES: readonly { readonly name: string; readonly dash: readonly number[] }[] = [
  { name: '--group-1', dash: [] },
  { name: '--group-2', dash: [6, 4] },
  { name: '--group-3', dash: [2, 3] },
  { name: '--group-4', dash: [10, 3, 2, 3] },
]

/** Bands of more groups cover one another; the table has their intervals. */
const MAX_BANDS = 2

interface ChartProps {
  readonly series: readonly ScoreSeries[]
  readonly bucketMs: number
}

/** Means over time with their intervals, from the second point in time on. The table below it has the numbers. */
export function MeanChart({ series, bucketMs }: ChartProps) {
  const times = new Set(series.flatMap(({ points }) => points.map(({ timeMs }) => timeMs)))
  return times.size > 1 ? <Plot series={series} bucketMs={bucketMs} /> : null
}

function Plot({ series, bucketMs }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const shown = series.slice(0, GROUP_STYLES.length)
  const key = JSON.stringify(shown.map(({ group, points }) => [group, points.length, points.at(-1)]))
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    let plot: uPlot | undefined
    const draw = (): void => {
      plot?.destroy()
      plot = new uPlot(optionsOf(shown, element, bucketMs), dataOf(shown, bucketMs), element)
    }
    draw()
    const size = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: 240 }))
    size.observe(element)
    const theme = matchMedia('(prefers-color-scheme: dark)')
    theme.addEventListener('change', draw)
    return () => {
      size.disconnect()
      theme.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [key])
  return (
    <div
      ref={place}
      class="chart"
      role="img"
      aria-label="Mean score over time with its 95 % interval; the table below has the numbers"
    />
  )
}

function dataOf(series: readonly ScoreSeries[], bucketMs: number): uPlot.AlignedData {
  const times = [...new Set(series.flatMap(({ points }) => points.map(({ timeMs }) => timeMs)))].toSorted(
    (left, right) => left - right,
  )
  const columns = series.flatMap(({ points }) => {
    const at = new Map(points.map((point) => [point.timeMs, point.mean]))
    const column = (read: (mean: NonNullable<ReturnType<typeof at.get>>) => number) =>
      times.map((timeMs) => {
        const mean = at.get(timeMs)
        return mean === undefined ? null : read(mean)
      })
    return [
      column(({ mean }) => mean),
      column(({ interval95 }) => interval95[0]),
      column(({ interval95 }) => interval95[1]),
    ]
  })
  return [times.map((timeMs) => (timeMs + bucketMs / 2) / 1000), ...columns]
}

function optionsOf(series: readonly ScoreSeries[], element: HTMLElement, bucketMs: number): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const lines = series.flatMap(({ group }, index): uPlot.Series[] => {
    const { name, dash } = GROUP_STYLES[index] ?? { name: '--group-1', dash: [] }
    const stroke = colour(name)
    return [
      {
        label: group === '' ? 'mean' : group,
        stroke,
        width: 2,
        dash: [...dash],
        spanGaps: true,
        points: { show: true, size: 6, fill: stroke },
      },
      { show: true, stroke: 'transparent', points: { show: false }, spanGaps: true },
      { show: true, stroke: 'transparent', points: { show: false }, spanGaps: true },
    ]
  })
  return {
    width: element.clientWidth,
    height: 240,
    legend: { show: false },
    cursor: { y: false },
    scales: {
      y: { range: [0, 1] },
      x: { time: true, range: (_plot, low, high) => [low - bucketMs / 2000, high + bucketMs / 2000] },
    },
    series: [{}, ...lines],
    bands: series.slice(0, series.length > MAX_BANDS ? 0 : MAX_BANDS).map((_each, index) => ({
      series: [index * 3 + 3, index * 3 + 2],
      fill: `color-mix(in srgb, ${colour(GROUP_STYLES[index]?.name ?? '--group-1')} ${series.length > 1 ? 9 : 18}%, transparent)`,
    })),
    axes: [
      {
        size: 30,
        // Labels of times with seconds are about 60 pixels wide.
        space: 76,
        values: (_plot, splits) => labelsOf(splits),
        stroke: colour('--text-2'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
      },
      {
        stroke: colour('--text-2'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
        size: 44,
      },
    ],
  }
}

/** Formats times as short as possible while they differ, on a clock of 24 hours. */
function labelsOf(seconds: readonly number[]): string[] {
  const span = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0)
  const options: Intl.DateTimeFormatOptions =
    span > 2 * 86_400
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
  label,
}: {
  readonly low: number
  readonly mean: number
  readonly high: number
  readonly from?: number
  readonly to?: number
  readonly label: string
}) {
  const x = (value: number) => ((value - from) / (to - from)) * 200
  return (
    <svg class="interval" viewBox="-4 0 208 16" role="img" aria-label={label} preserveAspectRatio="none">
      <line class="axis" x1="0" x2="200" y1="8" y2="8" />
      {from < 0 && <line class="zero" x1={x(0)} x2={x(0)} y1="1" y2="15" />}
      <line class="spread" x1={x(low)} x2={x(high)} y1="8" y2="8" />
      <rect class="middle" x={x(mean) - 2} width="4" y="3" height="10" rx="1" />
    </svg>
  )
}
