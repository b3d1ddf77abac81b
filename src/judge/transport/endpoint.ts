import { BoundedMap } from '../../spans/bounded-map.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { CallError } from './call-error.ts'

/** Whether a call may be sent now, has to wait, or should not be sent at all. */
export type CallPermission =
  | { readonly state: 'go' }
  | { readonly state: 'wait'; readonly ms: number }
  | { readonly state: 'open'; readonly untilMs: number; readonly why: Explanation }

const FIRST_OPEN_MS = 60_000
const LONGEST_OPEN_MS = 30 * 60_000
/** As many failed calls as two scores make: the server is probably down, and more calls only cost time. */
const FAILURES_TO_OPEN = 8
/** How long other calls wait while one call probes the server. */
const PROBE_MS = 30_000
const SLOWEST_INTERVAL_MS = 10_000
const FASTEST_INTERVAL_MS = 20

/**
 * The state of one model at one server, shared by all scorers that use it: a circuit breaker and a rate limiter.
 *
 * The circuit opens at the first failure that a retry cannot fix (a refused key, an empty account, an unknown model), and after eight
 * consecutive failures of any other kind. When its time is over it lets one call through; if that fails too, it stays open twice as long.
 * Every 429 doubles the interval between calls, and every success shortens it by a tenth until it is gone.
 */
export class Endpoint {
  /** Settings that the server refused, which are no longer sent. */
  readonly dropped: Set<'temperature' | 'schema'> = new Set()
  #openUntilMs = 0
  #openForMs = FIRST_OPEN_MS
  /** Why the circuit is open; `undefined` while it is closed. */
  #why: Explanation | undefined
  #failures = 0
  #intervalMs = 0
  #nextMs = 0

  /** Whether a call may be sent; `go` reserves its slot. */
  admit(nowMs: number): CallPermission {
    if (this.#why !== undefined) {
      if (nowMs < this.#openUntilMs) return { state: 'open', untilMs: this.#openUntilMs, why: this.#why }
      this.#openUntilMs = nowMs + PROBE_MS
    }
    if (nowMs < this.#nextMs) return { state: 'wait', ms: this.#nextMs - nowMs }
    this.#nextMs = nowMs + this.#intervalMs
    return { state: 'go' }
  }

  /** Why nothing is asked now, or was not until a call that is under way; `undefined` if the server works. */
  get trouble(): string | undefined {
    return this.#why?.withoutContent
  }

  /** Records a reply, whatever it says. */
  succeeded(): void {
    this.#failures = 0
    this.#why = undefined
    this.#openForMs = FIRST_OPEN_MS
    const next = this.#intervalMs * 0.9
    this.#intervalMs = next < FASTEST_INTERVAL_MS ? 0 : next
  }

  /** Records a failed call. */
  failed(error: CallError, nowMs: number): void {
    if (error.drop !== undefined) {
      this.dropped.add(error.drop)
      return
    }
    if (error.rateLimited) {
      this.#intervalMs = Math.min(SLOWEST_INTERVAL_MS, Math.max(250, this.#intervalMs * 2))
      this.#nextMs = Math.max(this.#nextMs, nowMs + (error.waitMs ?? this.#intervalMs))
      return
    }
    this.#failures += 1
    const probeFailed = this.#why !== undefined
    if (!error.opensCircuit && !probeFailed && this.#failures < FAILURES_TO_OPEN) return
    if (probeFailed) this.#openForMs = Math.min(LONGEST_OPEN_MS, this.#openForMs * 2)
    this.#openUntilMs = nowMs + this.#openForMs
    this.#why = error.message
  }
}

const byInstance = new WeakMap<object, Endpoint>()
/** More servers than anybody uses. Forgetting one costs at most one call. */
const byKey = new BoundedMap<string, Endpoint>(1000)

/** Returns the endpoint for a connection's key. */
export function endpointOf(key: object | string): Endpoint {
  if (typeof key === 'object') {
    const known = byInstance.get(key) ?? new Endpoint()
    byInstance.set(key, known)
    return known
  }
  const known = byKey.get(key) ?? new Endpoint()
  byKey.set(key, known)
  return known
}
