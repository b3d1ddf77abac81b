import type { DatabaseSync } from 'node:sqlite'

import { changedTraits, commonTraits, LEAST_FAILING, TraitTable } from 'spanscore/engine'
import type { ChangedTrait, CommonTraits, Trait, TraitRun, WorkSteps } from 'spanscore/engine'

import { all, first, namesIn } from './page-database.ts'
import { chosenScores } from './score-sums.ts'
import type { ChosenScores, ScoreFilter } from './score-sums.ts'
import { idsIn } from './traits.ts'
import { shownScores } from './withheld.ts'

/** When an agent was first seen with a version, prompt, set of tools or model that it did not have before. */
export interface Change {
  readonly timeMs: number
  readonly key: string
  readonly value: string
}

/** What the failing runs of a scorer have in common. */
export interface CommonAnswer {
  readonly found: CommonTraits
  /** Fewer than `LEAST_FAILING` failing runs say nothing. */
  readonly isTooFew: boolean
  /** What changed among all runs since before. */
  readonly changed: readonly ChangedTrait[]
  readonly changes: readonly Change[]
  /** When the runs to compare with begin, in milliseconds since the epoch; `undefined` without any. */
  readonly beforeMs: number | undefined
  /** Runs of which this is a sample; `undefined` if all are compared. */
  readonly sampledFrom: number | undefined
  /** Runs whose traits are not kept any more. */
  readonly withoutTraits: number
}

/** More runs are sampled, so that an answer takes less than two seconds. */
const MAX_RUNS = 50_000

/** Runs that one query reads. */
const CHUNK = 1000

/** Runs from before are those of as long a time, and of six hours at least. */
const LEAST_BEFORE_MS = 6 * 3_600_000

/** What an agent is made of. */
const MAKES: ReadonlySet<string> = new Set(['service.version', 'agent version', 'prompt', 'tools offered', 'model'])

/** A version of fewer runs is no change. */
const LEAST_RUNS = 5

/** An agent has no more prompts, sets of tools, models or versions at a time, such as those of an experiment. */
const MAX_AT_A_TIME = 4

/** Compares the runs of a filter, from `fromMs` on, with each other and with those from before. */
export function* commonOf(
  database: DatabaseSync,
  filter: ScoreFilter,
  nowMs: number,
): WorkSteps<CommonAnswer | undefined> {
  const { fromMs } = filter
  const beforeMs =
    fromMs === undefined ? undefined : fromMs - Math.max((filter.toMs ?? nowMs) - fromMs, LEAST_BEFORE_MS)
  const chosen = chosenScores(database, { ...filter, fromMs: beforeMs })
  if (chosen.isOfConversations) return undefined
  const reader = new RunReader(database, chosen, { ...filter, fromMs: beforeMs })
  yield* reader.read()
  const { table } = reader
  const runs = fromMs === undefined ? reader.runs : reader.runs.filter(({ timeMs }) => timeMs >= fromMs)
  const before = fromMs === undefined ? [] : reader.runs.filter(({ timeMs }) => timeMs < fromMs)
  const found = yield* commonTraits(runs, before, table)
  return {
    found: {
      ...found,
      common: found.common.map((line) => ({ ...line, examples: line.examples.map((seq) => runIdOf(database, seq)) })),
    },
    isTooFew: found.failing < LEAST_FAILING,
    changed: yield* changedTraits(before, runs, table),
    changes: changesIn(reader.runs, table),
    beforeMs: before.length === 0 ? undefined : beforeMs,
    sampledFrom: reader.sampledFrom,
    withoutTraits: reader.withoutTraits,
  }
}

interface TimedRun extends TraitRun {
  readonly timeMs: number
}

interface ScoreRow {
  readonly run_seq: number
  readonly label: 'pass' | 'fail'
  readonly weight: number
  readonly time_ms: number
  readonly traits: string | null
}

/** Reads scored runs with their traits, in the order of their times. Their `seq` stands for the id of their trace. */
class RunReader {
  readonly #database: DatabaseSync
  readonly #chosen: ChosenScores
  readonly #filter: ScoreFilter
  /** The numbers of stored traits in the table. */
  readonly #numbers = new Map<number, number>()
  readonly table = new TraitTable()
  readonly runs: TimedRun[] = []
  sampledFrom: number | undefined
  withoutTraits = 0

  constructor(database: DatabaseSync, chosen: ChosenScores, filter: ScoreFilter) {
    this.#database = database
    this.#chosen = chosen
    this.#filter = filter
  }

  *read(): WorkSteps {
    const { source, sql, viewer, values } = this.#chosen
    const where = `${sql} AND label IS NOT NULL`
    const count = first<{ n: number }>(
      this.#database,
      `SELECT count(*) AS n FROM ${source} WHERE ${where}`,
      viewer,
      ...values,
    )
    const total = count?.n ?? 0
    yield
    const symptoms = yield* this.#symptoms()
    if (total > MAX_RUNS) this.sampledFrom = total
    // Multiplied by a prime, neighbours are far apart.
    const share = total > MAX_RUNS ? Math.floor((1_000_003 * MAX_RUNS) / total) : 1_000_003
    for (let after = [Number.NEGATIVE_INFINITY, 0]; ;) {
      const rows = all<ScoreRow>(
        this.#database,
        `SELECT s.run_seq, s.label, s.weight, s.time_ms, t.traits FROM
           (SELECT run_seq, label, weight, time_ms FROM ${source} WHERE ${where}
            AND (time_ms > ? OR (time_ms = ? AND run_seq > ?)) AND (run_seq * 7919) % 1000003 < ?
            ORDER BY time_ms, run_seq LIMIT ${CHUNK}) s
         LEFT JOIN run_traits t ON t.run_seq = s.run_seq`,
        viewer,
        ...values,
        after[0] ?? 0,
        after[0] ?? 0,
        after[1] ?? 0,
        share,
      )
      for (const row of rows) this.#add(row, symptoms.get(row.run_seq) ?? [])
      yield
      const last = rows.at(-1)
      if (rows.length < CHUNK || last === undefined) return
      after = [last.time_ms, last.run_seq]
    }
  }

  /** The numbers of the traits that other scorers fail a run, or find it attacked, by its `seq`. */
  *#symptoms(): WorkSteps<ReadonlyMap<number, readonly number[]>> {
    const symptoms = new Map<number, number[]>()
    const scorers = namesIn(this.#database, 'scores', 'scorer')
    const verdicts = scorers.flatMap((scorer) => [
      { scorer, value: 'fail', sql: "label = 'fail' AND weight IS NOT NULL", isSymptom: true },
      { scorer, value: 'attacked', sql: 'found > 0', isSymptom: scorer === this.#filter.scorer },
    ])
    for (const { scorer, value, sql, isSymptom } of verdicts) {
      if (scorer === this.#filter.scorer && value === 'fail') continue
      const trait: Trait = { key: scorer, value, ...(isSymptom && { isSymptom }) }
      const rows = all<{ run_seq: number }>(
        this.#database,
        `SELECT run_seq FROM ${shownScores()} WHERE scorer = ? AND ${sql} AND time_ms >= ? AND time_ms < ?`,
        this.#chosen.viewer,
        scorer,
        this.#filter.fromMs ?? Number.MIN_SAFE_INTEGER,
        this.#filter.toMs ?? Number.MAX_SAFE_INTEGER,
      )
      const numbers = this.table.add([trait])
      for (const { run_seq: seq } of rows) {
        const known = symptoms.get(seq)
        if (known === undefined) symptoms.set(seq, [...numbers])
        else known.push(...numbers)
      }
      yield
    }
    return symptoms
  }

  #add({ run_seq: seq, label, weight, time_ms: timeMs, traits }: ScoreRow, symptoms: readonly number[]): void {
    if (traits === null) {
      this.withoutTraits += 1
      return
    }
    const numbers = idsIn(traits).flatMap((id) => this.#numberOf(id) ?? [])
    this.runs.push({
      traceId: String(seq),
      fails: label === 'fail',
      weight,
      timeMs,
      traits: symptoms.length === 0 ? numbers : [...numbers, ...symptoms],
    })
  }

  #numberOf(id: number): number | undefined {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    const trait = first<Pick<Trait, 'key' | 'value'>>(this.#database, 'SELECT key, value FROM traits WHERE id = ?', id)
    const [number] = trait === undefined ? [] : this.table.add([trait])
    if (number !== undefined) this.#numbers.set(id, number)
    return number
  }
}

function runIdOf(database: DatabaseSync, seq: string): string {
  return first<{ id: string }>(database, 'SELECT id FROM runs WHERE seq = ?', Number(seq))?.id ?? ''
}

interface Seen {
  readonly number: number
  readonly timeMs: number
  lastMs: number
  runs: number
}

/** When each version, prompt, set of tools and model was first seen, without those of the first run and those that differ from run to run. */
function changesIn(runs: readonly TimedRun[], table: TraitTable): readonly Change[] {
  const seen = new Map<number, Seen>()
  // Runs have dozens of traits, of which a few say what the agent is made of.
  const isMake = Array.from({ length: table.size }, (_, number) => MAKES.has(table.at(number).key))
  for (const { traits, timeMs } of runs) {
    for (const number of traits) {
      if (isMake[number] !== true) continue
      const known = seen.get(number)
      if (known === undefined) seen.set(number, { number, timeMs, lastMs: timeMs, runs: 1 })
      else {
        known.runs += 1
        known.lastMs = timeMs
      }
    }
  }
  const byKey = Map.groupBy(seen.values(), ({ number }) => table.at(number).key)
  return [...byKey.values()]
    .filter((values) => !differFromRunToRun(values))
    .flatMap(([, ...others]) => others) // The first value of a key has replaced none.
    .filter(({ runs: count }) => count >= LEAST_RUNS)
    .toSorted((one, other) => one.timeMs - other.timeMs)
    .map(({ number, timeMs }) => ({ timeMs, ...table.at(number) }))
}

/** Such as a prompt with the documents that were found: most values have few runs, or more are in use at a time than versions of an agent would be. */
function differFromRunToRun(values: readonly Seen[]): boolean {
  const runs = values.reduce((sum, value) => sum + value.runs, 0)
  if (values.length > MAX_AT_A_TIME && runs < LEAST_RUNS * values.length) return true
  return values.some(
    ({ timeMs }) => values.filter((value) => value.timeMs <= timeMs && timeMs < value.lastMs).length > MAX_AT_A_TIME,
  )
}
