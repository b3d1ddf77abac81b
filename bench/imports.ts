import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { median } from './median.ts'
import type { Row } from './row.ts'

interface Loaded {
  readonly cpuMs: number
  readonly mb: number
}

const API = '@opentelemetry/api'

/**
 * The cost of loading the main entry where the API is loaded, as a ratio to that of the SDK's package for traces, which every host loads
 * too. Each is loaded in a new process. Processor time of the main thread is measured, because other work on the machine lengthens waits.
 *
 * The thresholds are half of what the package cost when it was first measured: 1.15 times as long as the SDK's, and 0.87 times its memory.
 */
export async function importCosts(rounds: number): Promise<Row[]> {
  const sdk: Loaded[] = []
  const spanscore: Loaded[] = []
  for (let round = -1; round < rounds; round += 1) {
    const [api, a, b] = [load([API]), load([API, '@opentelemetry/sdk-trace']), load([API, 'spanscore'])]
    if (round < 0) continue
    sdk.push({ cpuMs: a.cpuMs - api.cpuMs, mb: a.mb - api.mb })
    spanscore.push({ cpuMs: b.cpuMs - api.cpuMs, mb: b.mb - api.mb })
  }
  return [
    row("import of spanscore, beside the SDK's", 'ms', 0.57, ({ cpuMs }) => cpuMs),
    row("memory of spanscore loaded, beside the SDK's", 'MB', 0.43, ({ mb }) => mb),
  ]

  function row(title: string, unit: 'ms' | 'MB', atMost: number, pick: (loaded: Loaded) => number): Row {
    const [a, b] = [median(sdk.map(pick)), median(spanscore.map(pick))]
    return {
      title,
      baseline: `${a.toFixed(1)} ${unit}`,
      measured: `${b.toFixed(1)} ${unit}`,
      value: b / a,
      unit: '×',
      atMost,
    }
  }
}

/** Milliseconds of processor time that loading spanscore takes where the API is loaded: the median of five processes. */
export function loadedMs(): number {
  return median(Array.from({ length: 5 }, () => load([API, 'spanscore']).cpuMs - load([API]).cpuMs))
}

function load(names: readonly string[]): Loaded {
  const script = `
    const cpuMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000 }
    const started = cpuMs()
    ${names.map((name) => `await import(${JSON.stringify(name)})`).join('\n')}
    const spent = cpuMs() - started
    gc()
    console.log(JSON.stringify({ cpuMs: spent, mb: process.memoryUsage.rss() / 2 ** 20 }))`
  const printed = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
  return JSON.parse(printed) as Loaded
}
