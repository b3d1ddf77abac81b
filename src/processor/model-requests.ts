import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { isSpanContextValid, trace, TraceFlags } from '@opentelemetry/api'

import { isIsolated } from '../scoring/isolation.ts'
import { callingLibrary, stackOfCaller } from './notices/model-libraries.ts'

/** The diagnostics channels for requests of `fetch` (undici) and `node:http`. */
const CHANNELS = ['undici:request:create', 'http.client.request.start'] as const

/** Paths of model requests: OpenAI and compatible APIs, Anthropic, Gemini and Bedrock. */
const MODEL_PATH =
  /\/chat\/completions(?:\?|$)|^\/v1\/(?:responses|messages)(?:\?|$)|:(?:stream)?generateContent(?:\?|$)|^\/model\/[^/]+\/(?:converse|invoke)/i

/** Longer paths and header values are not checked. */
const LONGEST_TEXT = 2000

/** A request to a model. */
export interface ModelRequest {
  readonly host: string
  /** The package that sends it; absent if it is none that we know. */
  readonly library?: string
  /** Whether it is made within a trace that the tracer's sampler, or the caller's, left out. */
  readonly isSampledOut?: boolean
}

/**
 * Calls back with each model request of the application, traced or not. The judges of spanscore are ignored.
 *
 * @param onRequest must not throw
 * @returns a function that stops watching; it may be called more than once
 */
export function watchModelRequests(onRequest: (request: ModelRequest) => void): () => void {
  // An error in a subscriber would be an uncaught exception of the application.
  const look = (message: unknown): void => {
    try {
      const host = isIsolated() ? undefined : modelHostOf(message)
      if (host === undefined) return
      const library = callingLibrary(stackOfCaller(), userAgentOf(message))
      onRequest({ host, ...(library !== undefined && { library }), isSampledOut: isSampledOut() })
    } catch {}
  }
  for (const channel of CHANNELS) subscribe(channel, look)
  return () => {
    for (const channel of CHANNELS) unsubscribe(channel, look)
  }
}

/** Whether the active span is one that a sampler left out. The API has no other way to see such a span. */
function isSampledOut(): boolean {
  const span = trace.getActiveSpan()
  if (span === undefined || span.isRecording()) return false
  const context = span.spanContext()
  return isSpanContextValid(context) && (context.traceFlags & TraceFlags.SAMPLED) === 0
}

/** The host of a request to a model; `undefined` for other requests. */
function modelHostOf(message: unknown): string | undefined {
  const request: unknown = property(message, 'request')
  const path = property(request, 'path')
  if (typeof path !== 'string' || path.length > LONGEST_TEXT || !MODEL_PATH.test(path)) return undefined
  const origin = property(request, 'origin') ?? property(request, 'host')
  const host = String(origin).replace(/^\w+:\/\/(?:[^/@]*@)?/, '')
  return host.slice(0, 100)
}

/** The header `user-agent`. A request of undici has its headers as a list or as text, one of `node:http` as an object. */
function userAgentOf(message: unknown): string {
  const request: unknown = property(message, 'request')
  const getHeader = property(request, 'getHeader')
  if (typeof getHeader === 'function') return textOf(Reflect.apply(getHeader, request, ['user-agent']))
  const headers: unknown = property(request, 'headers')
  if (typeof headers === 'string') return textOf(/^user-agent: *(.*)$/im.exec(headers.slice(0, 10 * LONGEST_TEXT))?.[1])
  if (!Array.isArray(headers)) return ''
  const names: readonly unknown[] = headers
  const at = names.findIndex((name, index) => index % 2 === 0 && String(name).toLowerCase() === 'user-agent')
  return at === -1 ? '' : textOf(names[at + 1])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : ''
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
