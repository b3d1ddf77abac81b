import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** One resource with the spans or log records of one trace, as they came. */
interface ScopePart {
  /** Fields of the scope entry beside the records: the scope and its schema URL. */
  readonly frame: readonly Uint8Array[]
  readonly records: Uint8Array[]
}

interface ResourcePart {
  /** Fields of the resource entry beside the scopes: the resource and its schema URL. */
  readonly frame: readonly Uint8Array[]
  readonly scopes: Map<number, ScopePart>
}

/** Where the trace id of a record is: field 1 of a span, field 9 of a log record. */
const TRACE_ID_FIELD = { traces: 1, logs: 9 } as const

/**
 * Takes an OTLP export request in protobuf apart by trace, without decoding the spans: each part is a request of its own, and
 * together they hold every record that has a trace id. Unknown fields are kept.
 *
 * @throws RangeError where the bytes are no protobuf message
 */
export function splitProtobuf(body: Uint8Array, signal: 'traces' | 'logs'): ReadonlyMap<string, Uint8Array> {
  const byTrace = new Map<string, Map<number, ResourcePart>>()
  for (const [resourceIndex, entry] of entriesOf(body, 1).entries.entries()) {
    const { entries: scopes, frame: resourceFrame } = entriesOf(entry, 2)
    for (const [scopeIndex, scope] of scopes.entries()) {
      const { entries: records, frame } = entriesOf(scope, 2)
      for (const record of records) {
        const traceId = traceIdOf(record, TRACE_ID_FIELD[signal])
        if (traceId === undefined) continue
        const resources = getOrAdd(byTrace, traceId, () => new Map<number, ResourcePart>())
        const resource = getOrAdd(resources, resourceIndex, () => ({ frame: resourceFrame, scopes: new Map() }))
        getOrAdd(resource.scopes, scopeIndex, () => ({ frame, records: [] })).records.push(record)
      }
    }
  }
  if (byTrace.size === 1) return new Map([...byTrace.keys()].map((traceId) => [traceId, body]))
  return new Map([...byTrace].map(([traceId, resources]) => [traceId, write(resources)]))
}

/** The entries of a repeated message field, and the bytes of all other fields as they are. */
function entriesOf(
  bytes: Uint8Array,
  listField: number,
): { readonly entries: Uint8Array[]; readonly frame: Uint8Array[] } {
  const reader = new BinaryReader(bytes)
  const entries: Uint8Array[] = []
  const frame: Uint8Array[] = []
  while (reader.pos < reader.len) {
    const start = reader.pos
    const [field, wireType] = reader.tag()
    if (field === listField && wireType === WireType.LengthDelimited) {
      entries.push(reader.bytes())
      continue
    }
    reader.skip(wireType, field)
    frame.push(bytes.subarray(start, reader.pos))
  }
  return { entries, frame }
}

function traceIdOf(record: Uint8Array, traceIdField: number): string | undefined {
  const reader = new BinaryReader(record)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field === traceIdField && wireType === WireType.LengthDelimited) {
      const id = reader.bytes()
      return id.length === 16 && id.some((byte) => byte !== 0) ? Buffer.from(id).toString('hex') : undefined
    }
    reader.skip(wireType, field)
  }
  return undefined
}

function write(resources: ReadonlyMap<number, ResourcePart>): Uint8Array {
  const writer = new BinaryWriter()
  for (const { frame, scopes } of resources.values()) {
    writer.tag(1, WireType.LengthDelimited).fork()
    for (const bytes of frame) writer.raw(bytes)
    for (const scope of scopes.values()) {
      writer.tag(2, WireType.LengthDelimited).fork()
      for (const bytes of scope.frame) writer.raw(bytes)
      for (const record of scope.records) writer.tag(2, WireType.LengthDelimited).bytes(record)
      writer.join()
    }
    writer.join()
  }
  return writer.finish()
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}
