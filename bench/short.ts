import { addedUs, agentBlocks, RUNS_PER_BLOCK } from './agent.ts'
import { HOST_CASES } from './host-cases.ts'
import { addedByHost } from './host.ts'
import { loadedMs } from './imports.ts'
import { median } from './median.ts'

/** V8 compiles during the first thousand runs of a process. */
const COLD_RUNS = 1000
/** After so many runs it has compiled. */
const WARM_AFTER = 2000
const WARM_RUNS = 1000

/** What a reader wants to know, in five lines and in under a minute: each side in a process of its own. */
export async function* shortFigures(): AsyncGenerator<string> {
  const rounds = (WARM_AFTER + WARM_RUNS) / RUNS_PER_BLOCK
  const [without = [], scored = []] = await agentBlocks([undefined, '.'], rounds, 0)
  const part = (name: string, from: number, to: number): string => {
    const [base, costs] = [without, scored].map((all) => all.slice(from / RUNS_PER_BLOCK, to / RUNS_PER_BLOCK))
    const added = addedUs(base ?? [], costs ?? []) / 1000
    return `${name}: ${ms(median(base ?? []) / 1000)} without, ${signed(added)} ms a run with two scorers by code, events and metrics`
  }
  yield part('a real agent over HTTP, its first 1,000 runs in a process', 0, COLD_RUNS)
  yield part('the same after 2,000 runs', WARM_AFTER, WARM_AFTER + WARM_RUNS)
  for (const [name, what, units] of [
    ['ordinary', 'an ordinary span', 'us a span'],
    ['sampled-out', 'an agent run that no scorer chose', 'us a run'],
  ] as const) {
    const { baseUs, addedUs: added } = await addedByHost(name)
    const spans = name === 'ordinary' ? (HOST_CASES[name]?.spansPerUnit ?? 1) : 1
    yield `${what}: ${(baseUs / spans).toFixed(1)} µs without, ${signed(added / spans)} ${units.replace('us', 'µs')}`
  }
  yield `import of spanscore: ${ms(loadedMs())}, once`
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'} ${Math.abs(value).toFixed(2)}`
}
