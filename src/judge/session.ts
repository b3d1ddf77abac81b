import type { Failed, FailureCode, JudgeReport, Skipped, SkipReason } from '../model/score.ts'
import type { ScoringContext } from '../scoring/scorer.ts'
import type { Prompt } from './prompt/build-prompt.ts'
import type { Connection } from './transport/connection.ts'
import { costUsd } from './transport/cost.ts'
import type { Endpoint } from './transport/endpoint.ts'
import { generate } from './transport/generate.ts'
import type { Generated } from './transport/generate.ts'
import type { Judge } from './judge.ts'
import type { CallableModel } from './transport/judge-model.ts'
import { sumSpending } from './reply/sum-reports.ts'
import type { Spending } from './reply/sum-reports.ts'
import { toTrouble } from './transport/call-error.ts'
import type { Trouble } from './transport/call-error.ts'

/** What was to be had, or why it is not: a score that says so. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly score: Skipped | Failed }

/** One thing that is asked; the session sees to it that it is sent, as often as it takes and no oftener than it may. */
export interface CallRequest {
  readonly prompt: Prompt
  readonly schema: Readonly<Record<string, unknown>>
  readonly maxOutputTokens: number
}

const FIRST_BACKOFF_MS = 500

/**
 * All judge calls of one score: counted, timed, priced, and never more than `maxCallsPerScore`. Retries what a retry can cure,
 * and waits as the server says. Nothing in here throws: what goes wrong is a `skipped` or a `failed` score.
 */
export class JudgeSession {
  readonly judge: Judge
  readonly #scorerId: string
  readonly #runId: string
  readonly #context: ScoringContext
  readonly #deadline: AbortSignal
  readonly #signal: AbortSignal
  readonly #deadlineMs: number
  readonly #spent: Spending[] = []
  #calls = 0
  #cutBytes = 0
  #answeredBy: string | undefined
  #model: Promise<CallableModel> | undefined

  constructor(judge: Judge, scorerId: string, runId: string, context: ScoringContext) {
    this.judge = judge
    this.#scorerId = scorerId
    this.#runId = runId
    this.#context = context
    this.#deadline = AbortSignal.timeout(Math.max(0, Math.min(context.timeoutMs, 2 ** 31 - 1)))
    this.#signal = AbortSignal.any([context.signal, this.#deadline])
    this.#deadlineMs = judge.world.now() + context.timeoutMs
  }

  /** Calls that may still be made. */
  get callsLeft(): number {
    return this.judge.settings.maxCallsPerScore - this.#calls
  }

  /** UTF-8 bytes of the run that a prompt left out at most. */
  get cutBytes(): number {
    return this.#cutBytes
  }

  /** Takes note of what a prompt leaves out. */
  leftOut(cutBytes: number): void {
    this.#cutBytes = Math.max(this.#cutBytes, cutBytes)
  }

  /** What all calls so far took; `undefined` before the first. The cost is unknown where that of one reply is. */
  report(): JudgeReport | undefined {
    if (this.#calls === 0) return undefined
    return { model: this.#answeredBy ?? this.judge.name, calls: this.#calls, ...sumSpending(this.#spent) }
  }

  /** A score that could not be had because of what the judge said. */
  failed(code: FailureCode, message: string): { readonly ok: false; readonly score: Failed } {
    return { ok: false, score: { status: 'failed', code, message: `The judge ${this.judge.name} ${message}` } }
  }

  /** A score that was not asked for, because this run is more than the judge may be asked about. */
  skipped(message: string): { readonly ok: false; readonly score: Skipped } {
    return skipped('not-applicable', `The judge ${this.judge.name} ${message}`)
  }

  /** Asks until there is a reply, no call is left, or the time is over. */
  async call(request: CallRequest): Promise<Outcome<Generated>> {
    const connection = this.judge.connect()
    const missingKey = connection.missingKey()
    // A package that is missing, too, is what has to be put there first.
    if (missingKey !== undefined) return skipped('judge-unavailable', connection.unavailable() ?? missingKey)
    const endpoint = this.judge.endpoint(connection)
    let last: Trouble | undefined
    for (let attempt = 0; ; attempt++) {
      if (this.callsLeft <= 0) return this.#gaveUp(last)
      const admitted = await this.#admitted(endpoint, last)
      if (admitted !== undefined) return admitted
      const outcome = await this.#callOnce(request, connection, endpoint)
      if (!('code' in outcome)) return outcome
      last = outcome
      if (last.code === 'unavailable') return skipped('judge-unavailable', last.message)
      const again = last.retryable || last.drop !== undefined
      if (!again) return { ok: false, score: { status: 'failed', code: last.code, message: last.message } }
      if (last.drop !== undefined || last.rateLimited) continue
      const aborted = await this.#wait(last.waitMs ?? FIRST_BACKOFF_MS * 2 ** attempt, last)
      if (aborted !== undefined) return aborted
    }
  }

  /** Waits for its turn; gives a score where there is none within the time. */
  async #admitted(endpoint: Endpoint, last: Trouble | undefined): Promise<Outcome<never> | undefined> {
    for (;;) {
      if (this.#signal.aborted) return this.#aborted()
      const admission = endpoint.admit(this.judge.world.now())
      if (admission.state === 'go') return undefined
      if (admission.state === 'open') {
        if (last !== undefined) return this.#gaveUp(last)
        const until = new Date(admission.untilMs).toISOString()
        return skipped('circuit-open', `${admission.why} Not asked again until ${until}.`)
      }
      const given = await this.#wait(admission.ms, last)
      if (given !== undefined) return given
    }
  }

  /** Waits; gives a score where the wait ends with the time for it. */
  async #wait(ms: number, last: Trouble | undefined): Promise<Outcome<never> | undefined> {
    const { world, name } = this.judge
    if (world.now() + ms >= this.#deadlineMs) {
      if (last !== undefined) return this.#gaveUp(last)
      const until = new Date(world.now() + ms).toISOString()
      return skipped(
        'circuit-open',
        `The judge ${name} asks to be left alone until ${until}. Lower budget.callsPerMinute or concurrency.`,
      )
    }
    await world.wait(ms, this.#signal)
    return this.#signal.aborted ? this.#aborted() : undefined
  }

  async #callOnce(
    request: CallRequest,
    connection: Connection,
    endpoint: Endpoint,
  ): Promise<
    | { readonly ok: true; readonly value: Generated }
    | { readonly ok: false; readonly score: Skipped | Failed }
    | Trouble
  > {
    const { world, settings, name } = this.judge
    const startMs = world.now()
    const call = this.#ask(request, connection, endpoint, settings.temperature)
    this.#calls += 1
    const attempt = this.#calls
    const settled = await this.#orAborted(call)
    const durationMs = world.now() - startMs
    const base = {
      scorerId: this.#scorerId,
      runId: this.#runId,
      attempt,
      model: name,
      prompt: request.prompt,
      durationMs,
    }
    if ('value' in settled) {
      endpoint.succeeded()
      const { usage, modelId, text } = settled.value
      const cost = costUsd(name, usage)
      this.#spent.push({ usage, ...(cost !== undefined && { costUsd: cost }) })
      if (modelId !== undefined) this.#answeredBy = modelId
      this.#tell({ ...base, model: modelId ?? name, reply: text, usage, ...(cost !== undefined && { costUsd: cost }) })
      return { ok: true, value: settled.value }
    }
    if ('aborted' in settled) {
      const outcome = this.#aborted()
      if (this.#isTimeout()) {
        const message = outcome.score.message
        endpoint.troubled(
          { code: 'judge-timeout', message, retryable: true, rateLimited: false, opensCircuit: false },
          world.now(),
        )
      }
      this.#tell({ ...base, usage: {}, error: outcome.score.message })
      return outcome
    }
    const trouble = toTrouble(settled.error, { model: name, keyHint: connection.keyHint, nowMs: world.now() })
    const { drop, ...lasting } = trouble
    const isKnown = drop !== undefined && endpoint.dropped.has(drop)
    endpoint.troubled(trouble, world.now())
    this.#tell({ ...base, usage: {}, error: trouble.message })
    // A server that still complains of what it is no longer sent means something else.
    return isKnown ? lasting : trouble
  }

  async #ask(
    request: CallRequest,
    connection: Connection,
    endpoint: Endpoint,
    temperature: number,
  ): Promise<Generated> {
    this.#model ??= connection.open()
    return generate(await this.#model, {
      ...request.prompt,
      ...(!endpoint.dropped.has('schema') && { schema: request.schema }),
      ...(!endpoint.dropped.has('temperature') && { temperature }),
      maxOutputTokens: request.maxOutputTokens,
      signal: this.#signal,
    })
  }

  /** A provider that does not heed the signal is not waited for. */
  #orAborted(
    call: Promise<Generated>,
  ): Promise<{ readonly value: Generated } | { readonly error: unknown } | { readonly aborted: true }> {
    return new Promise((resolve) => {
      const onAbort = (): void => resolve({ aborted: true })
      if (this.#signal.aborted) onAbort()
      this.#signal.addEventListener('abort', onAbort, { once: true })
      call
        .then(
          (value) => resolve({ value }),
          (error: unknown) => resolve(this.#signal.aborted ? { aborted: true } : { error }),
        )
        .finally(() => this.#signal.removeEventListener('abort', onAbort))
    })
  }

  #isTimeout(): boolean {
    return !isScore(this.#context.signal.reason)
  }

  /** Told apart by our own signals: what a provider throws when it is aborted differs from one to the next. */
  #aborted(): { readonly ok: false; readonly score: Skipped | Failed } {
    const { reason } = this.#context.signal
    if (isScore(reason)) return { ok: false, score: reason }
    return this.failed(
      'judge-timeout',
      `gave no answer within ${this.#context.timeoutMs} ms. Raise timeoutMs, or take a faster model.`,
    )
  }

  #gaveUp(last: Trouble | undefined): { readonly ok: false; readonly score: Failed } {
    if (last === undefined || last.code === 'unavailable') {
      return this.failed(
        'judge-invalid-reply',
        `gave no usable reply in ${this.#calls} calls. Take a stronger model, or raise judge.maxCallsPerScore.`,
      )
    }
    const tries = this.#calls === 1 ? '1 call' : `${this.#calls} calls`
    return {
      ok: false,
      score: { status: 'failed', code: last.code, message: `${last.message} Given up after ${tries}.` },
    }
  }

  #tell(call: Parameters<NonNullable<ScoringContext['onJudgeCall']>>[0]): void {
    try {
      this.#context.onJudgeCall?.(call)
    } catch {
      // The application's callback is its own business; the score does not depend on it.
    }
  }
}

function skipped(reason: SkipReason, message: string): { ok: false; score: Skipped } {
  return { ok: false, score: { status: 'skipped', reason, message } }
}

function isScore(reason: unknown): reason is Skipped | Failed {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    'status' in reason &&
    (reason.status === 'skipped' || reason.status === 'failed')
  )
}
