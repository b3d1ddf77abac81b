import type { ScoresOverTime } from '../api.ts'
import { percent } from '../format.ts'

type Counts = NonNullable<ScoresOverTime['opinions']>

/** How many of those who say something dislike it. */
export function dislikesOf({ given, disliked }: Counts): string {
  return given === 0 ? 'none' : `👎 ${disliked} of ${given} (${percent(disliked / given)})`
}

/** What it says of other users. */
export const NO_SAMPLE = 'People who click are no sample of all users.'
