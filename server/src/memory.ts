import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

const MEBIBYTE = 1024 * 1024

/** What the page's thread may take, in MiB. */
export interface PageMemory {
  /** Its heap. */
  readonly heapMiB: number
  /** The cache of its database. */
  readonly cacheMiB: number
  /** Spans on their way to it. */
  readonly waitingMiB: number
}

/** The page holds a large trace in this heap. It needs no more, however much memory there is. */
const MOST_HEAP_MIB = 384
const MOST_CACHE_MIB = 64
const MOST_WAITING_MIB = 64

/** With less memory, a burst of runs may end a service with a page. */
const LEAST_WITH_PAGE_MIB = 512

/** The memory of the process in MiB: that of its container if it has a limit, or else of the machine. */
export function processMemoryMiB(): number {
  // Without a limit, the system has a number above what there is.
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()) / MEBIBYTE
}

/** The page's part of the memory, and of the heap that Node.js gives to a thread. */
export function pageMemory(
  memoryMiB: number = processMemoryMiB(),
  heapMiB: number = getHeapStatistics().heap_size_limit / MEBIBYTE,
): PageMemory {
  return {
    heapMiB: Math.floor(Math.min(MOST_HEAP_MIB, memoryMiB / 4, heapMiB)),
    cacheMiB: Math.floor(Math.min(MOST_CACHE_MIB, memoryMiB / 16)),
    waitingMiB: Math.floor(Math.min(MOST_WAITING_MIB, memoryMiB / 16)),
  }
}

/** What the operator should know about the memory; `undefined` if there is enough. */
export function describeLackOfMemory(memoryMiB: number = processMemoryMiB()): string | undefined {
  return memoryMiB >= LEAST_WITH_PAGE_MIB
    ? undefined
    : `--page: expected at least ${LEAST_WITH_PAGE_MIB} MiB of memory, got ${Math.floor(memoryMiB)} MiB. A burst of runs may end the service, and lose nothing; give the container more, or leave --page out.`
}
