import type { HeldSpan } from './held-span.ts'

/** Above this share of the held spans, services give way of which more spans wait than of others. */
const CROWDED_SHARE = 0.5

/** What services with equal shares may hold together. The rest is for spans that arrive meanwhile. */
const SHARED = 0.8

/** How many spans of each service wait to be scored, so that spans of one whose parents never come do not hold the room of all. */
export class WaitingSpans {
  readonly #byService = new Map<unknown, number>()

  /** Must be called when a span begins to wait. */
  add({ resource }: HeldSpan): void {
    const name = resource['service.name']
    this.#byService.set(name, (this.#byService.get(name) ?? 0) + 1)
  }

  /** Must be called when a span is scored, or no longer needed. */
  remove({ resource }: HeldSpan): void {
    const name = resource['service.name']
    const left = (this.#byService.get(name) ?? 0) - 1
    if (left > 0) this.#byService.set(name, left)
    else this.#byService.delete(name)
  }

  /** How many spans of a service wait. */
  of(service: unknown): number {
    return this.#byService.get(service) ?? 0
  }

  /** Whether a span's service has more than its share, while the room is crowded. */
  hasTooMany({ resource }: HeldSpan, held: number, maxSpans: number): boolean {
    if (held <= maxSpans * CROWDED_SHARE) return false
    return this.of(resource['service.name']) * this.#byService.size > maxSpans * SHARED
  }
}
