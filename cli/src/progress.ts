import type { OutputStream } from './output.ts'

/** Settings of `createProgress`. */
export interface ProgressOptions {
  /** Where the bar is drawn. */
  readonly stream: OutputStream
  /** The size of the input in bytes; `undefined` if it is not known, as for standard input. */
  readonly totalBytes: number | undefined
  /** Milliseconds of a clock that does not jump. @default performance.now */
  readonly now?: () => number
}

/** A progress display. */
export interface Progress {
  /** Draws the bar, ten times a second at most. */
  update(bytesRead: number): void
  /** Shows a line of text in place of the bar, ten times a second at most. */
  show(text: () => string): void
  /** Removes the bar. */
  clear(): void
}

const BAR_COLUMNS = 30
const MIN_INTERVAL_MS = 100
const MEBIBYTE = 1024 * 1024

/** Creates a bar on one line of a terminal. On other streams it shows nothing. */
export function createProgress({ stream, totalBytes, now = () => performance.now() }: ProgressOptions): Progress {
  if (stream.isTTY !== true) return { update: () => {}, show: () => {}, clear: () => {} }
  let drawnAtMs = now()
  let isDrawn = false
  const show = (text: () => string): void => {
    const nowMs = now()
    if (nowMs - drawnAtMs < MIN_INTERVAL_MS) return
    drawnAtMs = nowMs
    isDrawn = true
    stream.write(`\r${text()}\u001B[K`)
  }
  return {
    update: (bytesRead) => show(() => toBar(bytesRead, totalBytes)),
    show,
    clear() {
      if (isDrawn) stream.write('\r\u001B[K')
      isDrawn = false
    },
  }
}

function toBar(bytesRead: number, totalBytes: number | undefined): string {
  const read = `${Math.round(bytesRead / MEBIBYTE)} MiB`
  if (totalBytes === undefined || totalBytes === 0) return `reading ${read}`
  const ratio = Math.min(1, bytesRead / totalBytes)
  const filled = Math.round(ratio * BAR_COLUMNS)
  const percent = `${Math.round(ratio * 100)}`.padStart(3)
  return `reading ${'█'.repeat(filled)}${'░'.repeat(BAR_COLUMNS - filled)} ${percent} % of ${Math.round(totalBytes / MEBIBYTE)} MiB`
}
