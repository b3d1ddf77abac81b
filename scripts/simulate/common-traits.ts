/**
 * How often `commonTraits` names the cause of a simulated day first, and how often it names something on a day without a cause:
 * `node scripts/simulate/common-traits.ts`. `-- 10` takes a tenth of the days.
 */
import { withoutPause } from '../../src/scoring/background.ts'
import { commonTraits } from '../../src/traits/common-traits.ts'
import type { CommonTraits } from '../../src/traits/common-traits.ts'
import { TraitTable } from '../../src/traits/trait-table.ts'
import type { TraitRun } from '../../src/traits/trait-table.ts'
import { traitText } from '../../src/traits/trait.ts'
import { traitsOf } from '../../src/traits/traits-of.ts'
import { CAUSES, SAMPLES, simulateDay } from './agent-day.ts'
import type { Day } from './agent-day.ts'
import { createRandom } from './random.ts'

/** The result for a day. */
export function commonOfDay(day: Day, random: () => number): CommonTraits {
  const table = new TraitTable()
  const runs: TraitRun[] = []
  for (const { run, fails, weight, turn } of simulateDay(day, random)) {
    runs.push({ traceId: run.traceId, fails, weight, traits: table.add(traitsOf(run, { turn })) })
  }
  const start = Math.ceil(day.runs / 3)
  return withoutPause(commonTraits(runs.slice(start), runs.slice(0, start), table))
}

/** Whether the first line names one of these traits first. */
export function namesFirst({ common }: CommonTraits, wanted: readonly string[]): boolean {
  const first = common[0]?.traits[0]
  return first !== undefined && wanted.includes(traitText(first))
}

if (import.meta.main) main(Number(process.argv[2] ?? 1))

function main(fewer: number): void {
  let isMissed = false
  for (const runs of [2000, 500, 200]) {
    for (const [way, sample] of SAMPLES.entries()) {
      const missed = CAUSES.flatMap((causes, index) => {
        const found = commonOfDay(
          { runs: runs * 1.5, rate: 0.04, causes, ...(sample && { sample }) },
          createRandom(index * 31 + way),
        )
        const wanted = causes.flatMap(({ traits }) => traits)
        return namesFirst(found, wanted)
          ? []
          : [
              `${causes[0]?.name} (${found.common[0]?.traits.map(traitText).join('; ') ?? `nothing of ${found.failing}`})`,
            ]
      })
      console.log(
        `${runs} runs, ${['all', 'by plan', 'by language'][way]}: ${CAUSES.length - missed.length} of ${CAUSES.length}${missed.length > 0 ? `; missed: ${missed.join(', ')}` : ''}`,
      )
    }
  }
  for (const [runs, days] of [
    [5, 1000],
    [200, 1000],
    [2000, 1000],
    [50_000, 100],
  ] as const) {
    let named = 0
    const count = Math.ceil(days / fewer)
    for (let day = 0; day < count; day += 1) {
      const sample = SAMPLES[day % SAMPLES.length]
      const rate = [0.04, 0.1, 0.2, 0.35, 0.5][day % 5] ?? 0.04
      const found = commonOfDay(
        { runs: runs * 1.5, rate, causes: [], ...(sample && { sample }) },
        createRandom(day + 7_000_000),
      )
      if (found.common.length > 0) {
        named += 1
        console.log(
          `  named: ${found.common[0]?.traits.map(traitText).join('; ')}, evidence ${found.common[0]?.evidence.toFixed(1)}, rate ${rate}, way ${day % SAMPLES.length}`,
        )
      }
    }
    console.log(`${runs} runs without a cause: ${named} of ${count} days name one`)
    if (named > count / 100) isMissed = true
  }
  process.exitCode = isMissed ? 1 : 0
}
