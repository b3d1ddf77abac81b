import type { MeterProvider, TracerProvider } from '@opentelemetry/api'

import type { EmitOptions } from '../../emit/emitter.ts'
import type { LoggerProviderLike } from '../../emit/signal-providers.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { BudgetLimits } from '../../sampling/budget.ts'
import type { UpstreamSource } from '../../sampling/upstream.ts'
import type { Evaluation } from '../../model/score.ts'
import type { JudgeCall, Scorer } from '../../scoring/scorer.ts'
import type { SpanProcessorLike } from '../../spans/sdk-types.ts'

/** Which agents of a run a scorer scores: `root`, only the outermost agent; `every-agent`, nested ones too. */
export type Scope = 'root' | 'every-agent'

/** A fixed share of runs, 0 to 1, or a function of the finished run that gives one. */
export type Sample = number | ((run: AgentRun) => number)

/** A scorer and the runs that it scores. */
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
  /** How Prometheus alerts on the scores. @default a ticket for a drop, and no target */
  readonly alerts?: ScorerAlerts
}

/** What Prometheus alerts on of a whole service. The settings are metrics, which the rules of `collector-config` read. */
export interface ServiceAlerts {
  /**
   * The longest time without an agent run, such as `'2h'`: then somebody is told, also if the process is gone.
   *
   * @default none: no such alert
   */
  readonly quiet?: string
}

/** How Prometheus alerts on the scores of a scorer. The settings are metrics, which the rules of `collector-config` read. */
export interface ScorerAlerts {
  /**
   * The level that is good enough: a share of runs from 0 to 1, or a mean in the scorer's own units.
   *
   * @default none: no target alert
   */
  readonly target?: number
  /** What `target` and `usual` are levels of: the share of runs that passed, or the mean score. @default 'passed' */
  readonly on?: 'passed' | 'mean'
  /** What happens if scores are below the target. @default 'ticket' */
  readonly severity?: AlertSeverity
  /** What happens if scores drop below what is usual. @default 'ticket' */
  readonly drop?: AlertSeverity
  /** What happens if a single run fails, for scorers of which no failure is acceptable. @default 'off' */
  readonly any?: AlertSeverity
  /** The usual level, such as that of a season's worst hour, in the units of `target`. @default learnt from the last 14 days */
  readonly usual?: number
  /** The largest number of runs that share a cause, such as the turns of a conversation. @default 1 */
  readonly runsTogether?: number
}

/** What an alert does: `page` calls somebody now, `ticket` asks somebody to look this week, `off` never fires. */
export type AlertSeverity = 'page' | 'ticket' | 'off'

/** Options of `ScoringSpanProcessor`, `attachScoring` and the configuration file. */
export interface ScoringOptions {
  /** The scorers, or scorers with the runs that they are for. Their ids must differ. */
  readonly scorers: readonly (Scorer | ScorerEntry)[]
  /** Which agents are scored: the outermost agent of each run, or nested agents too. @default 'root' */
  readonly scope?: Scope
  /** The share of runs to score: 0, or from 0.001 to 1, or a function of the finished run that returns it. @default 1 */
  readonly sample?: Sample
  /** A secret that prevents callers from choosing, by their trace ids, whether they are scored. Processes with the same salt choose the same traces. @default none */
  readonly sampleSalt?: string
  /**
   * The share of traces that the tracer's own sampler keeps, or `'tracestate'` to read it from each trace.
   *
   * @default none: means describe the runs that this process saw
   */
  readonly upstreamProbability?: UpstreamSource
  /**
   * The limits of judges, per process, over rolling windows. `Infinity` removes a limit.
   *
   * @default 60 calls a minute, 10 US dollars a day
   */
  readonly budget?: Partial<BudgetLimits>
  /** Maximum number of judge scores in progress at the same time. @default 8 */
  readonly concurrency?: number
  /** Maximum number of scores in the queue. @default 1000 */
  readonly queueSize?: number
  /** Maximum milliseconds for one score, including retries. @default 20000 */
  readonly timeoutMs?: number
  /**
   * The next span processor. Agent spans are held until their scores are in, then handed on to it.
   *
   * @default none
   */
  readonly next?: SpanProcessorLike
  /** Maximum milliseconds that an agent span is held; 0 holds none. @default 5000 */
  readonly holdMs?: number
  /** Milliseconds that a run waits for its recognised spans that are still open. @default 2000 */
  readonly settleMs?: number
  /**
   * Maximum number of spans that are kept of one run. A run is put together in one turn of the event loop, which takes up to about 10 ms for
   * each 1,000 spans.
   *
   * @default 2000
   */
  readonly maxSpansPerRun?: number
  /**
   * Maximum bytes, estimated, that open runs take, and runs that wait for scores as much again. A span counts for 2 KiB and its texts. Above it, the open run is evicted in which nothing has happened for longest.
   *
   * @default 67108864 (64 MiB)
   */
  readonly memoryBytes?: number
  /** Milliseconds without the start or the end of a span in its trace after which an open run is evicted. @default 3600000 (an hour) */
  readonly maxIdleMs?: number
  /**
   * Bytes of content that scorers read of one run, above which code scorers run after `end()`. Requests that repeat earlier ones count once, each span 512, each value of long JSON 8.
   *
   * @default 262144 (256 KiB)
   */
  readonly maxSyncBytes?: number
  /** Milliseconds that judges and large runs may delay `forceFlush`. @default 10000; 0 on AWS Lambda */
  readonly flushTimeoutMs?: number
  /** Milliseconds that judges and large runs may delay `shutdown`. @default 5000 */
  readonly shutdownTimeoutMs?: number
  /**
   * Returns the run as judges may see it. If it throws, no judge is asked.
   *
   * @default none
   */
  readonly redact?: (run: AgentRun) => AgentRun
  /** Removes message and tool content from spans before they are handed on. Needs `next` or `attachScoring`. @default false */
  readonly stripContent?: boolean
  /**
   * Names of tools that hand the user over to a person. Judges are told that a successful call of one did so, and `answer_present` takes it
   * for an ending.
   *
   * @default none
   */
  readonly handOver?: readonly string[]
  /** Also asks judges about runs that are recorded but not sampled. @default false */
  readonly scoreUnsampled?: boolean
  /** Asks judges again if spans arrive after a run was scored. @default false */
  readonly rescore?: boolean
  /**
   * Resource or agent-span attributes that are copied to metrics and events: 50 values each, then `other`.
   *
   * @default none
   */
  readonly metricAttributes?: readonly string[]
  /** What Prometheus alerts on of the whole service; each scorer has settings of its own. @default none */
  readonly alerts?: ServiceAlerts
  /** Which signals are written. @default all signals; late spans only if the score is not on the agent's span */
  readonly emit?: Partial<EmitOptions>
  /** Called with every score, every failure, and every skip that sampling or filters did not choose. @default none */
  readonly onScore?: (evaluation: Evaluation, run: AgentRun) => void
  /** Called with the prompt, reply and usage of every judge call. @default none */
  readonly onJudgeCall?: (call: JudgeCall) => void
  /** Throws at construction if a judge's key or package is missing. @default false */
  readonly strict?: boolean
  /**
   * The tracer provider to attach to, which also writes late spans.
   *
   * @default the global one, looked up at each emission
   */
  readonly tracerProvider?: TracerProvider
  /** The meter provider for metrics. @default the global one, looked up at each emission */
  readonly meterProvider?: MeterProvider
  /**
   * The logger provider for events.
   *
   * @default the global one of either Logs API, looked up at each emission
   */
  readonly loggerProvider?: LoggerProviderLike
}
