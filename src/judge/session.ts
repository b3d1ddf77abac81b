import { contentFree, explain } from '../model/explanation.ts'
import type { Explanation } from '../model/explanation.ts'
import type { Failed, FailureCode, JudgeReport, Skipped, SkipReason } from '../model/score.ts'
import { failed, skipped } from '../scoring/unscored.ts'
import type { JudgeCall, ScoringContext } from '../scoring/scorer.ts'
import { Deadline } from './deadline.ts'
import type { Judge } from './judge.ts'
import type { JudgeOutcome } from './outcome.ts'
import type { FittedPrompt } from './prompt/build-prompt.ts'
import type { Prompt } from './prompt/prompt.ts'
import { SpendingCount } from './spending.ts'
import { retryAfterMs, toCallError } from './transport/call-error.ts'
import type { CallError } from './transport/call-error.ts'
import type { Connection } from './transport/connection.ts'
import type { Endpoint } from './transport/endpoint.ts'
import { generate } from './transport/generate.ts'
import type { Generated } from './transport/generate.ts'
import type { CallableModel } from './transport/judge-model.ts'

/** One request. The session sends it as often as needed, within its limit of calls. */
export interface CallRequest {
  readonly prompt: Prompt
  readonly schema: Readonly<Record<string, unknown>>
  readonly maxOutputTokens: number
}

/**
 * All judge calls of one score: at most `maxCallsPerScore`, and none after the deadline. It retries transient errors, and waits as long as
 * the server asks. It never throws: an error becomes a `skipped` or `failed` score.
 */
export class JudgeSession {
  readonly judge: Judge
  readonly #scorerId: string
  readonly #runId: string
  readonly #onJudgeCall: ScoringContext['onJudgeCall']
  readonly #deadline: Deadline
  readonly #spending = new SpendingCount()
  #cutBytes = 0
  readonly #cutLabels = new Set<string>()
  #model: Promise<CallableModel> | undefined

  constructor(judge: Judge, scorerId: string, runId: string, context: ScoringContext) {
    this.judge = judge
    this.#scorerId = scorerId
    this.#runId = runId
    this.#onJudgeCall = context.onJudgeCall
    this.#deadline = new Deadline(context, judge.world)
  }

  /** Calls that are left. */
  get callsLeft(): number {
    return this.judge.settings.maxCallsPerScore - this.#spending.calls
  }

  /** The most UTF-8 bytes of the run that one prompt left out. */
  get cutBytes(): number {
    return this.#cutBytes
  }

  /** The labels of texts that a prompt did not show whole. */
  get cutLabels(): readonly string[] {
    return [...this.#cutLabels]
  }

  /** Records what a prompt leaves out. */
  leftOut({ cutBytes, cutLabels }: Pick<FittedPrompt, 'cutBytes' | 'cutLabels'>): void {
    this.#cutBytes = Math.max(this.#cutBytes, cutBytes)
    for (const label of cutLabels) this.#cutLabels.add(label)
  }

  /** Usage and cost of all calls so far; `undefined` before the first. */
  report(): JudgeReport | undefined {
    return this.#spending.report(this.judge.name)
  }

  /** A failed score, because of what the judge replied. */
  failed(code: FailureCode, message: Explanation): NoScore<Failed> {
    return noScore(failed(code, explain`The judge ${contentFree(this.judge.name)} ${message}`))
  }

  /** A skipped score, because the run exceeds what the judge may be asked. */
  skipped(message: Explanation): NoScore<Skipped> {
    return skip('not-applicable', explain`The judge ${contentFree(this.judge.name)} ${message}`)
  }

  /** Calls until there is a reply, no call is left, or the deadline passes. */
  async call(request: CallRequest): Promise<JudgeOutcome<Generated>> {
    const connection = this.judge.connect()
    const missingKey = connection.missingKey()
    // A missing package must be installed before the key matters.
    if (missingKey !== undefined) return skip('judge-unavailable', contentFree(connection.unavailable() ?? missingKey))
    const endpoint = this.judge.endpoint(connection)
    let last: CallError | undefined
    for (let attempt = 0; ; attempt++) {
      if (this.callsLeft <= 0) return this.#gaveUp(last)
      const admitted = await this.#admitted(endpoint, last)
      if (admitted !== undefined) return admitted
      const outcome = await this.#callOnce(request, connection, endpoint)
      if (!('code' in outcome)) return outcome
      last = outcome
      if (last.code === 'unavailable') return skip('judge-unavailable', last.message)
      const waitMs = retryAfterMs(last, attempt)
      if (waitMs === undefined) return noScore(failed(last.code, last.message))
      if (waitMs === 0) continue
      const ended = await this.#wait(waitMs, last)
      if (ended !== undefined) return ended
    }
  }

  /** Waits for permission to call; returns a score if there is none before the deadline. */
  async #admitted(endpoint: Endpoint, last: CallError | undefined): Promise<JudgeOutcome<never> | undefined> {
    for (;;) {
      if (this.#deadline.isOver) return this.#ended()
      const admission = endpoint.admit(this.judge.world.now())
      if (admission.state === 'go') return undefined
      if (admission.state === 'open') {
        if (last !== undefined) return this.#gaveUp(last)
        const until = new Date(admission.untilMs).toISOString()
        return skip('circuit-open', explain`${admission.why} Not asked again until ${contentFree(until)}.`)
      }
      const ended = await this.#wait(admission.ms, last)
      if (ended !== undefined) return ended
    }
  }

  /** Waits; returns a score if the wait would pass the deadline. */
  async #wait(ms: number, last: CallError | undefined): Promise<JudgeOutcome<never> | undefined> {
    if (this.#deadline.isTooLong(ms)) {
      if (last !== undefined) return this.#gaveUp(last)
      const { world, name } = this.judge
      const until = new Date(world.now() + ms).toISOString()
      const message = `The judge ${name} asks to wait until ${until}. Lower budget.callsPerMinute or concurrency.`
      return skip('circuit-open', contentFree(message))
    }
    await this.#deadline.wait(ms)
    return this.#deadline.isOver ? this.#ended() : undefined
  }

  async #callOnce(
    request: CallRequest,
    connection: Connection,
    endpoint: Endpoint,
  ): Promise<JudgeOutcome<Generated> | CallError> {
    const { world, name } = this.judge
    const startMs = world.now()
    const call = this.#send(request, connection, endpoint)
    const attempt = this.#spending.countCall()
    const settled = await this.#deadline.race(call)
    const report = (more: Pick<JudgeCall, 'usage'> & Partial<JudgeCall>): void =>
      this.#report({
        scorerId: this.#scorerId,
        runId: this.#runId,
        attempt,
        model: name,
        prompt: request.prompt,
        durationMs: world.now() - startMs,
        ...more,
      })
    if ('value' in settled) {
      endpoint.succeeded()
      const { usage, modelId, text, isEffortIgnored } = settled.value
      const costUsd = this.judge.costUsd(usage)
      const spending = { usage, ...(costUsd !== undefined && { costUsd }) }
      this.#spending.addReply(spending, modelId, isEffortIgnored)
      report({ ...spending, model: modelId ?? name, reply: text })
      return { ok: true, value: settled.value }
    }
    if ('isOver' in settled) {
      const ended = this.#ended()
      const { score } = ended
      if (this.#deadline.givenScore === undefined) {
        const timeout = {
          code: 'judge-timeout',
          message: contentFree(score.message),
          retryable: true,
          rateLimited: false,
          opensCircuit: false,
        } as const
        endpoint.failed(timeout, world.now())
      }
      report({ usage: {}, error: score.message })
      return ended
    }
    const error = toCallError(settled.error, { model: name, keyHint: connection.keyHint, nowMs: world.now() })
    const { drop, ...lasting } = error
    const isKnown = drop !== undefined && endpoint.dropped.has(drop)
    endpoint.failed(error, world.now())
    report({ usage: {}, error: error.message.text })
    // A server that still refuses a setting that is no longer sent means something else.
    return isKnown ? lasting : error
  }

  async #send(request: CallRequest, connection: Connection, endpoint: Endpoint): Promise<Generated> {
    this.#model ??= connection.open()
    const model = await this.#model
    const { effort } = this.judge.settings
    this.judge.checkEffort(model)
    return generate(model, {
      ...request.prompt,
      ...(!endpoint.dropped.has('schema') && { schema: request.schema }),
      ...(!endpoint.dropped.has('temperature') && { temperature: this.judge.settings.temperature }),
      ...(effort !== undefined && { effort }),
      maxOutputTokens: request.maxOutputTokens,
      signal: this.#deadline.signal,
    })
  }

  /** The score after the deadline. Providers throw different errors when they are aborted, so those are not used. */
  #ended(): NoScore<Skipped | Failed> {
    const { givenScore, timeoutMs } = this.#deadline
    if (givenScore !== undefined) return noScore(givenScore)
    return this.failed(
      'judge-timeout',
      explain`gave no answer within ${timeoutMs} ms. Raise timeoutMs, or use a faster model.`,
    )
  }

  #gaveUp(last: CallError | undefined): NoScore<Failed> {
    const { calls } = this.#spending
    if (last === undefined || last.code === 'unavailable') {
      return this.failed(
        'judge-invalid-reply',
        explain`gave no usable reply in ${calls} calls. Raise judge.maxCallsPerScore; see its replies with onJudgeCall.`,
      )
    }
    const tries = calls === 1 ? '1 call' : `${calls} calls`
    return noScore(failed(last.code, explain`${last.message} Given up after ${contentFree(tries)}.`))
  }

  #report(call: JudgeCall): void {
    try {
      this.#onJudgeCall?.(call)
    } catch {
      // An error in the application's callback does not affect the score.
    }
  }
}

/** An outcome without a value. */
type NoScore<S extends Skipped | Failed> = { readonly ok: false; readonly score: S }

function noScore<S extends Skipped | Failed>(score: S): NoScore<S> {
  return { ok: false, score }
}

function skip(reason: SkipReason, message: Explanation): NoScore<Skipped> {
  return noScore(skipped(reason, message))
}
