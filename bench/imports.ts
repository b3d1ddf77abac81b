import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { median } from './median.ts'
import type { Row } from './row.ts'

interface Loaded {
  readonly ms: number
  readonly mb: number
}

/** The cost of loading the main entry, compared with `@opentelemetry/api` alone, each in a new process. */
export async function importCosts(rounds: number): Promise<Row[]> {
  const api: Loaded[] = []
  const spanscore: Loaded[] = []
  for (let round = -1; round < rounds; round += 1) {
    const [a, b] = [load(['@opentelemetry/api']), load(['@opentelemetry/api', 'spanscore'])]
    if (round < 0) continue
    api.push(a)
    spanscore.push(b)
  }
  return [
    row('import of spanscore, beside the API alone', 'ms', 18, (loaded) => loaded.ms),
    row('memory of spanscore loaded, beside the API alone', 'MB', 5.75, (loaded) => loaded.mb),
  ]

  function row(title: string, unit: 'ms' | 'MB', atMost: number, pick: (loaded: Loaded) => number): Row {
    const [a, b] = [median(api.map(pick)), median(spanscore.map(pick))]
    const value = median(spanscore.map((loaded, index) => pick(loaded) - pick(api[index] ?? loaded)))
    return { title, baseline: `${a.toFixed(1)} ${unit}`, measured: `${b.toFixed(1)} ${unit}`, value, unit, atMost }
  }
}

function load(names: readonly string[]): Loaded {
  const script = `
    const started = performance.now()
    ${names.map((name) => `await import(${JSON.stringify(name)})`).join('\n')}
    const ms = performance.now() - started
    gc()
    console.log(JSON.stringify({ ms, mb: process.memoryUsage.rss() / 2 ** 20 }))`
  const printed = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
  return JSON.parse(printed) as Loaded
}
