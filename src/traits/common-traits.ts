import type { WorkSteps } from '../scoring/background.ts'
import { designOf, traitEvidence, rateOf, rest } from './trait-evidence.ts'
import type { Sums } from './trait-evidence.ts'
import { orderOfKey, TRAIT_KEYS } from './trait.ts'
import type { Trait, TraitKey } from './trait.ts'
import type { TraitRun, TraitTable } from './trait-table.ts'

/** What failing runs share that passing runs lack. */
export interface CommonTraits {
  /** The runs that were compared. */
  readonly runs: number
  /** How many of them fail. */
  readonly failing: number
  /** The weighted share of failing runs. */
  readonly rate: number
  /** The runs from before, for comparison. */
  readonly before: { readonly runs: number; readonly rate: number } | undefined
  /** At most four, the one with the most evidence first. Each is found among the runs that those before it do not cover. */
  readonly common: readonly CommonTrait[]
  /** The runs that have none of them. */
  readonly left: { readonly runs: number; readonly rate: number }
  /**
   * Present if nothing was found and there are too few failing runs to say: about how many are needed to find a trait that half of the
   * failing runs have, and one in five of all.
   */
  readonly needed?: number
}

/** Traits of the same runs, which fail more often than others. */
export interface CommonTrait {
  /** At least one: the first is counted, the others are those of the same failing runs; what precedes a failure comes before what is part of it. */
  readonly traits: readonly Trait[]
  /** Among runs with these traits, one more that most of the failing ones have. */
  readonly and?: {
    readonly trait: Trait
    readonly runs: number
    readonly failing: number
    readonly rate: number
    readonly rateWithout: number
  }
  readonly runs: number
  readonly failing: number
  /** The weighted share of failing runs among those with the trait, among the others, and among those with it before. */
  readonly rate: number
  readonly rateWithout: number
  readonly rateBefore?: number
  readonly runsBefore?: number
  /** The weighted share of all failing runs, of those that no earlier line covers, that have the trait. */
  readonly coverage: number
  /** G in nats, less the logarithm of the number of keys times the number of values that were tried of this key. */
  readonly evidence: number
  /** Trace ids of the two latest failing runs. */
  readonly examples: readonly string[]
}

/** A trait is named if its evidence is above this, after the correction: by chance in fewer than 1 in 100 comparisons. */
const ENOUGH_EVIDENCE = 4

/** A trait of fewer runs is not tried. */
const LEAST_RUNS = 5
/** Fewer failing runs share many things by chance. */
export const LEAST_FAILING = 5
const MAX_LINES = 4
/** A rarer value is not tried if its key has more values than these. */
const MAX_VALUES = 50
const OFTEN = 20

/** Runs are the same if the smaller set is this share of the larger one, and of their union. */
const SAME = 0.97
/** From this share on, failing and having a key are the same thing. */
const EQUIVALENT = 0.98
const MAX_SAME = 5

/** What came before the run, or with its question. Such a key, or an attribute, cannot be the failure itself. */
const GIVEN: ReadonlySet<TraitKey> = new Set([
  'prompt',
  'tools offered',
  'model',
  'turn',
  'question script',
  'question word',
])

/** What a run did, and how it ended: such a key may be the failure itself. */
const DEEDS: ReadonlySet<string> = new Set(TRAIT_KEYS.filter((key) => !GIVEN.has(key)))

/** A further trait within a line must raise the failing share by this much. */
const LEAST_RISE = 0.1

/** How many runs are counted in one step. */
const STEP = 2000

/**
 * Finds what the failing runs have in common.
 *
 * Each trait is tested by a weighted 2×2 table of failing and having it (`traitEvidence`), corrected for the number of traits that were tried. The trait
 * with the most evidence is named, its runs are set aside, and the others are compared again.
 *
 * @param runs in the order of their times
 * @param before runs from before the failures began, or of a baseline; may be empty
 */
export function* commonTraits(
  runs: readonly TraitRun[],
  before: readonly TraitRun[],
  table: TraitTable,
): WorkSteps<CommonTraits> {
  const counted = yield* count(runs, table)
  const past = yield* count(before, table)
  const same = yield* keysOfFailure(runs, counted, table)
  const common: CommonTrait[] = []
  let left = runs
  let all = counted
  while (common.length < MAX_LINES && all.all.failing >= LEAST_FAILING) {
    const ranked = rank(all, table)
    const best = ranked.find(({ trait }) => !isPartOfFailure(trait, same)) ?? ranked[0]
    if (best === undefined) break
    const alike = likeIt(best, ranked, { within: yield* count(havingIt(left, best), table), same })
    const [head = best] = alike
    const inside = havingIt(left, head)
    const within = yield* count(inside, table)
    common.push({
      ...toCommonTrait(head, { all, past, examples: latestFailing(inside) }),
      traits: alike.slice(0, MAX_SAME).map(({ trait }) => trait),
      ...oneMore(within, { table, same }),
    })
    left = left.filter(({ traits }) => !traits.includes(head.number))
    all = yield* count(left, table)
  }
  const rate = rateOf(counted.all)
  const needed = common.length > 0 ? undefined : neededFor(counted, table)
  return {
    runs: runs.length,
    failing: counted.all.failing,
    rate,
    before: before.length === 0 ? undefined : { runs: before.length, rate: rateOf(past.all) },
    common,
    left: { runs: left.length, rate: rateOf(all.all) },
    ...(needed !== undefined && { needed }),
  }
}

/** A trait whose share among all runs changed. */
export interface ChangedTrait {
  /** The trait. */
  readonly trait: Trait
  /** The weighted share of runs that had it before. */
  readonly from: number
  /** The weighted share of runs that have it now. */
  readonly to: number
}

/** Changes that are smaller than this are not named. */
const LEAST_CHANGE = 0.02
const MAX_CHANGES = 8

/** The traits whose share among the runs changed, by the same test, the largest change first. Words of questions are not compared. */
export function* changedTraits(
  before: readonly TraitRun[],
  after: readonly TraitRun[],
  table: TraitTable,
): WorkSteps<readonly ChangedTrait[]> {
  // Whether a run came after takes the place of whether it fails.
  const both = [...before.map((run) => ({ ...run, fails: false })), ...after.map((run) => ({ ...run, fails: true }))]
  const counted = yield* count(both, table)
  const weights = { before: counted.all.weight - counted.all.failingWeight, after: counted.all.failingWeight }
  if (before.length === 0 || after.length === 0) return []
  const changes = tried(counted, table)
    .filter(({ evidence, trait }) => evidence > ENOUGH_EVIDENCE && !QUESTION.has(trait.key))
    .map(({ trait, sums }) => ({
      trait,
      from: (sums.weight - sums.failingWeight) / weights.before,
      to: sums.failingWeight / weights.after,
    }))
    .filter(({ from, to }) => Math.abs(to - from) > LEAST_CHANGE)
  // A new version says that the old one is gone.
  const risen = new Set(changes.filter(({ from, to }) => to > from).map(({ trait }) => trait.key))
  return changes
    .filter(({ trait, from, to }) => to > from || !risen.has(trait.key))
    .toSorted((one, other) => Math.abs(other.to - other.from) - Math.abs(one.to - one.from) || other.to - one.to)
    .slice(0, MAX_CHANGES)
}

const QUESTION: ReadonlySet<string> = new Set(['question word', 'question script', 'seconds', 'turn'])

interface Counted {
  readonly all: Sums
  readonly byTrait: ReadonlyMap<number, Sums>
  readonly design: number
}

interface Tried {
  readonly number: number
  readonly trait: Trait
  readonly sums: Sums
  readonly others: Sums
  readonly evidence: number
}

function* count(runs: readonly TraitRun[], { size }: TraitTable): WorkSteps<Counted> {
  const all = noSums()
  const sums: Array<Sums | undefined> = Array.from({ length: size })
  let failingWeightSquared = 0
  let left = STEP
  for (const run of runs) {
    addTo(all, run)
    if (run.fails) failingWeightSquared += run.weight ** 2
    for (const number of run.traits) addTo((sums[number] ??= noSums()), run)
    left -= 1
    if (left > 0) continue
    left = STEP
    yield
  }
  const byTrait = new Map<number, Sums>()
  for (const [number, one] of sums.entries()) if (one !== undefined) byTrait.set(number, one)
  return { all, byTrait, design: designOf(all, failingWeightSquared) }
}

function noSums(): Sums {
  return { runs: 0, failing: 0, weight: 0, weightSquared: 0, failingWeight: 0 }
}

function addTo(sums: Sums, { fails, weight }: TraitRun): void {
  sums.runs += 1
  sums.weight += weight
  sums.weightSquared += weight ** 2
  if (!fails) return
  sums.failing += 1
  sums.failingWeight += weight
}

/** The traits that are common enough to be tried, with their evidence, which is corrected for their number (Bonferroni, weighted). */
function tried({ all, byTrait, design }: Counted, table: TraitTable): Tried[] {
  const values = new Map<string, number>()
  for (const number of byTrait.keys()) {
    const { key } = table.at(number)
    values.set(key, (values.get(key) ?? 0) + 1)
  }
  const candidates: Tried[] = []
  for (const [number, sums] of byTrait) {
    const trait = table.at(number)
    if (sums.runs < LEAST_RUNS || sums.runs === all.runs) continue
    if ((values.get(trait.key) ?? 0) > MAX_VALUES && sums.runs < OFTEN) continue
    const others = rest(all, sums)
    candidates.push({ number, trait, sums, others, evidence: traitEvidence(sums, others, design) })
  }
  // Each key has the same share of the error, and each value of a key the same share of that: many words of questions hide no version.
  const byKey = Map.groupBy(candidates, ({ trait }) => trait.key)
  return [...byKey.values()].flatMap((ofKey) => {
    const correction = Math.log(byKey.size * ofKey.length)
    return ofKey.map((one) => ({ ...one, evidence: one.evidence - correction }))
  })
}

/** The traits with enough evidence whose runs fail more often than others, the most evidence first. */
function rank(counted: Counted, table: TraitTable): readonly Tried[] {
  return tried(counted, table)
    .filter(({ sums, others, evidence }) => evidence > ENOUGH_EVIDENCE && rateOf(sums) > rateOf(others))
    .toSorted((one, other) => other.evidence - one.evidence || orderOfKey(one.trait.key) - orderOfKey(other.trait.key))
}

/**
 * The keys of what runs did that only failing runs have, and all of them, such as `failed tool` where the scorer is `tool_errors`: such a key is the failure, and
 * explains nothing.
 */
function* keysOfFailure(
  runs: readonly TraitRun[],
  { all, byTrait }: Counted,
  table: TraitTable,
): WorkSteps<ReadonlySet<string>> {
  const suspects = new Map<number, string>()
  for (const [number, sums] of byTrait) {
    const { key } = table.at(number)
    if (DEEDS.has(key) && sums.failing >= EQUIVALENT * sums.runs) suspects.set(number, key)
  }
  const having = new Map<string, Sums>()
  for (const [index, run] of runs.entries()) {
    const keys = new Set(run.traits.map((number) => suspects.get(number)))
    for (const key of keys) {
      if (key === undefined) continue
      const sums = having.get(key) ?? noSums()
      having.set(key, sums)
      addTo(sums, run)
    }
    if (index % STEP === STEP - 1) yield
  }
  return new Set(
    [...having]
      .filter(([, sums]) => sums.failing >= EQUIVALENT * sums.runs && sums.failing >= EQUIVALENT * all.failing)
      .map(([key]) => key),
  )
}

function havingIt(runs: readonly TraitRun[], { number }: Tried): readonly TraitRun[] {
  return runs.filter(({ traits }) => traits.includes(number))
}

interface Comparison {
  readonly within: Counted
  readonly same: ReadonlySet<string>
}

/** The traits of the same failing runs, with this one, the best explanation first. */
function likeIt(best: Tried, ranked: readonly Tried[], { within, same }: Comparison): readonly Tried[] {
  return ranked
    .filter(({ number, trait, sums }) => {
      const shared = within.byTrait.get(number) ?? noSums()
      // Passing runs cannot have what is the failure itself.
      const counted = isPartOfFailure(trait, same) ? 'failing' : 'runs'
      return shared[counted] >= SAME * (sums[counted] + best.sums[counted] - shared[counted])
    })
    .toSorted((one, other) => placeOf(one.trait, same) - placeOf(other.trait, same))
}

function toCommonTrait(
  { number, sums, others, evidence }: Tried,
  { all, past, examples }: { readonly all: Counted; readonly past: Counted; readonly examples: readonly string[] },
): Omit<CommonTrait, 'traits' | 'and'> {
  const before = past.byTrait.get(number)
  return {
    runs: sums.runs,
    failing: sums.failing,
    rate: rateOf(sums),
    rateWithout: rateOf(others),
    ...(before !== undefined && { rateBefore: rateOf(before), runsBefore: before.runs }),
    coverage: sums.failingWeight / all.all.failingWeight,
    evidence,
    examples,
  }
}

/** Among runs with a trait, one more that most of the failing ones have. */
function oneMore(
  within: Counted,
  { table, same }: { readonly table: TraitTable; readonly same: ReadonlySet<string> },
): Pick<CommonTrait, 'and'> {
  const more = rank(within, table).find(
    ({ trait, sums, others }) => !isPartOfFailure(trait, same) && rateOf(sums) - rateOf(others) > LEAST_RISE,
  )
  if (more === undefined) return {}
  const { trait, sums, others } = more
  const { runs, failing } = sums
  return { and: { trait, runs, failing, rate: rateOf(sums), rateWithout: rateOf(others) } }
}

function latestFailing(runs: readonly TraitRun[]): readonly string[] {
  return runs
    .filter(({ fails }) => fails)
    .slice(-2)
    .map(({ traceId }) => traceId)
    .toReversed()
}

/** Whether a trait goes along with a failure and does not precede it. */
function isPartOfFailure({ key, isSymptom }: Trait, same: ReadonlySet<string>): boolean {
  return same.has(key) || isSymptom === true
}

function placeOf({ key, isSymptom }: Trait, same: ReadonlySet<string>): number {
  return orderOfKey(key) + (same.has(key) ? 100 : 0) + (isSymptom === true ? 200 : 0)
}

/** About how many failing runs are needed; `undefined` if there are as many. */
function neededFor(counted: Counted, table: TraitTable): number | undefined {
  const { all, design } = counted
  const p = rateOf(all)
  if (!(p > 0 && p < 1)) return undefined
  // Of 100 runs with this share, half of the failing ones and one in five of all have the trait.
  const one = { runs: 1, failing: 1, weight: 20, weightSquared: 20, failingWeight: Math.min(20, 50 * p) }
  const whole = { runs: 2, failing: 1, weight: 100, weightSquared: 100, failingWeight: 100 * p }
  const perRun = (traitEvidence(one, rest(whole, one), design) * effectiveShare(all)) / 100
  const runs = (ENOUGH_EVIDENCE + Math.log(Math.max(1, tried(counted, table).length))) / perRun
  const needed = Math.ceil(runs * (all.failing / all.runs))
  return needed > all.failing ? needed : undefined
}

function effectiveShare({ runs, weight, weightSquared }: Sums): number {
  return weight ** 2 / weightSquared / runs
}
