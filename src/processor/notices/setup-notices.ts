import type { AgentRun } from '../../model/agent-run.ts'
import { after } from '../../scoring/after.ts'
import type { ResolvedScorer } from '../../engine/config/options.ts'
import type { Reporter } from '../../engine/reporter.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import { toSourceSpan } from '../../spans/from-sdk-span.ts'
import type { EndedSpan } from '../../spans/sdk-types.ts'
import { LiveChecks } from '../checks/live-checks.ts'
import { DoubledTelemetryNotice } from './doubled-telemetry-notice.ts'
import { watchModelRequests } from '../model-requests.ts'
import { NoRunsNotice } from './no-runs-notice.ts'
import { globalTracerProvider, olderApi, samplerOf } from '../attach/tracer-providers.ts'

/** What the notices about the set-up need. */
export interface SetupNoticesParts {
  readonly scorers: readonly ResolvedScorer[]
  /** Whether there is any run, open or closed. */
  readonly hasRuns: () => boolean
  /** Whether a processor exports spans and their scores. */
  readonly exportsSpans: () => boolean
  readonly reporter: Reporter
}

/** Watches runs and spans for signs of a mistake in the set-up of scoring. */
export class SetupNotices {
  readonly #reporter: Reporter
  readonly #checks: LiveChecks
  readonly #doubled: DoubledTelemetryNotice
  readonly #noRuns: NoRunsNotice
  #hasSeenRun = false
  #hasSeenLateRun = false

  constructor({ scorers, hasRuns, exportsSpans, reporter }: SetupNoticesParts) {
    this.#reporter = reporter
    this.#checks = new LiveChecks(scorers, reporter, exportsSpans)
    this.#doubled = new DoubledTelemetryNotice(reporter)
    this.#noRuns = new NoRunsNotice({
      hasRuns,
      watchRequests: watchModelRequests,
      hasGlobalProvider: () => globalTracerProvider() !== undefined,
      olderApi,
      sampler: () => samplerOf(globalTracerProvider()),
      reporter,
      after,
    })
  }

  /** Must be called with each settled run. @param run absent if no scorer is interested in it */
  runSettled(run: AgentRun | undefined): void {
    if (run !== undefined) for (const notice of [this.#checks, this.#doubled]) notice.look(run)
    if (this.#hasSeenRun) return
    this.#hasSeenRun = true
    this.#noRuns.stop()
    this.#checks.begin()
  }

  /** Must be called with each ended span that no dialect recognises. */
  ordinarySpanEnded(span: EndedSpan): void {
    this.#noRuns.look(span)
  }

  /** Must be called with each ended span that a dialect recognises as a step of no particular kind. */
  stepEnded(span: EndedSpan): void {
    this.#noRuns.lookAtStep(span)
  }

  /** Must be called with each span that started and ended after the shutdown. */
  endedAfterShutdown(span: EndedSpan): void {
    if (this.#hasSeenLateRun) return
    const scope = span.instrumentationScope ?? span.instrumentationLibrary
    const dialect = recognise(scope?.name ?? '', span.attributes, span.name)
    const role = dialect && roleOf(dialect, toSourceSpan(span))
    if (role !== 'agent' && role !== 'model') return
    this.#hasSeenLateRun = true
    this.#reporter.notify(
      'SPANSCORE_SHUT_DOWN',
      'An agent or a model was called after the SDK had been shut down, so the run is neither scored nor exported. ' +
        'Call sdk.shutdown() after the last run.',
    )
  }

  /**
   * Must be called when the process exits.
   *
   * @param pending scores that are not finished
   * @param held spans that wait for scores
   * @param unsent spans that wait in processors behind or beside scoring
   */
  exited(pending: number, held: number, unsent: number): void {
    const lost = [
      ...(pending > 0 ? [`${counted(pending, 'score')} pending`] : []),
      ...(held > 0 ? [`${counted(held, 'span')} held`] : []),
      ...(unsent > 0 ? [`${counted(unsent, 'span')} not exported`] : []),
    ]
    if (lost.length === 0) return
    this.#reporter.notify(
      'SPANSCORE_UNFINISHED',
      `The process exited with ${new Intl.ListFormat('en').format(lost)}, which are lost. ` +
        'Call await scoring.forceFlush() and await sdk.shutdown() at its end.',
      { isLast: true },
    )
  }

  /** Must be called at the end, after the last run and span. */
  conclude(): void {
    this.#reporter.guard('The end of scoring', () => {
      this.#checks.conclude()
      this.#noRuns.conclude()
    })
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
