import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { isIsolated } from '../../scoring/isolation.ts'

/** The diagnostics channels for requests of `fetch` (undici) and `node:http`. */
const CHANNELS = ['undici:request:create', 'http.client.request.start'] as const

/** Paths of model requests: OpenAI and compatible APIs, Anthropic, Gemini and Bedrock. */
const MODEL_PATH =
  /\/chat\/completions(?:\?|$)|^\/v1\/(?:responses|messages)(?:\?|$)|:(?:stream)?generateContent(?:\?|$)|^\/model\/[^/]+\/(?:converse|invoke)/i

/** Longer paths are not checked. */
const LONGEST_PATH = 2000

/**
 * Calls back with the host of each model request of the application, traced or not. The judges of spanscore are ignored.
 *
 * @param onRequest must not throw
 * @returns a function that stops watching; it may be called more than once
 */
export function watchModelRequests(onRequest: (host: string) => void): () => void {
  // An error in a subscriber would be an uncaught exception of the application.
  const look = (message: unknown): void => {
    try {
      const host = isIsolated() ? undefined : modelHostOf(message)
      if (host !== undefined) onRequest(host)
    } catch {}
  }
  for (const channel of CHANNELS) subscribe(channel, look)
  return () => {
    for (const channel of CHANNELS) unsubscribe(channel, look)
  }
}

/** The host of a request to a model; `undefined` for other requests. */
function modelHostOf(message: unknown): string | undefined {
  const request: unknown = property(message, 'request')
  const path = property(request, 'path')
  if (typeof path !== 'string' || path.length > LONGEST_PATH || !MODEL_PATH.test(path)) return undefined
  const origin = property(request, 'origin') ?? property(request, 'host')
  const host = String(origin).replace(/^\w+:\/\/(?:[^/@]*@)?/, '')
  return host.slice(0, 100)
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
