import { CASES, estimate } from '../../test/processor/estimate-cases.ts'
import type { Build } from './build.ts'
import type { Observation } from './observation.ts'

/** The means that the exported sums give, beside the true ones. A case differs if its bias, its coverage or what is accounted for does. */
export async function* numbers(build: Build): AsyncGenerator<Observation> {
  for (const key of Object.keys(CASES)) {
    const { bias, accounted, withInterval, covered } = await estimate(build, key)
    yield {
      key,
      facts: {
        'bias within two hundredths, or what is not accounted for': Math.abs(bias) <= Math.max(0.02, 1 - accounted),
        'interval holds the truth in 93 % of the periods': covered >= 0.93,
        'periods with an interval': withInterval > 0.5,
      },
      costs: { bias, accounted, covered },
    }
  }
}
