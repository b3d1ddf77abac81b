/**
 * What a service needs that scores runs from spans which arrive over the network: the decoders, the recognition of spans, and the
 * reconstruction of runs. `@spanscore/server` is built on it, pinned to the same version.
 *
 * @experimental
 */
export type { AgentRun } from '../model/agent-run.ts'
export type { OtlpBatch } from '../otlp/batch.ts'
export { readOtlpJson } from '../otlp/json.ts'
export type { StoredRun } from '../otlp/runs-by-start.ts'
export type { StoredScore } from '../otlp/stored-scores.ts'
export { createProtobufDecoder } from '../otlp/protobuf.ts'
export type {
  DecodedAgain,
  KnownSpan,
  ProtobufBatch,
  ProtobufDecoder,
  ProtobufDecoderOptions,
} from '../otlp/protobuf.ts'
export { buildRuns, buildRunsOfPlaces } from '../runs/build-runs.ts'
export type { BuildRunsOptions } from '../runs/build-runs.ts'
export type { RecordedSpan } from '../runs/buffer/recorded-tree.ts'
export { TracePlace } from '../runs/buffer/trace-place.ts'
export { TraceTree } from '../runs/buffer/trace-tree.ts'
export { BoundedMap } from '../spans/bounded-map.ts'
export type { Dialect, SpanRole } from '../spans/dialect.ts'
export { recognise, roleOf } from '../spans/recognise.ts'
export type { SourceLog, SourceSpan } from '../spans/source-span.ts'
export { carriesScore } from '../emit/score-attributes.ts'
export { CopiedAttributes } from '../emit/copied-attributes.ts'
export { Emitter } from '../emit/emitter.ts'
export type { Emission, ScoreSink, PreparedScore } from '../emit/emitter.ts'
export { SCOPE_NAME, SCOPE_VERSION } from '../emit/signal-providers.ts'
export { scoreIds, toSpanSet } from '../emit/score-ids.ts'
export type { ScoreIds, SpanSet } from '../emit/score-ids.ts'
export { ScoreMetrics } from '../emit/score-metrics.ts'
export { resolveOptions } from '../engine/config/options.ts'
export type { ResolvedOptions } from '../engine/config/options.ts'
export { refuseConversations } from '../engine/config/refuse-conversations.ts'
export { Engine } from '../engine/engine.ts'
export type { EngineParts } from '../engine/engine.ts'
export type { ScorePlace } from '../engine/place.ts'
export { redactInSteps } from '../engine/redact.ts'
export { Reporter } from '../engine/reporter.ts'
export { toScorable } from '../engine/scorable-run.ts'
export type { ScorableRun } from '../engine/scorable-run.ts'
export { Background, withoutPause } from '../scoring/background.ts'
export type { WorkSteps } from '../scoring/background.ts'
export type { ScoringOptions } from '../engine/config/scoring-options.ts'
export type { Evaluation, Skipped } from '../model/score.ts'
export { labelLineSchema, labelSchema } from '../calibration/labels.ts'
export type { Label, LabelLine } from '../calibration/labels.ts'
export { addWeighted, weightedMean } from '../sampling/weighted-mean.ts'
export type { WeightedMean, WeightedSums } from '../sampling/weighted-mean.ts'
export { weightOf } from '../sampling/weight.ts'
export { createPrebuilt, prebuiltScorers } from '../scorers/all.ts'
export type { PrebuiltScorer } from '../scorers/all.ts'
export { closestName } from '../scoring/closest-name.ts'
export { positionInRange } from '../emit/position-in-range.ts'
export { costUsd, priceByName } from '../judge/transport/cost.ts'
export type { Price } from '../judge/transport/price.ts'
export { scoresAsOtlp, toAnyValue, toNanoseconds, toOtlpAttributes } from '../emit/otlp-json.ts'
export type { OtlpScoreOptions, ScoredRunPlace } from '../emit/otlp-json.ts'
