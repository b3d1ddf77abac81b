import { contentFree, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import { isRecord } from '../../spans/json.ts'
import { boundedNumber } from '../../spans/outside-number.ts'
import type { FailureCode } from '../../model/score.ts'
import { cleanMessage } from '../prompt/clean-text.ts'
import { RefusedResponseError } from './limited-fetch.ts'
import { adviceForUnknownProvider } from './model-providers.ts'
import { installing } from './installing.ts'

/** What went wrong with one call of the judge, and what that means for the next call. */
export interface CallError {
  /** `unavailable`: nothing was sent, because a key or a package is missing. */
  readonly code: FailureCode | 'unavailable'
  /** The provider's message may quote the prompt. Its content-free form has the error's class, status and code instead. */
  readonly message: Explanation
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  /** Milliseconds that the server asks to wait. */
  readonly waitMs?: number
  /** Whether the server reports a rate limit. */
  readonly rateLimited: boolean
  /** Whether somebody has to fix something first, so that further calls are pointless for a while. */
  readonly opensCircuit: boolean
  /** A setting that this model does not accept; the call may succeed without it. */
  readonly drop?: 'temperature' | 'schema'
}

interface Facts {
  readonly model: string
  readonly keyHint: string
  /** Milliseconds since the epoch, for `retry-after` dates. */
  readonly nowMs: number
}

/**
 * Classifies an error of the AI SDK, a provider, or the network. It checks status, headers and body, never the class of the error: a
 * process may contain several copies of a package.
 */
export function toCallError(error: unknown, facts: Facts): CallError {
  const cause = innermost(error)
  const text = cleanMessage(messageOf(cause))
  const said: Explanation = { text, withoutContent: kindOf(cause) }
  const model = contentFree(facts.model)
  if (nameOf(cause).includes('LoadAPIKeyError')) {
    return { ...calm, code: 'unavailable', message: explain`The judge ${model} has no API key: ${said}` }
  }
  const lost = missingPackage(cause)
  if (lost !== undefined) {
    const message =
      adviceForUnknownProvider(lost, facts.model) ??
      `The judge ${facts.model} needs the package ${lost}, which was not found: ${installing(lost)}. ` +
        "In a bundled application, pass an instance of the provider's model instead of its id."
    return { ...calm, code: 'unavailable', message: contentFree(message) }
  }
  const refused = refusedResponse(cause)
  if (refused !== undefined) {
    const message = `The judge ${facts.model} gave a response that is not read: ${refused.message}. Check the model's id and the URL.`
    return { ...calm, code: 'judge-invalid-reply', message: contentFree(message) }
  }
  const response = isRecord(cause) ? cause : {}
  if (typeof response.statusCode !== 'number') return fromNetwork(cause, said, facts)
  return fromResponse(
    {
      status: response.statusCode,
      said,
      body: typeof response.responseBody === 'string' ? response.responseBody : '',
      waitMs: serverWait(response.responseHeaders, facts.nowMs),
    },
    facts,
  )
}

const calm = { retryable: false, rateLimited: false, opensCircuit: false }

/** For errors without a response. */
function fromNetwork(cause: unknown, said: Explanation, { model }: Facts): CallError {
  const code = errorCode(cause)
  const retryable = code !== undefined || (isRecord(cause) && cause.isRetryable === true) || isNetworkMessage(said.text)
  const advice = retryable
    ? 'Check the network, and the URL of the judge.'
    : 'Call the model without spanscore to see more.'
  const what: Explanation = code === undefined ? said : { ...said, text: `${code}: ${said.text}` }
  return {
    ...calm,
    code: 'judge-http',
    retryable,
    message: explain`The judge ${contentFree(model)} could not be called (${what}). ${contentFree(advice)}`,
  }
}

/** An error response. */
interface Refusal {
  readonly status: number
  readonly said: Explanation
  readonly body: string
  readonly waitMs: number | undefined
}

/** For error responses. */
function fromResponse({ status, said, body, waitMs }: Refusal, { model, keyHint }: Facts): CallError {
  const words = `${said.text} ${body}`
  const answered = (advice: string): Explanation =>
    explain`The judge ${contentFree(model)} answered ${status} (${said}). ${contentFree(advice)}`
  const wait = waitMs !== undefined && { waitMs }
  if (status === 402 || quotaExhausted.test(words)) {
    const message = answered("Check the account's credit and billing.")
    return { ...calm, code: 'judge-quota', opensCircuit: true, message }
  }
  if (status === 401 || status === 403) {
    return { ...calm, code: 'judge-auth', opensCircuit: true, message: answered(`Check ${keyHint}.`) }
  }
  if (status >= 300 && status < 400) {
    const message = answered("Redirects are not followed, because the run's content goes nowhere else: check the URL.")
    return { ...calm, code: 'judge-http', opensCircuit: true, message }
  }
  if (status === 404) {
    return { ...calm, code: 'judge-http', opensCircuit: true, message: answered("Check the model's id and the URL.") }
  }
  if (status === 429) {
    const message = answered("Lower budget.callsPerMinute or concurrency, or raise the account's rate limit.")
    return { ...calm, ...wait, code: 'judge-quota', retryable: true, rateLimited: true, message }
  }
  if (status >= 400 && status < 500 && filtered.test(words)) {
    return { ...calm, code: 'judge-refused', message: answered("The provider's content filter refused the request.") }
  }
  if (status === 400 || status === 422) {
    const drop = refusedSetting(words)
    const setting = tooManyTokens.test(words) ? 'Lower judge.maxOutputTokens.' : 'Check the model and its settings.'
    return { ...calm, code: 'judge-http', ...(drop && { drop }), message: answered(setting) }
  }
  const retryable = status >= 500 || status === 408 || status === 409 || status === 425 || status < 300
  const advice = retryable ? "If this persists, check the provider's status page." : 'Check the model and its settings.'
  return { ...calm, ...wait, code: 'judge-http', retryable, message: answered(advice) }
}

/** The setting that the server refuses. */
function refusedSetting(words: string): CallError['drop'] {
  if (/response_format|json_schema|response_schema|structured output/i.test(words)) return 'schema'
  return /temperature/i.test(words) ? 'temperature' : undefined
}

const tooManyTokens = /max_?(?:completion_?|output_?)?tokens/i
const quotaExhausted = /insufficient_quota|billing_hard_limit|credit balance|out of credits|payment required/i
const filtered = /content_filter|content management policy|ResponsibleAIPolicyViolation|safety system/i

/** The last error of a `RetryError`, or the error itself. */
function innermost(error: unknown): unknown {
  return isRecord(error) && isRecord(error.lastError) ? error.lastError : error
}

function nameOf(error: unknown): string {
  return isRecord(error) && typeof error.name === 'string' ? error.name : ''
}

function messageOf(error: unknown): string {
  if (isRecord(error) && typeof error.message === 'string') return error.message
  return String(error)
}

/** An error without its text: the name of its class, and its code if it has one. */
function kindOf(error: unknown): string {
  const name = nameOf(error)
  const code = errorCode(error) ?? bodyCode(error)
  const known = /^[\w$.]{1,80}$/.test(name) ? name : 'an error without a name'
  return code === undefined ? known : `${known}, ${code}`
}

/** The code in the response body, such as `context_length_exceeded`. */
function bodyCode(error: unknown): string | undefined {
  const data = isRecord(error) && isRecord(error.data) ? error.data : {}
  const { code, type } = isRecord(data.error) ? data.error : data
  return [code, type]
    .filter((one) => typeof one === 'string')
    .find((one) => /^[a-z0-9]{1,20}(?:_[a-z0-9]{1,20}){1,5}$/.test(one))
}

/** The code of a network error anywhere in the chain of causes. */
function errorCode(error: unknown): string | undefined {
  let at: unknown = error
  for (let depth = 0; depth < 5 && isRecord(at); depth++) {
    if (typeof at.code === 'string' && /^(E[A-Z]{3,}|UND_ERR_\w+)$/.test(at.code)) return at.code
    at = at.cause
  }
  return undefined
}

/** The response that was not handed to the provider's package. The gateway's package wraps errors. */
function refusedResponse(error: unknown): RefusedResponseError | undefined {
  let at: unknown = error
  for (let depth = 0; depth < 5 && isRecord(at); depth++) {
    if (at instanceof RefusedResponseError) return at
    at = at.cause
  }
  return undefined
}

/** The package that `import()` did not find, from the messages of Node and of bundlers. */
function missingPackage(error: unknown): string | undefined {
  const text = messageOf(error)
  const isLost = isRecord(error) && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  if (!isLost && !/^(?:Cannot find (?:package|module)|Failed to (?:load url|resolve)|Could not resolve)/.test(text)) {
    return undefined
  }
  return /(?:package|module|url|resolve(?: import)?) ['"]?((?:@[\w.-]+\/)?[\w.-]+)/.exec(text)?.[1]
}

function isNetworkMessage(text: string): boolean {
  return /fetch failed|terminated|socket hang up|other side closed|network|cannot connect/i.test(text)
}

/** A server or proxy may ask for an absurd wait, so the longest is five minutes. */
const LONGEST_SERVER_WAIT_MS = 5 * 60_000

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date, in milliseconds; at most five minutes. */
function serverWait(headers: unknown, nowMs: number): number | undefined {
  if (!isRecord(headers)) return undefined
  const exactMs = Number.parseFloat(String(headers['retry-after-ms']))
  if (exactMs >= 0) return boundedNumber(exactMs, 0, LONGEST_SERVER_WAIT_MS)
  const after = headers['retry-after']
  if (typeof after !== 'string' || after.trim() === '') return undefined
  const seconds = Number(after)
  const waitMs = Number.isNaN(seconds) ? Date.parse(after) - nowMs : seconds * 1000
  return boundedNumber(waitMs, 0, LONGEST_SERVER_WAIT_MS)
}

const FIRST_BACKOFF_MS = 500

/**
 * Milliseconds until a failed call is retried; `undefined` if a retry would fail too. `toCallError` decides which errors a retry can fix,
 * and `JudgeSession` how many calls there are.
 *
 * @param attempt the number of calls that failed before this one
 */
export function retryAfterMs(error: CallError, attempt: number): number | undefined {
  if (!error.retryable && error.drop === undefined) return undefined
  // Without the refused setting it is a different call. After a rate limit, the endpoint makes the call wait.
  if (error.drop !== undefined || error.rateLimited) return 0
  return error.waitMs ?? FIRST_BACKOFF_MS * 2 ** attempt
}
