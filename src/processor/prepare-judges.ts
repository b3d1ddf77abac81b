import { detached } from '../scoring/isolation.ts'
import { inNextTurn } from '../scoring/host-timers.ts'
import { callForeign } from '../scoring/run-foreign.ts'
import type { ResolvedScorer } from './config/options.ts'

/**
 * Loads what the judges' calls need soon after the processor was created. Some packages take tens of milliseconds in one turn of the event
 * loop, which an application can spare while it starts, and not while it serves requests.
 */
export function prepareJudges(scorers: readonly ResolvedScorer[]): void {
  const judges = scorers.flatMap(({ scorer }) => scorer.judge ?? [])
  if (judges.length === 0) return
  detached(() =>
    inNextTurn(() => {
      // An error is reported when the judge is asked for a score.
      for (const judge of judges) callForeign(() => judge.prepare?.(), ignore)
    }),
  )
}

function ignore(): void {}
