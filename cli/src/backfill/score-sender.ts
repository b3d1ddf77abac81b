import { carriesScore } from '../../../src/attributes/score-attributes.ts'
import { lateSpansAsOtlp, scoresAsOtlp } from '../../../src/emit/otlp-json.ts'
import type { ExplanationPolicy } from '../../../src/attributes/explanation-rules.ts'
import type { SpanSet } from '../../../src/emit/score-ids.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import type { EvaluatedRun, HasScore } from '../score/run-scorers.ts'
import { directFetch } from '../../../src/judge/transport/limited-fetch.ts'
import { UsageError } from '../usage-error.ts'
import { describeAnswer, bodyTextOf } from '../answer.ts'
import { safeLine } from '../text.ts'
import type { BackendAccess } from './backend-access.ts'
import { retried } from './retried.ts'

/** Settings of a `ScoreSender`. */
export interface ScoreSenderOptions extends BackendAccess {
  /** The OTLP/HTTP endpoint, without `/v1/traces`. */
  readonly to: string
  /** Whose explanations are sent. */
  readonly explanations: ExplanationPolicy
  /** When the verdicts were reached. It is the same for scores that are sent again, so that these are equal. */
  readonly nowMs: number
  /** Receives lines for the user. */
  readonly report: (line: string) => void
}

/** How many runs are sent together. */
const RUNS_PER_REQUEST = 50

const TIMEOUT_MS = 30_000

/** The entries of requests, by the name of their list. */
interface Waiting {
  readonly resourceSpans: unknown[]
  readonly resourceLogs: unknown[]
}

/** Sends scores as late spans and events, with the ids that the service gives them. */
export class ScoreSender {
  readonly #options: ScoreSenderOptions
  #waiting: Waiting = { resourceSpans: [], resourceLogs: [] }
  #takesEvents = true
  /** How many scores were sent. */
  sent = 0

  constructor(options: ScoreSenderOptions) {
    this.#options = options
  }

  /** Only scores are sent: why there is none may be different the next time. */
  async add({ run, evaluations }: EvaluatedRun, spans: SpanSet): Promise<void> {
    const scored = evaluations.filter(({ score }) => score.status === 'scored')
    if (scored.length === 0) return
    const { traceId, spanId, endTimeMs, resource } = run
    const place = { traceId, spanId, endTimeMs, resource, run, spans }
    this.#waiting.resourceSpans.push(...(lateSpansAsOtlp(place, scored, this.#options)?.resourceSpans ?? []))
    if (this.#takesEvents)
      this.#waiting.resourceLogs.push(...(scoresAsOtlp(place, scored, this.#options)?.resourceLogs ?? []))
    this.sent += scored.length
    if (this.#waiting.resourceSpans.length >= RUNS_PER_REQUEST) await this.flush()
  }

  /**
   * Resolves when everything was acknowledged.
   *
   * @throws UsageError what the endpoint answered instead
   */
  async flush(): Promise<void> {
    const { resourceSpans, resourceLogs } = this.#waiting
    this.#waiting = { resourceSpans: [], resourceLogs: [] }
    if (resourceSpans.length > 0) await this.#send('/v1/traces', { resourceSpans })
    if (resourceLogs.length > 0 && this.#takesEvents) await this.#send('/v1/logs', { resourceLogs })
  }

  async #send(path: '/v1/traces' | '/v1/logs', request: unknown): Promise<void> {
    const { to, headers, agent, report } = this.#options
    const url = `${to.replace(/\/$/, '')}${path}`
    const post = (): Promise<Response> =>
      directFetch(
        url,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(request),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        },
        agent,
      )
    const response = await retried(`--to ${url}`, post, { ca: '--to-ca', cert: '--to-cert and --to-key' })
    if (path === '/v1/logs' && [404, 405, 501].includes(response.status)) {
      this.#takesEvents = false
      await response.body?.cancel()
      report(`${url} takes no log records (${response.status}): scores are sent as late spans only`)
      return
    }
    if (!response.ok) throw new UsageError(`--to ${url}: ${await describeAnswer(response)}`)
    const text = await bodyTextOf(response)
    const rejected = /"rejected(?:Spans|LogRecords)"\s*:\s*"?([1-9]\d*)/.exec(text)?.[1]
    if (rejected !== undefined)
      throw new UsageError(`--to ${url}: ${rejected} rejected: ${safeLine(text.slice(0, 200))}`)
  }
}

/** Whether a run has a score of this version of a scorer: on its span, as a late span or as an event. */
export function hasStoredScore({ scoresOf }: StoredRun): HasScore {
  return (run, { id, version }) =>
    carriesScore(run.attributes, { id, version }) ||
    scoresOf(run).some(
      ({ scorerId, value, about }) => scorerId === id && value !== undefined && about?.version === version,
    )
}
