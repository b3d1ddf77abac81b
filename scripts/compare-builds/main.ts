/**
 * Compares two builds: `npm run compare -- <folder of the old checkout> <folder of the new one>`; both must be built.
 *
 * The runs in files of all recordings; the runs that a process sees, in several ways, first and last; what is emitted and counted; and the
 * processor time of a real agent over HTTP. It prints what differs, and fails if anything does that is not a cost.
 * `--only live,scores` for some sections, `--list 1000` to list more cases, `--rounds 40` for steadier costs of the agent.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual, parseArgs } from 'node:util'

import { addedUs, agentBlocks } from '../../bench/agent.ts'
import { median } from '../../bench/median.ts'
import { differencesIn } from './differences.ts'
import type { Observation } from './observation.ts'

/** The sections that compare facts. */
const SECTIONS = ['recordings', 'live', 'scores'] as const

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: [...SECTIONS, 'agent'].join(',') },
    list: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '20' },
  },
})
const [old, current] = positionals
if (old === undefined || current === undefined) {
  throw new TypeError('Expected the folders of two checkouts that are built: the old one and the new one.')
}
const wanted = values.only.split(',')
const unknown = wanted.find((name) => name !== 'agent' && !SECTIONS.some((section) => section === name))
if (unknown !== undefined) {
  throw new RangeError(`Expected --only to name ${SECTIONS.join(', ')} or agent, got ${unknown}.`)
}

const folder = mkdtempSync(join(tmpdir(), 'spanscore-compare-'))
let differences = 0
try {
  for (const section of SECTIONS) if (wanted.includes(section)) differences += await compare(section)
  if (wanted.includes('agent')) await compareAgents()
} finally {
  rmSync(folder, { recursive: true })
}
console.log(differences === 0 ? '\nNothing differs but costs.' : `\n${differences} cases differ.`)
if (differences > 0) process.exitCode = 1

/** @returns how many cases differ */
async function compare(section: (typeof SECTIONS)[number]): Promise<number> {
  const before = await observe(section, old ?? '', 'old')
  const after = await observe(section, current ?? '', 'new')
  const keys = [...new Set([...before.keys(), ...after.keys()])]
  const different = keys.filter((key) => !isDeepStrictEqual(before.get(key)?.facts, after.get(key)?.facts))
  console.log(`\n== ${section}: ${keys.length} cases, ${different.length} differ`)
  const counts = [before, after].map((observations) => sumOf(observations.values()))
  const names = Object.keys({ ...counts[0], ...counts[1] })
  if (names.length > 0) {
    console.table(Object.fromEntries(names.map((name) => [name, { old: counts[0]?.[name], new: counts[1]?.[name] }])))
  }
  printKinds(different.flatMap((key) => differencesIn(before.get(key)?.facts, after.get(key)?.facts)))
  for (const key of different.slice(0, Number(values.list))) {
    console.log(`  ${key}`)
    const found = differencesIn(before.get(key)?.facts, after.get(key)?.facts)
    for (const line of found.slice(0, 6)) console.log(`    ${line}`)
    if (found.length > 6) console.log(`    … and ${found.length - 6} more`)
  }
  if (different.length > Number(values.list))
    console.log(`  … and ${different.length - Number(values.list)} more (--list)`)
  return different.length
}

/** What differs in many cases, once each: the same place in any run, with how often it differs. */
function printKinds(found: readonly string[]): void {
  const kinds = Map.groupBy(found, (line) => line.replaceAll(/\/\d+(?=\/|:)/g, '/*').slice(0, 160))
  const counted = [...kinds].toSorted(([, one], [, other]) => other.length - one.length)
  for (const [kind, { length }] of counted.slice(0, Number(values.list))) console.log(`  ${length} × ${kind}`)
}

/** Observes a build in a process of its own. */
async function observe(section: string, build: string, side: string): Promise<Map<string, Observation>> {
  const file = join(folder, `${section}-${side}.jsonl`)
  const program = join(import.meta.dirname, 'observe.ts')
  const child = spawn(process.execPath, ['--expose-gc', '--no-warnings', program, resolve(build), section, file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    // The options of the shell would be options of both builds.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SPANSCORE|OTEL)_/.test(name))),
  })
  const [code]: unknown[] = await once(child, 'exit')
  if (code !== 0)
    throw new Error(`Expected the observation of ${build} (${section}) to end with 0, got ${String(code)}.`)
  const observations = new Map<string, Observation>()
  for await (const line of createInterface(createReadStream(file))) {
    const observation: Observation = JSON.parse(line)
    observations.set(observation.key, observation)
  }
  return observations
}

function sumOf(observations: Iterable<Observation>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { counts = {} } of observations) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  return sums
}

async function compareAgents(): Promise<void> {
  const [without = [], before = [], after = []] = await agentBlocks([undefined, old, current], Number(values.rounds))
  console.log(
    `\n== agent: a real agent over HTTP, ${without.length} rounds, microseconds of processor time of a run (medians)`,
  )
  console.table({
    'without spanscore': { 'a run': Math.round(median(without)), added: 0 },
    old: { 'a run': Math.round(median(before)), added: Math.round(addedUs(without, before)) },
    new: { 'a run': Math.round(median(after)), added: Math.round(addedUs(without, after)) },
  })
  console.log(`New less old in the same round: ${Math.round(addedUs(before, after))} µs a run.`)
}
