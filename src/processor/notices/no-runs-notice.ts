import { SpanKind } from '@opentelemetry/api'

import type { EndedSpan } from '../sdk-types.ts'
import type { Reporter } from '../run/reporter.ts'
import type { Scheduler } from '../scheduler.ts'

const CLIENT: number = SpanKind.CLIENT

/** How long after the first call to a model provider its run may come to its end. */
const PATIENCE_MS = 30_000

/** Spans that are looked at: an application that calls a model does so among its first. */
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

/** Hosts that have a region in the middle. */
const REGIONAL_HOST = /(?:^|\.)(?:bedrock-runtime(?:-fips)?\.[\w-]+\.amazonaws\.com|[\w-]*aiplatform\.googleapis\.com)$/

/** In which attributes HTTP instrumentations, old and new, write the host. */
const HOST_ATTRIBUTES = ['server.address', 'net.peer.name', 'http.host', 'url.full', 'http.url'] as const

/** What the notice needs. */
export interface NoRunsNoticeParts {
  /** Whether there is any run, open or closed. */
  readonly hasRuns: () => boolean
  readonly reporter: Reporter
  readonly scheduler: Pick<Scheduler, 'after'>
}

/** Reports that models are called and no run comes of it: an instrumentation of agents or models is missing. */
export class NoRunsNotice {
  readonly #parts: NoRunsNoticeParts
  #looks = 0
  #host: string | undefined
  #isDone = false

  constructor(parts: NoRunsNoticeParts) {
    this.#parts = parts
  }

  /** Must be called with each span that has ended and that no dialect recognises. */
  look(span: EndedSpan): void {
    if (this.#isDone || this.#host !== undefined || span.kind !== CLIENT) return
    this.#looks += 1
    if (this.#looks > SPANS_LOOKED_AT) this.#isDone = true
    const host = modelHostOf(span.attributes)
    if (host === undefined) return
    this.#host = host
    this.#parts.scheduler.after(PATIENCE_MS, () => this.conclude())
  }

  /** Reports what there is to report, now that no more may come: after a while, or at the end. */
  conclude(): void {
    if (this.#host === undefined || this.#isDone) return
    this.#isDone = true
    if (this.#parts.hasRuns()) return
    const calls = `HTTP calls to ${this.#host} are among the spans, but no agent run or model call is.`
    const cure =
      'Add an instrumentation that records them (docs/instrumentations.md); HTTP spans alone cannot be scored.'
    this.#parts.reporter.notify('SPANSCORE_NO_RUNS', `${calls} ${cure}`)
  }
}

/** The model provider that an HTTP client's span went to; `undefined` where it went elsewhere. */
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
