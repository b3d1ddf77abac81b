import type { DueItem } from './due-times.ts'
import type { HeldLog, HeldSpan, SpanPlace } from './held-span.ts'
import { connect, createTrace } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'
import { addToUnit, createUnit } from './run-unit.ts'
import { heldSize } from './span-content.ts'

/** What spans of one process and library share. */
type Source = Pick<HeldSpan, 'sender' | 'resource' | 'scope'>

/**
 * A trace whose runs are all scored, while it waits for late spans. Most of what the service holds is in this state, and one object per
 * span, which every garbage collection visits, would cost more than scoring. A late span unpacks it.
 */
export interface PackedTrace extends DueItem {
  readonly traceId: string
  /** The ids of each span and its parent, `ID_LENGTH` characters each; spaces for a missing parent. */
  readonly ids: string
  /** `NUMBERS` values for each span, in the order of the units. */
  readonly spans: readonly number[]
  /** `UNIT_NUMBERS` values for each unit. */
  readonly units: readonly number[]
  readonly sources: readonly Source[]
  /** By the number of the span; most have none. */
  readonly logs: ReadonlyMap<number, readonly HeldLog[]> | undefined
  readonly isFlat: boolean
  readonly lacksSpans: boolean
  /** Time of the log until which it waits for late spans. */
  readonly lingersUntilMs: number
}

const ID_LENGTH = 16
const NO_ID = ' '.repeat(ID_LENGTH)

/** Flags, offset, index, start, end, start time, end time, source. */
const NUMBERS = 8

/** Number of spans, index of the top among them, first and last arrival time, and the time until which it waits. */
const UNIT_NUMBERS = 5

const IS_ANCHOR = 1
const IS_RECOGNISED = 2
const IS_FLAT = 4
const PARENT_IS_REMOTE = 8

/** Whether a trace can be packed, because it only waits for late spans. */
export function canBePacked({ units, looseLogs, isChanged }: HeldTrace): boolean {
  if (looseLogs.size > 0 || isChanged) return false
  for (const { state } of units) if (state !== 'emitted') return false
  return true
}

/** Packs a trace. Nothing else may reference its spans and units any more. */
export function packTrace(trace: HeldTrace): PackedTrace {
  const ids: string[] = []
  const spans: number[] = []
  const units: number[] = []
  const sources = new Sources()
  let logs: Map<number, readonly HeldLog[]> | undefined
  let lingersUntilMs = 0
  for (const unit of trace.units) {
    const { firstSeenMs, lastSeenMs } = unit
    units.push(unit.spans.length, unit.spans.indexOf(unit.top), firstSeenMs, lastSeenMs, unit.lingersUntilMs)
    lingersUntilMs = Math.max(lingersUntilMs, unit.lingersUntilMs)
    for (const span of unit.spans) {
      if (span.logs !== undefined) (logs ??= new Map()).set(ids.length / 2, span.logs)
      ids.push(span.spanId, span.parentSpanId ?? NO_ID)
      const { offset, index, start, end, startTimeMs, endTimeMs } = span
      spans.push(flagsOf(span), offset, index, start, end, startTimeMs, endTimeMs, sources.numberOf(span))
    }
  }
  const { traceId, isFlat, lacksSpans } = trace
  // A copy has no spare capacity.
  return {
    dueSlot: undefined,
    traceId,
    ids: ids.join(''),
    spans: spans.slice(),
    units,
    sources: sources.all,
    logs,
    isFlat,
    lacksSpans,
    lingersUntilMs,
  }
}

/** The unpacked trace. */
export function unpackTrace(packed: PackedTrace): HeldTrace {
  const trace = createTrace(packed.traceId)
  let number = 0
  for (let at = 0; at < packed.units.length; at += UNIT_NUMBERS) {
    const [count = 0, top = 0, firstSeenMs = 0, lastSeenMs = 0, lingersUntilMs = 0] = packed.units.slice(
      at,
      at + UNIT_NUMBERS,
    )
    const spans = Array.from({ length: count }, () => spanAt(packed, number++))
    const outermost = spans[top]
    if (outermost === undefined) continue
    const unit = createUnit(packed.traceId, outermost, firstSeenMs, 'emitted')
    unit.lingersUntilMs = lingersUntilMs
    outermost.unit = unit
    trace.units.add(unit)
    trace.lastSeenMs = Math.max(trace.lastSeenMs, lastSeenMs)
    for (const span of spans) {
      addToUnit(unit, span, lastSeenMs)
      trace.spans.set(span.spanId, span)
      trace.bytes += heldSize(span)
      connect(trace, span)
    }
  }
  trace.isFlat = packed.isFlat
  trace.lacksSpans = packed.lacksSpans
  trace.isChanged = false
  return trace
}

/** The number of spans in a packed trace. */
export function spanCountOf({ spans }: PackedTrace): number {
  return spans.length / NUMBERS
}

/** The number of units in a packed trace. */
export function unitCountOf({ units }: PackedTrace): number {
  return units.length / UNIT_NUMBERS
}

/** The positions on the log of a packed trace's spans, with their ids. */
export function* packedPlaces({
  ids,
  spans,
  logs,
}: PackedTrace): Generator<SpanPlace & { readonly spanId: string; readonly logs: readonly HeldLog[] | undefined }> {
  for (let number = 0; number * NUMBERS < spans.length; number++) {
    const at = number * NUMBERS
    yield {
      spanId: idAt(ids, 2 * number),
      offset: spans[at + 1] ?? 0,
      index: spans[at + 2] ?? 0,
      logs: logs?.get(number),
    }
  }
}

function spanAt({ ids, spans, sources, logs }: PackedTrace, number: number): HeldSpan {
  const at = number * NUMBERS
  const flags = spans[at] ?? 0
  const parentSpanId = idAt(ids, 2 * number + 1)
  const source = sources[spans[at + 7] ?? 0]
  if (source === undefined) throw new Error('Expected the source of a packed span, got none.')
  return {
    body: undefined,
    start: spans[at + 3] ?? 0,
    end: spans[at + 4] ?? 0,
    spanId: idAt(ids, 2 * number),
    parentSpanId: parentSpanId === NO_ID ? undefined : parentSpanId,
    parentIsRemote: (flags & PARENT_IS_REMOTE) !== 0,
    isAnchor: (flags & IS_ANCHOR) !== 0,
    isRecognised: (flags & IS_RECOGNISED) !== 0,
    isFlat: (flags & IS_FLAT) !== 0,
    startTimeMs: spans[at + 5] ?? 0,
    endTimeMs: spans[at + 6] ?? 0,
    sender: source.sender,
    resource: source.resource,
    scope: source.scope,
    offset: spans[at + 1] ?? 0,
    index: spans[at + 2] ?? 0,
    isEmitted: true,
    logs: logs?.get(number)?.slice(),
    parent: undefined,
    firstChild: undefined,
    nextSibling: undefined,
    leap: undefined,
    leapAnchor: undefined,
    unit: undefined,
  }
}

function idAt(ids: string, number: number): string {
  return ids.slice(number * ID_LENGTH, (number + 1) * ID_LENGTH)
}

function flagsOf({ isAnchor, isRecognised, isFlat, parentIsRemote }: HeldSpan): number {
  return (
    (isAnchor ? IS_ANCHOR : 0) +
    (isRecognised ? IS_RECOGNISED : 0) +
    (isFlat ? IS_FLAT : 0) +
    (parentIsRemote ? PARENT_IS_REMOTE : 0)
  )
}

/** The sources of a trace. Spans of one library in one request share these objects. */
class Sources {
  readonly all: Source[] = []
  readonly #numbers = new Map<Source['resource'], Map<Source['scope'], number>>()

  numberOf({ sender, resource, scope }: HeldSpan): number {
    let ofResource = this.#numbers.get(resource)
    if (ofResource === undefined) this.#numbers.set(resource, (ofResource = new Map()))
    let number = ofResource.get(scope)
    if (number === undefined) {
      number = this.all.push({ sender, resource, scope }) - 1
      ofResource.set(scope, number)
    }
    return number
  }
}
