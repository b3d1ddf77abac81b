import { SpanKind } from '@opentelemetry/api'

import type { after } from '../../scoring/after.ts'
import { closestName } from '../../scoring/closest-name.ts'
import type { EndedSpan } from '../../spans/sdk-types.ts'
import type { Reporter } from '../../engine/reporter.ts'
import { cureOfLibrary } from './model-libraries.ts'
import type { ModelRequest } from '../model-requests.ts'

const CLIENT: number = SpanKind.CLIENT

/** How long after the first model call a run may take to end. */
const PATIENCE_MS = 30_000

/** Maximum number of spans to check: an application that calls a model does so early. */
const SPANS_LOOKED_AT = 10_000

/** Hosts of model providers, with any subdomain. */
const HOSTS = [
  'ai-gateway.vercel.sh',
  'api.anthropic.com',
  'api.cerebras.ai',
  'api.cohere.com',
  'api.deepseek.com',
  'api.fireworks.ai',
  'api.groq.com',
  'api.mistral.ai',
  'api.openai.com',
  'api.perplexity.ai',
  'api.together.xyz',
  'api.x.ai',
  'generativelanguage.googleapis.com',
  'openai.azure.com',
  'openrouter.ai',
] as const

/** Hosts with a region in their name. */
const REGIONAL_HOST = /(?:^|\.)(?:bedrock-runtime(?:-fips)?\.[\w-]+\.amazonaws\.com|[\w-]*aiplatform\.googleapis\.com)$/

/** Attributes in which old and new HTTP instrumentations write the host. */
const HOST_ATTRIBUTES = ['server.address', 'net.peer.name', 'http.host', 'url.full', 'http.url'] as const

/** What to do if there is no span at all, and the library is unknown. */
const NO_SPAN_CURE =
  'Run `npx @spanscore/cli doctor --` before your command to see what is missing. docs/attach.md has a page for each framework.'

/** What to do if there are spans, but none of agents or models. */
const NO_MODEL_SPAN_CURE =
  'Add an instrumentation that records them (docs/reference/libraries.md); HTTP spans alone cannot be scored.'

/** The attribute that says what a span of the GenAI conventions is, and its values that make up a run. */
const OPERATION = 'gen_ai.operation.name'
const OPERATIONS = ['invoke_agent', 'chat', 'execute_tool'] as const

/** What the notice needs. */
export interface NoRunsNoticeParts {
  /** Whether there is any run, open or closed. */
  readonly hasRuns: () => boolean
  /** Calls back with each model request, until the returned function is called. */
  readonly watchRequests: (onRequest: (request: ModelRequest) => void) => () => void
  /** Whether instrumentations find a tracer provider through OpenTelemetry's API. */
  readonly hasGlobalProvider: () => boolean
  /** The version of the API that registered the tracer provider, if libraries use a newer copy, which ignores it. */
  readonly olderApi: () => string | undefined
  /** What the provider's sampler says that it is; `undefined` if the provider does not show it. */
  readonly sampler: () => string | undefined
  readonly reporter: Reporter
  readonly after: typeof after
}

/**
 * Reports that the application calls models and there is no run: telemetry is switched off, an instrumentation is missing, or
 * spans written by hand do not say what they are. It sees the calls as HTTP spans, as spans with attributes of the GenAI
 * conventions, or, if nothing traces them, as requests.
 */
export class NoRunsNotice {
  readonly #parts: NoRunsNoticeParts
  readonly #stopWatching: () => void
  #looks = 0
  /** The first request to a model that was seen. */
  #request: ModelRequest | undefined
  /** What is wrong with a span that has attributes of the GenAI conventions and is no part of a run. */
  #unsaid: string | undefined
  #isWaiting = false
  #hasSpans = false
  #hasHttpSpans = false
  #hasGlobalProvider = true
  #isDone = false

  constructor(parts: NoRunsNoticeParts) {
    this.#parts = parts
    this.#stopWatching = parts.watchRequests((request) => this.#called(request))
  }

  /** Must be called with each ended span that no dialect recognises. */
  look(span: EndedSpan): void {
    this.#hasSpans = true
    if (this.#isDone || this.#hasHttpSpans || span.kind !== CLIENT) return
    this.#looks += 1
    if (this.#looks > SPANS_LOOKED_AT) this.stop()
    const host = modelHostOf(span.attributes)
    if (host === undefined) return
    this.#hasHttpSpans = true
    this.#called({ host })
  }

  /** Must be called with each ended span that a dialect recognises as a step: as neither agent, nor model call, nor tool. */
  lookAtStep({ attributes }: EndedSpan): void {
    if (this.#isDone || this.#unsaid !== undefined) return
    this.#looks += 1
    if (this.#looks > SPANS_LOOKED_AT) this.stop()
    this.#unsaid = operationProblem(attributes)
    if (this.#unsaid !== undefined) this.#wait()
  }

  /** Stops watching. Must be called at the first run. */
  stop(): void {
    this.#isDone = true
    this.#stopWatching()
  }

  /** Reports a problem, if there is one, when the time is over or the process ends. */
  conclude(): void {
    const isDone = this.#isDone
    this.stop()
    const request = this.#request
    if (isDone || this.#parts.hasRuns()) return
    const message = this.#unsaid ?? (request === undefined ? undefined : this.#message(request))
    if (message !== undefined) this.#parts.reporter.notify('SPANSCORE_NO_RUNS', message)
  }

  #called(request: ModelRequest): void {
    if (this.#isDone || this.#request !== undefined) return
    this.#request = request
    this.#hasGlobalProvider = this.#parts.hasGlobalProvider()
    this.#stopWatching()
    this.#wait()
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#parts.after(PATIENCE_MS, () => this.conclude())
  }

  #message({ host, library, isSampledOut }: ModelRequest): string {
    if (isSampledOut === true) {
      const sampler = this.#parts.sampler()
      return (
        `A model was called (${host}) in a trace that ${sampler === undefined ? 'the sampler' : `the sampler ${sampler}`} left out, ` +
        'and no run was sampled since. Raise its rate: spans that are left out cannot be scored.'
      )
    }
    const cure = library === undefined ? undefined : cureOfLibrary([library])
    const called = library === undefined ? `A model was called (${host})` : `${library} called a model (${host})`
    if (!this.#hasSpans) {
      return `${called}, and there is no span of any kind. ${noSpanCause(this.#hasGlobalProvider, this.#parts.olderApi()) ?? cure ?? NO_SPAN_CURE}`
    }
    return this.#hasHttpSpans
      ? `HTTP calls to ${host} are among the spans, but no agent run or model call${library === undefined ? '' : ` of ${library}`} is. ${cure ?? NO_MODEL_SPAN_CURE}`
      : `${called}, and among the spans is no agent run or model call. ${cure ?? NO_MODEL_SPAN_CURE}`
  }
}

/**
 * Says why a span with attributes of the GenAI conventions is no agent, model call or tool; `undefined` if it has none, or is of
 * another kind on purpose, such as an embedding. Names attributes, and of their values only one that is nearly a known operation.
 */
function operationProblem(attributes: Readonly<Record<string, unknown>>): string | undefined {
  const operation = attributes[OPERATION]
  const expected = `expected ${OPERATION} to be ${OPERATIONS.slice(0, -1).join(', ')} or ${OPERATIONS.at(-1)}`
  const of = `Spans have attributes of the GenAI conventions, and no agent run or model call is among them: ${expected}`
  const see = 'docs/own-spans.md shows spans of your own.'
  if (typeof operation === 'string') {
    const meant = closestName(operation, OPERATIONS)
    return meant === undefined || meant === operation
      ? undefined
      : `${of}, got ${operation.slice(0, 50)}. Did you mean ${meant}? ${see}`
  }
  const name = Object.keys(attributes).find((key) => key.startsWith('gen_ai.'))
  if (name === undefined) return undefined
  const meant = closestName(OPERATION, Object.keys(attributes))
  return meant === undefined
    ? `${of}, got ${name.slice(0, 100)} without it. ${see}`
    : `${of}, got ${meant.slice(0, 100)}. Write ${OPERATION}. ${see}`
}

/** Why there is no span at all, if neither the library nor an instrumentation is the cause. */
function noSpanCause(hasGlobalProvider: boolean, olderApi: string | undefined): string | undefined {
  if (!hasGlobalProvider) {
    return (
      'No tracer provider is registered, so instrumentations find none: start the SDK, call ' +
      'trace.setGlobalTracerProvider(provider), or pass it to them.'
    )
  }
  if (olderApi !== undefined) {
    return (
      `The tracer provider was registered through @opentelemetry/api ${olderApi}, which newer copies ignore, and libraries use a newer one. ` +
      '`npm ls @opentelemetry/api` shows them: install one version for all.'
    )
  }
  const sampler = process.env['OTEL_TRACES_SAMPLER']?.trim() ?? ''
  if (sampler === 'always_off') return 'OTEL_TRACES_SAMPLER=always_off leaves all of them out. Remove it.'
  return sampler === '' || sampler.endsWith('always_on')
    ? undefined
    : `OTEL_TRACES_SAMPLER is set to ${sampler.slice(0, 50)}, which may leave them out. ${NO_SPAN_CURE}`
}

/** The model provider that an HTTP client's span went to; `undefined` if it went elsewhere. */
function modelHostOf(attributes: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of HOST_ATTRIBUTES) {
    const value = attributes[name]
    if (typeof value !== 'string' || value.length > 2000) continue
    const host = value
      .replace(/^\w+:\/\/(?:[^/@]*@)?/, '')
      .replace(/[:/?#].*$/s, '')
      .toLowerCase()
    const known = HOSTS.find((each) => host === each || host.endsWith(`.${each}`))
    if (known !== undefined) return known
    if (REGIONAL_HOST.test(host)) return host.slice(0, 100)
  }
  return undefined
}
