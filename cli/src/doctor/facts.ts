import type { RecognisedSpans } from '../../../src/spans/recognised-spans.ts'
import type { ScorerFacts, SeenRun } from '../../../src/processor/checks/setup-facts.ts'

/** The signals of OpenTelemetry that carry scores. */
export type ExportSignal = 'traces' | 'metrics' | 'logs'

/** What the doctor knows about one process. It holds neither keys nor content of runs. */
export interface ProcessFacts {
  readonly nodeVersion: string
  readonly pid: number
  /** Why this is reported now: a run came to its end, the time is over, or the process ends. */
  readonly when: 'run' | 'late' | 'exit'
  /** Packages that were loaded and matter, with their versions. */
  readonly packages: Readonly<Record<string, string>>
  readonly apiVersion?: string
  /** By signal, the environment variable that keeps the SDK from registering a provider, such as `OTEL_TRACES_EXPORTER=none`. */
  readonly disabledBy: Readonly<Partial<Record<ExportSignal, string>>>
  readonly tracerProvider?: ProviderFacts
  readonly meterProvider?: string
  readonly loggerProvider?: string
  /** The scoring processors of this process, however they were attached. */
  readonly scoring: readonly ScoringFacts[]
  /** The first runs that were seen, at most five, whether they are scored or not. */
  readonly runs: readonly SeenRun[]
  /** Spans that have ended, of any kind. */
  readonly spans: number
  /** Those of known instrumentations. */
  readonly recognised: RecognisedSpans
  /** Whether a trace has a search that none of its runs shows. */
  readonly hasSearchOutside: boolean
  /** Warnings of spanscore itself, with their codes. */
  readonly notices: readonly { readonly code: string; readonly message: string }[]
  /** Whether judges are to be asked, with `--ask`. */
  readonly asks: boolean
  /** Calls of judges, with `--ask`. */
  readonly asked: readonly AskFacts[]
}

/** The tracer provider that is registered. */
export interface ProviderFacts {
  /** Name of its class. */
  readonly name: string
  /** Its processors, by class name, with the exporter of each; absent if the provider does not show them. */
  readonly processors?: readonly { readonly name: string; readonly exporter?: string }[]
}

/** The configuration of one scoring processor, and what it counted. */
export interface ScoringFacts {
  readonly scorers: readonly ConfiguredScorer[]
  readonly hasNext: boolean
  readonly sample: string
  readonly budget: string
  readonly runsSeen: number
  readonly scored: number
  /** Scores that failed, such as for a judge that gave no answer. */
  readonly failed: number
  /** For each scorer, how often each reason and code explained a missing score. */
  readonly notScored: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** One configured scorer, and the runs that it scores. */
export interface ConfiguredScorer extends ScorerFacts {
  readonly sample: string
}

/** One call of a judge, made by the doctor. */
export interface AskFacts {
  readonly scorer: string
  readonly model: string
  readonly isAnswered: boolean
  readonly message: string
}

/** How the application ended. */
export interface EndFacts {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** One line of the report. */
export interface DoctorLine {
  readonly isGood: boolean
  readonly text: string
  /** What to do about it; present unless the line is good. */
  readonly cure?: string
}
