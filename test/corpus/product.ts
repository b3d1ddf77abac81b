import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { reconstructRuns } from '../../src/runs/build-runs.ts'
import * as scorers from '../../src/entries/scorers.ts'

/** What recordings are played on: the sources, or a build, whose entries export the same. */
export interface Product {
  readonly ScoringSpanProcessor: typeof ScoringSpanProcessor
  readonly attachScoring: typeof attachScoring
  readonly reconstructRuns: typeof reconstructRuns
  readonly scorers: typeof scorers
}

/** The sources of this checkout. */
export const sources: Product = { ScoringSpanProcessor, attachScoring, reconstructRuns, scorers }
