import type { MeterProvider, TracerProvider } from '@opentelemetry/api'

import type { EmitOptions } from '../../emit/emitter.ts'
import type { LoggerProviderLike } from '../../emit/signal-providers.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { Evaluation } from '../../model/score.ts'
import type { JudgeCall, Scorer } from '../../scoring/scorer.ts'
import type { SpanProcessorLike } from '../sdk-types.ts'

/** Which agents of a run a scorer is asked about: `root`, the outermost agent of each run; `every-agent`, nested ones too. */
export type Scope = 'root' | 'every-agent'

/** A fixed share of runs, 0 to 1, or a function of the finished run that gives one. */
export type Sample = number | ((run: AgentRun) => number)

/** A scorer, and the runs that it is for. */
export interface ScorerEntry {
  readonly scorer: Scorer
  /** Replaces the scorer's id, `^[a-z][a-z0-9_]*$`: for two of one kind. @default the scorer's */
  readonly id?: string
  /** Names of the agents that are scored, nested ones included. @default all */
  readonly agent?: string | readonly string[]
  /** @default the processor's `scope` */
  readonly scope?: Scope
  /** Whether a finished run is scored. */
  readonly when?: (run: AgentRun) => boolean
  /** Replaces the processor's `sample`. */
  readonly sample?: Sample
  /** Pass mark in the scorer's own units. @default the scorer's */
  readonly passAt?: number
}

/** Options of `ScoringSpanProcessor`, `attachScoring` and the configuration file. */
export interface ScoringOptions {
  /** What scores runs. Ids must differ. */
  readonly scorers: readonly (Scorer | ScorerEntry)[]
  /** @default 'root' */
  readonly scope?: Scope
  /** Share of runs that is scored, 0 to 1. @default 1 */
  readonly sample?: Sample
  /**
   * What the tracer's own sampler keeps, above 0, to 1, where tracestate does not say.
   *
   * @default what the sampler says of itself, where it is one of the SDK's and the trace began in this process; else unknown
   */
  readonly upstreamProbability?: number
  /** What judges may take, per process, over rolling windows. @default 60 calls a minute, 10 US dollars a day */
  readonly budget?: Partial<BudgetLimits>
  /** Judge scores that are worked on at once. @default 8 */
  readonly concurrency?: number
  /** Scores that wait for their turn. @default 1000 */
  readonly queueSize?: number
  /** Milliseconds that all tries of one score may take. @default 20000 */
  readonly timeoutMs?: number
  /** Processors in front of which agent spans are held for their scores. */
  readonly next?: SpanProcessorLike
  /** Milliseconds that an agent span is held at most. @default 5000 */
  readonly holdMs?: number
  /** Agent spans that are held at once. @default 1000 */
  readonly maxHeld?: number
  /** Milliseconds that a run whose recognised spans are still open is waited for. @default 2000 */
  readonly settleMs?: number
  /** Runs that are open at once; the oldest is given up. @default 10000 */
  readonly maxOpenRuns?: number
  /** Spans of one run that are kept. @default 2000 */
  readonly maxSpansPerRun?: number
  /** Bytes of content of open runs; the oldest is given up. @default 67108864 (64 MiB) */
  readonly maxContentBytes?: number
  /** Bytes of content, and 512 for each span of the run, above which code scorers run after `end()`. @default 262144 (256 KiB) */
  readonly maxSyncBytes?: number
  /** Milliseconds that judges may hold up `forceFlush`. @default 10000, 0 on AWS Lambda */
  readonly flushTimeoutMs?: number
  /** Milliseconds that judges may hold up `shutdown`. @default 5000 */
  readonly shutdownTimeoutMs?: number
  /** Takes from a run what no judge may see; what it returns is what judges get. If it throws, no call is made. */
  readonly redact?: (run: AgentRun) => AgentRun
  /** Hands spans to `next` without message and tool content. Needs `next`, or `attachScoring`. @default false */
  readonly stripContent?: boolean
  /** Judges also for spans that are recorded and not sampled. @default false */
  readonly scoreUnsampled?: boolean
  /** A second judge score where spans came after a run was scored. @default false */
  readonly rescore?: boolean
  /** Resource or agent-span attributes that are copied to metrics and events; 50 values each, then `other`. @default [] */
  readonly metricAttributes?: readonly string[]
  /** Which signals are written. @default all of them, late spans where nothing else carries the score */
  readonly emit?: Partial<EmitOptions>
  /** Called with every score, every failure, and every skip that was not chosen by sampling or filters. */
  readonly onScore?: (evaluation: Evaluation, run: AgentRun) => void
  /** Called with prompt, reply and usage of every judge call. */
  readonly onJudgeCall?: (call: JudgeCall) => void
  /** Throw at construction where a judge's key or package is missing. @default false */
  readonly strict?: boolean
  /** @default the global one, looked up at each emission */
  readonly tracerProvider?: TracerProvider
  /** @default the global one, looked up at each emission */
  readonly meterProvider?: MeterProvider
  /** @default the global one of either Logs API, looked up at each emission */
  readonly loggerProvider?: LoggerProviderLike
}
