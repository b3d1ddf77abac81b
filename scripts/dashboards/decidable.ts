/** What the current traffic can decide, as columns of a table. */
import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard'

import { AGENT_AND_SCORER } from '../rules/recording.ts'

/** The column of the smallest fall that can be found. */
export const SMALLEST_FALL = 'Smallest fall'

/** The smallest fall below the target that three days of this traffic would show; 1 if they would show none. */
export const smallestFall = (of: string): string =>
  `max by (${AGENT_AND_SCORER}) (spanscore:smallest_fall{${of}} or 0 * spanscore:target_mean{${of}} + 1)`

/** How many runs a fall needs; no value if the target leaves no room for it. */
export const runsNeeded = (of: string, fall: number): string =>
  `max by (${AGENT_AND_SCORER}) (spanscore:runs_needed{fall="${fall}", ${of}})`

/** States that no fall can be found. */
export const NOT_DECIDABLE: DynamicConfigValue[] = [
  { id: 'decimals', value: 2 },
  { id: 'mappings', value: [{ type: 'value', options: { 1: { text: 'not decidable at this rate' } } }] },
]
