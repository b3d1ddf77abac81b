const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Divides every duration of a Prometheus, rules or Alertmanager file by `scale`: ranges, offsets, `for`, intervals. At 60 an hour's
 * window is a minute. Nothing becomes shorter than a second. Names of series keep their `:1h`.
 */
export function compressTime(text: string, scale: number): string {
  if (scale === 1) return text
  return text.replaceAll(
    /(\[|(?<=\[\d+[smhd]):(?=\d+[smhd]\])|offset |for: |keep_firing_for: |interval: |group_wait: |out_of_order_time_window: )(\d+)([smhd])/g,
    (_, before: string, count: string, unit: string) =>
      `${before}${Math.max(1, Math.round((Number(count) * (SECONDS[unit] ?? 1)) / scale))}s`,
  )
}
