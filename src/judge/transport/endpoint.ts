import { BoundedMap } from '../../spans/bounded-map.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { CallError } from './call-error.ts'

/** Whether a call may go out now, has to wait, or should not be made at all. */
export type CallPermission =
  | { readonly state: 'go' }
  | { readonly state: 'wait'; readonly ms: number }
  | { readonly state: 'open'; readonly untilMs: number; readonly why: Explanation }

const FIRST_OPEN_MS = 60_000
const LONGEST_OPEN_MS = 30 * 60_000
/** Two scores' worth of calls that all failed: the server is down, and asking on only costs time. */
const FAILURES_TO_OPEN = 8
/** While one call finds out whether the server is back, the others stay away. */
const PROBE_MS = 30_000
const SLOWEST_INTERVAL_MS = 10_000
const FASTEST_INTERVAL_MS = 20

/**
 * What is known of one model at one server, shared by all scorers that ask it: a circuit breaker, and a pace.
 *
 * The circuit opens at the first failure that no retry cures (a refused key, an empty account, a model that is not there), and after
 * eight failures in a row on anything else. It lets one call through when its time is over, and stays open twice as long each
 * time that call fails too. And it keeps a pace: every 429 doubles the interval between calls, every success shortens it
 * by a tenth, until none is left.
 */
export class Endpoint {
  /** Settings that the server refused; not sent again. */
  readonly dropped: Set<'temperature' | 'schema'> = new Set()
  #openUntilMs = 0
  #openForMs = FIRST_OPEN_MS
  /** Why the circuit is open; `undefined` while it is closed. */
  #why: Explanation | undefined
  #failures = 0
  #intervalMs = 0
  #nextMs = 0

  /** Whether a call may go out; `go` takes its place in the pace. */
  admit(nowMs: number): CallPermission {
    if (this.#why !== undefined) {
      if (nowMs < this.#openUntilMs) return { state: 'open', untilMs: this.#openUntilMs, why: this.#why }
      this.#openUntilMs = nowMs + PROBE_MS
    }
    if (nowMs < this.#nextMs) return { state: 'wait', ms: this.#nextMs - nowMs }
    this.#nextMs = nowMs + this.#intervalMs
    return { state: 'go' }
  }

  /** A reply came, whatever it says. */
  succeeded(): void {
    this.#failures = 0
    this.#why = undefined
    this.#openForMs = FIRST_OPEN_MS
    const next = this.#intervalMs * 0.9
    this.#intervalMs = next < FASTEST_INTERVAL_MS ? 0 : next
  }

  /** A call failed. */
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
/** For more servers than anybody asks. To forget one costs one call at most. */
const byKey = new BoundedMap<string, Endpoint>(1000)

/** The endpoint of a connection's key: the same for the same key. */
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
