import type { ArchiveEntry, Position } from './archive-entry.ts'

/** The position of each entry, by trace, in typed arrays of 29 bytes per entry. */
export class ArchiveIndex {
  #count = 0
  /** The last 52 bits of the trace id. Traces that share them are separated on reading. */
  #traceKeys = new Float64Array(1024)
  #startTimesMs = new Float64Array(1024)
  #offsets = new Float64Array(1024)
  #lengths = new Uint32Array(1024)
  #recognised = new Uint8Array(1024)

  add(entry: ArchiveEntry, position: Position): void {
    if (this.#count === this.#traceKeys.length) this.#grow()
    const traceId = entry.span?.traceId ?? entry.log?.traceId ?? ''
    this.#traceKeys[this.#count] = Number.parseInt(traceId.slice(-13), 16) || 0
    this.#startTimesMs[this.#count] = entry.span?.startTimeMs ?? Number.POSITIVE_INFINITY
    this.#offsets[this.#count] = position.offset
    this.#lengths[this.#count] = position.length
    this.#recognised[this.#count] = entry.isRecognised ? 1 : 0
    this.#count++
  }

  /** The positions of each trace with a recognised span, earliest trace first, in order of arrival. */
  *groups(): Generator<Position[]> {
    const order = new Uint32Array(this.#count).map((_, index) => index)
    const keys = this.#traceKeys
    order.sort((left, right) => (keys[left] ?? 0) - (keys[right] ?? 0) || left - right)
    // The groups are in typed arrays, too, because there may be millions of traces.
    const firsts = new Uint32Array(order.length)
    const ends = new Uint32Array(order.length)
    const startTimesMs = new Float64Array(order.length)
    let groups = 0
    for (let first = 0; first < order.length;) {
      let end = first
      let startTimeMs = Number.POSITIVE_INFINITY
      let isRecognised = false
      const key = keys[order[first] ?? 0]
      for (; end < order.length && keys[order[end] ?? 0] === key; end++) {
        startTimeMs = Math.min(startTimeMs, this.#startTimesMs[order[end] ?? 0] ?? startTimeMs)
        isRecognised ||= this.#recognised[order[end] ?? 0] === 1
      }
      if (isRecognised) {
        firsts[groups] = first
        ends[groups] = end
        startTimesMs[groups] = startTimeMs
        groups++
      }
      first = end
    }
    const byStart = new Uint32Array(groups).map((_, group) => group)
    // Two traces of log records alone have no start, and the difference of their starts is not a number.
    byStart.sort((left, right) => (startTimesMs[left] ?? 0) - (startTimesMs[right] ?? 0) || left - right)
    for (const group of byStart) {
      yield Array.from(order.subarray(firsts[group], ends[group]), (index) => ({
        offset: this.#offsets[index] ?? 0,
        length: this.#lengths[index] ?? 0,
      }))
    }
  }

  #grow(): void {
    const size = this.#count * 2
    this.#traceKeys = copyOf(this.#traceKeys, new Float64Array(size))
    this.#startTimesMs = copyOf(this.#startTimesMs, new Float64Array(size))
    this.#offsets = copyOf(this.#offsets, new Float64Array(size))
    this.#lengths = copyOf(this.#lengths, new Uint32Array(size))
    this.#recognised = copyOf(this.#recognised, new Uint8Array(size))
  }
}

function copyOf<T extends Float64Array | Uint32Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}
