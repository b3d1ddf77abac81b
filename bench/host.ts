import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { HOST_CASES } from './host-cases.ts'
import type { HostCase } from './host-cases.ts'
import { median } from './median.ts'
import type { Row } from './row.ts'

/** Blocks that are played and not counted, until the compiler has settled: both sides still gain in the first twenty. */
const WARM_UP = 30

/** Processes of each side: what the compiler makes of the same code differs by a third from one process to the next. */
const PROCESSES = 3

/** The provider alone, with what no implementation can avoid, and with spanscore. */
const SIDES = ['without', 'floor', 'with'] as const
type Side = (typeof SIDES)[number]

/** Microseconds of processor time for a unit of traffic, one entry a round. */
type Costs = Readonly<Record<Side, number[]>>

/** What spanscore adds to a provider with a batch span processor and an exporter that does nothing. */
export async function hostCosts(rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, hostCase] of Object.entries(HOST_CASES)) rows.push(await compare(name, hostCase, rounds))
  return rows
}

/**
 * Three processes, each with its own compiled code, take turns block by block. What is compared is CPU time, which the machine's other
 * processes stretch less than they stretch the clock's.
 */
async function compare(name: string, { title, goal, spansPerUnit }: HostCase, rounds: number): Promise<Row> {
  const units = Math.round(12_000 / spansPerUnit)
  const costs: Costs = { without: [], floor: [], with: [] }
  for (let nth = 0; nth < PROCESSES; nth += 1) await compareOnce(name, units, Math.ceil(rounds / PROCESSES), costs)
  const added = (side: Side, base: Side): number => medianOfPairs(costs, side, base, (cost, other) => cost - other)
  const shared = {
    title,
    baseline: `${median(costs.without).toFixed(2)} µs`,
    floor: signed(added('floor', 'without')),
    measured: signed(added('with', 'without')),
    aboveFloor: `${added('with', 'floor').toFixed(2)} µs`,
  }
  return 'ratio' in goal
    ? { ...shared, value: medianOfPairs(costs, 'with', 'without', (a, b) => a / b), unit: '×', atMost: goal.ratio }
    : { ...shared, value: added('with', 'without'), unit: 'µs', atMost: goal.addedUs }
}

/** Microseconds of a unit of one kind of traffic without spanscore, and what it adds. */
export async function addedByHost(name: string): Promise<{ readonly baseUs: number; readonly addedUs: number }> {
  const costs: Costs = { without: [], floor: [], with: [] }
  await compareOnce(name, Math.round(12_000 / (HOST_CASES[name]?.spansPerUnit ?? 1)), 15, costs)
  return { baseUs: median(costs.without), addedUs: medianOfPairs(costs, 'with', 'without', (a, b) => a - b) }
}

/** Noise may make the floor cheaper than the provider alone. */
function signed(us: number): string {
  return `${us < 0 ? '-' : '+'} ${Math.abs(us).toFixed(2)} µs`
}

function medianOfPairs(
  costs: Costs,
  side: Side,
  base: Side,
  compareTwo: (cost: number, other: number) => number,
): number {
  return median(costs[side].map((cost, round) => compareTwo(cost, costs[base][round] ?? Number.NaN)))
}

async function compareOnce(name: string, units: number, rounds: number, costs: Costs): Promise<void> {
  const processes = SIDES.map((side) => ({
    side,
    child: fork(join(import.meta.dirname, 'host-side.ts'), [name, side, String(units)]),
  }))
  for (let round = -WARM_UP; round < rounds; round += 1) {
    // The side that begins changes from round to round.
    for (const { side, child } of round % 2 === 0 ? processes : processes.toReversed()) {
      const cost = await block(child)
      if (round >= 0) costs[side].push(cost / 1000)
    }
  }
  for (const { child } of processes) child.disconnect()
}

async function block(side: ChildProcess): Promise<number> {
  side.send('block')
  const [message] = (await once(side, 'message')) as [{ nsPerUnit: number; lost: number; error?: string }]
  if (message.error !== undefined) throw new Error(message.error)
  if (message.lost !== 0) throw new Error(`expected every span at the exporter, ${message.lost} are missing`)
  return message.nsPerUnit
}
