import type { AgentRun } from '../../model/agent-run.ts'
import { MAX_FORMS_APART_MS } from '../../runs/layout/run-records.ts'
import { lookAt } from '../attach/look-at.ts'
import type { Reporter } from '../../engine/reporter.ts'

/** Where every copy of AI SDK 7 keeps what `registerTelemetry` was given. */
const INTEGRATIONS = 'AI_SDK_TELEMETRY_INTEGRATIONS'

/** What two records of one run have in common. */
interface Signs {
  readonly startMs: number
  readonly responseIds: string
}

/**
 * Reports that AI SDK 7 traces each run twice, because its telemetry was registered twice: two runs of the same model responses begin at
 * the same time, and two integrations are of one class. Either alone may be intended.
 */
export class DoubledTelemetryNotice {
  readonly #reporter: Reporter
  #previous: Signs | undefined
  #isDone = false

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  /** Must be called with each settled run. The two records of a run end one after the other. */
  look({ dialect, startTimeMs, steps }: Pick<AgentRun, 'dialect' | 'startTimeMs' | 'steps'>): void {
    if (this.#isDone || dialect !== 'ai-sdk' || !isRegisteredTwice()) return
    const signs = { startMs: startTimeMs, responseIds: steps.map(({ responseId = '' }) => responseId).join(' ') }
    const previous = this.#previous
    this.#previous = signs
    if (previous === undefined || !areOfOneRun(previous, signs)) return
    this.#isDone = true
    this.#reporter.notify(
      'SPANSCORE_TRACED_TWICE',
      'The AI SDK traces each run twice, so it is exported and scored twice: registerTelemetry was called twice. ' +
        'Call it once per process, where the SDK is started.',
    )
  }
}

function areOfOneRun(left: Signs, right: Signs): boolean {
  const isSameAnswer = left.responseIds.trim() !== '' && left.responseIds === right.responseIds
  return isSameAnswer && Math.abs(left.startMs - right.startMs) <= MAX_FORMS_APART_MS
}

/** Whether two integrations are of one class. Its source text is compared, because a hot reload loads the class again. */
function isRegisteredTwice(): boolean {
  const found = lookAt(() => {
    const integrations: unknown = Reflect.get(globalThis, INTEGRATIONS)
    if (!Array.isArray(integrations) || integrations.length < 2) return false
    const classes = integrations.map((each: object) => String(each.constructor))
    return new Set(classes).size < classes.length
  })
  return found === true
}
