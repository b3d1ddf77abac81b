import type { ShownRuns } from './ingest.ts'
import type { ApiAnswer } from './page-server.ts'

/** Shortest interval between events. */
const EVERY_MS = 250

/** Interval of events while nothing changes. A page without any for three times as long assumes that the service is gone. */
const ALIVE_MS = 5000

/**
 * Server-sent events. Each has the number of changes so far, so that a page reloads if the number differs, and whether the receiving thread
 * is stuck: this thread still answers if that one hangs.
 */
export function followChanges(runs: ShownRuns, isStuck: () => boolean, signal: AbortSignal): ApiAnswer {
  return {
    type: 'text/event-stream',
    write: (line) =>
      new Promise((resolve) => {
        let sent = ''
        let quietMs = 0
        const look = (): void => {
          const state = JSON.stringify({ changes: runs.changes, open: runs.openCount, isStuck: isStuck() })
          quietMs += EVERY_MS
          if (state === sent && quietMs < ALIVE_MS) return
          sent = state
          quietMs = 0
          void line(`data: ${state}\n\n`)
        }
        look()
        const timer = setInterval(look, EVERY_MS)
        signal.addEventListener('abort', () => {
          clearInterval(timer)
          resolve()
        })
      }),
  }
}
