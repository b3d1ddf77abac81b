import type { RecordBody } from './span-log.ts'

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
