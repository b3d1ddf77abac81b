export { attachNothing as attachScoring, UnscoredSpanProcessor as ScoringSpanProcessor } from '../processor/unscored.ts'
export { defineConfig } from '../processor/define-config.ts'
export { weightedMean } from '../sampling/weighted-mean.ts'
