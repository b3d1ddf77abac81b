/**
 * Every combination of faults of a scorer, of the processor behind and of the options; then mutated recordings of real libraries on
 * the real SDK, with faults in every callback and provider, flushes and shutdowns at any
 * time: `npm run test:fuzz`, `-- --seconds 600`, `-- --spans 2000000`, `-- --seed 7`. Nothing may be thrown into the application, no span
 * lost or doubled, every score accounted for, nothing pending after a shutdown, no turn of the event loop long, the heap flat.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { diag } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { ScoringSpanProcessor } from 'spanscore'

import type { SourceSpan } from '../../src/spans/source-span.ts'
import { libraryNames, loadLibrary, readScenario } from '../corpus/load.ts'
import { Behind } from './behind.ts'
import { tryCombinations } from './combinations.ts'
import { faultyOptions } from './faults.ts'
import { LongTurns } from './long-turns.ts'
import { playMutated } from './play.ts'
import { createRandom } from './random.ts'
import type { Random } from './random.ts'
import { RepeatedIds } from './repeated-ids.ts'
import { TurnProfiler } from './turn-profiler.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '45' },
    spans: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const [seconds, maxSpans, firstSeed] = [Number(values.seconds), Number(values.spans), Number(values.seed)]
if (!(seconds > 0) || !(maxSpans > 0) || !Number.isInteger(firstSeed)) {
  throw new RangeError('expected --seconds and --spans above 0, and --seed to be a whole number')
}

/** Recordings that are played on one pipeline. */
const ROUNDS = 100
/** Processor time of one hook, or of one turn of the event loop, without collections of garbage. */
const LONGEST_TURN_MS = 50
/** After this number of pipelines, the heap is measured and the profile is read. Starting a profile takes as long as several pipelines. */
const PIPELINES_AT_A_TIME = 20
const MOST_HEAP_GROWTH_MIB = 48
/** A pipeline in which a turn was long is played again at most this number of times. */
const REPLAYS = 3
/** Hooks and turns for each that may be long once and not in the replays. */
const TURNS_FOR_ONE_LONG = 100_000

const recordings: readonly (readonly SourceSpan[])[] = libraryNames()
  .flatMap((library) => loadLibrary(library).map((scenario) => readScenario(scenario).spans))
  .filter((spans) => spans.length > 0 && spans.length < 60)

const violations: string[] = []
const unhandled = (reason: unknown): void => {
  violations.push(`unhandled: ${reason instanceof Error ? reason.stack : typeof reason}`)
}
process.on('unhandledRejection', unhandled)
process.on('uncaughtException', unhandled)
diag.setLogger({ error() {}, warn() {}, info() {}, debug() {}, verbose() {} })

let turns = new LongTurns(LONGEST_TURN_MS)
const profiler = new TurnProfiler()
let seed = firstSeed

function timed(what: string, hook: () => void): void {
  const end = turns.begin(what, seed)
  try {
    hook()
  } catch (error) {
    violations.push(`thrown into the application: ${error instanceof Error ? error.stack : typeof error}`)
  }
  end()
}

/** Turns in which only spanscore works. */
async function idle(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    const end = turns.begin('a turn', seed)
    await nextTurn()
    end()
  }
}

/** Shutdowns and flushes that follow one another without a pause. */
function endings(scoring: ScoringSpanProcessor, random: Random): Promise<void>[] {
  const all = [
    () => scoring.shutdown(),
    () => scoring.stopScoring(),
    () => scoring.forceFlush(),
    () => scoring.logRecordProcessor.shutdown(),
  ]
  return Array.from({ length: random.integer(4) }, () => random.pick(all)())
}

/** One pipeline from its construction to its shutdown. Returns how many spans ended. */
async function playPipeline(): Promise<number> {
  const random = createRandom(seed)
  const behind = new Behind(random)
  const options = faultyOptions(random)
  const scoring = new ScoringSpanProcessor({ ...options, next: behind })
  const ids = random.chance(0.3) ? new RepeatedIds(random) : undefined
  const provider = new TracerProvider({ spanProcessors: [scoring], ...(ids && { idGenerator: ids }) })
  const say = (what: string): void => void violations.push(`seed ${seed}: ${what}`)
  let ended = 0
  const flushes: Promise<void>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    ended += playMutated(random.pick(recordings), { provider, scoring, random, ids, timed })
    if (random.chance(0.1)) await idle(2)
    if (random.chance(0.01)) flushes.push(scoring.forceFlush())
    if (random.chance(0.002)) flushes.push(...endings(scoring, random))
  }
  await idle(5)
  if (random.chance(0.5)) flushes.push(scoring.forceFlush())
  flushes.push(scoring.shutdown(), ...endings(scoring, random))
  await Promise.all(flushes).catch(() => say('a flush or a shutdown rejected'))
  await idle(2)
  const { runs, scorers } = scoring.ledger()
  if (runs.seen !== runs.closed + runs.open + runs.evicted) say(`runs ${JSON.stringify(runs)}`)
  for (const [id, row] of Object.entries(scorers)) {
    const reasons = Object.values(row.reasons).reduce((sum, count) => sum + count, 0)
    const isExact = row.offered === row.scored + row.skipped + row.failed && reasons === row.skipped + row.failed
    if (!isExact || row.pending !== 0) say(`${id} ${JSON.stringify(row)}`)
  }
  // Of a span with values that throw, content cannot be removed: it is not handed on where that was asked for.
  const isWhole = options.stripContent === true ? behind.ended <= ended : behind.ended === ended
  if (!isWhole) say(`${behind.ended} spans came to next, ${ended} ended`)
  // If ids repeat, only the number of spans shows whether one came twice.
  if (ids === undefined && [...behind.seen.values()].some((count) => count > 1)) say('a span came twice')
  return ended
}

/**
 * Whether a turn is long when a pipeline is played again. Slow code is slow each time. A virtual machine that does not run for a while
 * is not: its threads count that while as processor time.
 */
async function isLongAgain(ofSeed: number): Promise<boolean> {
  seed = ofSeed
  for (let replay = 0; replay < REPLAYS; replay += 1) {
    turns = new LongTurns(LONGEST_TURN_MS)
    await playPipeline()
    // Collections are reported in a later turn.
    await nextTurn()
    await nextTurn()
    if (turns.report().own.length > 0) return true
  }
  return false
}

const combinations = await tryCombinations()
violations.push(...combinations.wrong)
console.log(`fuzz: ${combinations.count} combinations of faults`)

const beganMs = performance.now()
const heap: number[] = []
let [spans, pipelines] = [0, 0]
console.log(`fuzz: seeds from ${firstSeed}`)
profiler.start()
while (performance.now() - beganMs < seconds * 1000 && spans < maxSpans && violations.length < 20) {
  seed = firstSeed + pipelines
  spans += await playPipeline()
  pipelines += 1
  if (pipelines % PIPELINES_AT_A_TIME !== 0) continue
  turns.explain(profiler.stop())
  globalThis.gc?.()
  heap.push(process.memoryUsage().heapUsed / 2 ** 20)
  profiler.start()
}
turns.explain(profiler.stop())
const growth = heap.length < 8 ? 0 : Math.min(...heap.slice(-3)) - Math.min(...heap.slice(2, 5))
if (growth > MOST_HEAP_GROWTH_MIB) violations.push(`the heap grew by ${growth.toFixed(0)} MiB`)
const { own, withGarbage } = turns.report()
if (Reflect.get({}, 'polluted') !== undefined) violations.push('Object.prototype was written to')
const hooksAndTurns = turns.count
const once: string[] = []
for (const { seed: ofSeed = firstSeed, text } of own) {
  const place = (await isLongAgain(ofSeed)) ? violations : once
  place.push(`a hook or a turn above ${LONGEST_TURN_MS} ms of processor time: ${text}`)
}
if (once.length > Math.max(1, hooksAndTurns / TURNS_FOR_ONE_LONG)) {
  violations.push(`${once.length} of ${hooksAndTurns} hooks and turns took long, too many for pauses of the machine`)
}
console.log(
  `fuzz: ${spans} spans in ${pipelines} pipelines and ${((performance.now() - beganMs) / 1000).toFixed(0)} s; ` +
    `${hooksAndTurns} hooks and turns, ${own.length} above ${LONGEST_TURN_MS} ms of processor time, ` +
    `${once.length} of them only once, ` +
    `${withGarbage} more with collections of garbage; ` +
    `heap ${heap.at(0)?.toFixed(0) ?? '?'} to ${heap.at(-1)?.toFixed(0) ?? '?'} MiB`,
)
for (const turn of once) console.log(`only once, not in ${REPLAYS} replays: ${turn}`)
for (const violation of new Set(violations)) console.error(`✗ ${violation}`)
console.log(violations.length === 0 ? 'All of it holds.' : `${violations.length} violations.`)
process.exit(violations.length === 0 ? 0 : 1)
