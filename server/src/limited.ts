/** Reports each line at most once in ten seconds. */
export function limited(report: (line: string) => void): (line: string) => void {
  const latest = new Map<string, number>()
  return (line) => {
    const atMs = Date.now()
    if (atMs - (latest.get(line) ?? Number.NEGATIVE_INFINITY) < 10_000) return
    if (latest.size > 100) latest.clear()
    latest.set(line, atMs)
    report(line)
  }
}
