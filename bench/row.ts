/** One figure, with the baseline of the same run. */
export interface Row {
  readonly title: string
  readonly baseline: string
  /** What any implementation must cost in the same run, if that is known. */
  readonly floor?: string
  readonly measured: string
  /** What is measured, less the floor. */
  readonly aboveFloor?: string
  readonly value: number
  readonly unit: '×' | 'µs' | 'ms' | 'MB'
  readonly atMost?: number
  readonly atLeast?: number
}

/** Whether it meets its threshold; figures without one always do. */
export function isMet({ value, atMost, atLeast }: Row): boolean {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)
}

/** Rows as text, columns in line. */
export function toTable(rows: readonly Row[]): string {
  const cells = [
    ['', 'baseline', 'floor', 'spanscore', 'above floor', 'figure', 'threshold', ''],
    ...rows.map((row) => [
      row.title,
      row.baseline,
      row.floor ?? '',
      row.measured,
      row.aboveFloor ?? '',
      `${row.value.toFixed(row.value < 10 ? 3 : 1)} ${row.unit}`,
      row.atMost !== undefined ? `≤ ${row.atMost}` : row.atLeast !== undefined ? `≥ ${row.atLeast}` : '',
      row.atMost === undefined && row.atLeast === undefined ? '' : isMet(row) ? 'met' : 'NOT MET',
    ]),
  ]
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => (line[column] ?? '').length)))
  return cells
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
