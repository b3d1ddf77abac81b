import type { DecodedAgain } from 'spanscore/engine'

/**
 * The body from which a request's spans and log records are decoded again when their run is complete. It stays in memory while any of them
 * holds it: bytes cost the garbage collector nothing while they wait.
 */
export interface RecordBody {
  /** Protobuf, decompressed. */
  readonly bytes: Uint8Array
  /** How many spans and log records hold it. */
  holders: number
  /** Whether nothing else uses these bytes, so that their memory is freed once nothing holds them. */
  readonly isOwn?: boolean
  /** Decodes them, once that was requested. */
  again?: DecodedAgain
}

/** The body of a record, with the start and end of each span and log record in it, by index. */
export interface RecordBytes {
  readonly body: RecordBody
  readonly places: readonly number[]
}

/**
 * Frees the memory of a body, unless something holds it or shares its bytes. It must not be read afterwards. Otherwise its memory would be
 * in use until the garbage collector finds it, and V8 starts to mark the whole heap whenever 64 MiB of such memory were allocated: under
 * load, that took more than a tenth of the processor time.
 */
export function releaseBody({ bytes, holders, isOwn }: RecordBody): void {
  const { buffer } = bytes
  if (holders > 0 || isOwn !== true || !(buffer instanceof ArrayBuffer) || buffer.detached) return
  // Small buffers share a pool.
  if (buffer.byteLength > Buffer.poolSize) buffer.transfer(0)
}
