import type { MeterProvider, TracerProvider } from '@opentelemetry/api'

import type { EmitOptions } from '../../emit/emitter.ts'
import type { LoggerProviderLike } from '../../emit/signal-providers.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { UpstreamSource } from '../../sampling/upstream.ts'
import type { Evaluation } from '../../model/score.ts'
import type { JudgeCall, Scorer } from '../../scoring/scorer.ts'
import type { SpanProcessorLike } from '../sdk-types.ts'

/** Which agents of a run a scorer is asked about: `root`, the outermost agent of each run; `every-agent`, nested ones too. */
export type Scope = 'root' | 'every-agent'

/** A fixed share of runs, 0 to 1, or a function of the finished run that gives one. */
export type Sample = number | ((run: AgentRun) => number)

/** A scorer, and the runs that it is for. */
export interface ScorerEntry {
  /** The scorer. */
  readonly scorer: Scorer
  /**
   * Replaces the scorer's id, `^[a-z][a-z0-9_]*$`, so that two scorers of one kind can be used together.
   *
   * @default the scorer's
   */
  readonly id?: string
  /** Names of the agents that are scored, nested agents included. @default all agents */
  readonly agent?: string | readonly string[]
  /** Replaces the processor's `scope`. @default the processor's */
  readonly scope?: Scope
  /** Decides whether a finished run is scored. @default all runs */
  readonly when?: (run: AgentRun) => boolean
  /** Replaces the processor's `sample`. @default the processor's */
  readonly sample?: Sample
  /** The pass mark in the scorer's own units. @default the scorer's */
  readonly passAt?: number
}

/** Options of `ScoringSpanProcessor`, `attachScoring` and the configuration file. */
export interface ScoringOptions {
  /** The scorers, or scorers with the runs that they are for. Their ids must differ. */
  readonly scorers: readonly (Scorer | ScorerEntry)[]
  /** Which agents are scored: the outermost agent of each run, or nested agents too. @default 'root' */
  readonly scope?: Scope
  /** The share of runs that is scored, 0 or from 0.001 to 1, or a function of the finished run that gives it. @default 1 */
  readonly sample?: Sample
  /** A secret that keeps callers from choosing, by the trace id, whether they are scored. Processes with the same salt decide alike. @default none */
  readonly sampleSalt?: string
  /**
   * The share of traces that the tracer's own sampler keeps, or `'tracestate'` to trust what each trace says of it.
   *
   * @default none: means speak of the runs that this process saw
   */
  readonly upstreamProbability?: UpstreamSource
  /**
   * What judges may take, per process, over rolling windows. `Infinity` lifts a limit.
   *
   * @default 60 calls a minute, 10 US dollars a day
   */
  readonly budget?: Partial<BudgetLimits>
  /** How many judge scores are worked on at the same time. @default 8 */
  readonly concurrency?: number
  /** How many scores may wait for their turn. @default 1000 */
  readonly queueSize?: number
  /** Milliseconds that all tries of one score may take together. @default 20000 */
  readonly timeoutMs?: number
  /**
   * The span processor that spans are handed on to. Agent spans are held in front of it until their scores are in.
   *
   * @default none
   */
  readonly next?: SpanProcessorLike
  /** Milliseconds that an agent span is held at most. @default 5000 */
  readonly holdMs?: number
  /** How many agent spans are held at the same time. @default 1000 */
  readonly maxHeld?: number
  /** Milliseconds that a run waits for its recognised spans that are still open. @default 2000 */
  readonly settleMs?: number
  /** How many runs may be open at the same time. Above it, the oldest is given up. @default 10000 */
  readonly maxOpenRuns?: number
  /** How many spans of one run are kept. @default 2000 */
  readonly maxSpansPerRun?: number
  /**
   * Bytes that the spans and log records of all open runs may hold, estimated. Above it, the oldest is given up.
   *
   * @default 67108864 (64 MiB)
   */
  readonly maxContentBytes?: number
  /** Milliseconds after which a run that is still open is given up. @default 86400000 (a day) */
  readonly maxRunAgeMs?: number
  /**
   * Bytes of content of one run, counting 512 for each span, above which code scorers run after `end()`.
   *
   * @default 262144 (256 KiB)
   */
  readonly maxSyncBytes?: number
  /** Milliseconds that judges may delay `forceFlush`. @default 10000; 0 on AWS Lambda */
  readonly flushTimeoutMs?: number
  /** Milliseconds that judges may delay `shutdown`. @default 5000 */
  readonly shutdownTimeoutMs?: number
  /**
   * Removes from a run what no judge may see: judges get the run that it returns. If it throws, no call is made.
   *
   * @default none
   */
  readonly redact?: (run: AgentRun) => AgentRun
  /** Hands spans on without message and tool content. Needs `next` or `attachScoring`. @default false */
  readonly stripContent?: boolean
  /** Asks judges also about spans that are recorded but not sampled. @default false */
  readonly scoreUnsampled?: boolean
  /** Asks judges a second time where spans arrived after a run was scored. @default false */
  readonly rescore?: boolean
  /**
   * Resource or agent-span attributes that are copied to metrics and events: 50 values each, then `other`.
   *
   * @default none
   */
  readonly metricAttributes?: readonly string[]
  /** Which signals are written. @default all signals; late spans where the score is not on the agent's span */
  readonly emit?: Partial<EmitOptions>
  /** Called with every score, every failure, and every skip that sampling or filters did not choose. @default none */
  readonly onScore?: (evaluation: Evaluation, run: AgentRun) => void
  /** Called with the prompt, reply and usage of every judge call. @default none */
  readonly onJudgeCall?: (call: JudgeCall) => void
  /** Throws at construction where a judge's key or package is missing. @default false */
  readonly strict?: boolean
  /**
   * The tracer provider that is attached to, and that late spans are written with.
   *
   * @default the global one, looked up at each emission
   */
  readonly tracerProvider?: TracerProvider
  /** The meter provider that metrics are written with. @default the global one, looked up at each emission */
  readonly meterProvider?: MeterProvider
  /**
   * The logger provider that events are written with.
   *
   * @default the global one of either Logs API, looked up at each emission
   */
  readonly loggerProvider?: LoggerProviderLike
}
