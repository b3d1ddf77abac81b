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

/** Pairs of processes: what the compiler makes of the same code differs by a third from one process to the next. */
const PAIRS = 3

/** What spanscore adds to a provider with a batch span processor and an exporter that does nothing. */
export async function hostCosts(rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, hostCase] of Object.entries(HOST_CASES)) rows.push(await compare(name, hostCase, rounds))
  return rows
}

/**
 * Two processes, each with its own compiled code, take turns block by block. What is compared is CPU time, which the
 * machine's other processes stretch less than they stretch the clock's.
 */
async function compare(name: string, { title, atMost, spansPerUnit }: HostCase, rounds: number): Promise<Row> {
  const units = Math.round(12_000 / spansPerUnit)
  const ratios: number[] = []
  const costs: [number[], number[]] = [[], []]
  for (let pair = 0; pair < PAIRS; pair += 1) await comparePair(name, units, Math.ceil(rounds / PAIRS), ratios, costs)
  return {
    title,
    baseline: `${(median(costs[0]) / 1000).toFixed(2)} µs`,
    measured: `${(median(costs[1]) / 1000).toFixed(2)} µs`,
    value: median(ratios),
    unit: '×',
    ...(atMost !== undefined && { atMost }),
  }
}

async function comparePair(
  name: string,
  units: number,
  rounds: number,
  ratios: number[],
  costs: readonly [number[], number[]],
): Promise<void> {
  const sides = ['without', 'with'].map((side) =>
    fork(join(import.meta.dirname, 'host-side.ts'), [name, side, String(units)]),
  )
  const [without, withScoring] = sides
  if (without === undefined || withScoring === undefined) throw new Error('expected two sides')
  for (let round = -WARM_UP; round < rounds; round += 1) {
    // The side that begins changes from round to round.
    const first = round % 2 === 0 ? without : withScoring
    const results = new Map([[first, await block(first)]])
    const second = first === without ? withScoring : without
    results.set(second, await block(second))
    if (round < 0) continue
    const [a = Number.NaN, b = Number.NaN] = [results.get(without), results.get(withScoring)]
    costs[0].push(a)
    costs[1].push(b)
    ratios.push(b / a)
  }
  for (const side of sides) side.disconnect()
}

async function block(side: ChildProcess): Promise<number> {
  side.send('block')
  const [message] = (await once(side, 'message')) as [{ nsPerUnit: number; lost: number; error?: string }]
  if (message.error !== undefined) throw new Error(message.error)
  if (message.lost !== 0) throw new Error(`expected every span at the exporter, ${message.lost} are missing`)
  return message.nsPerUnit
}
