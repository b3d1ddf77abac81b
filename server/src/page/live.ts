import type { Ingest } from './ingest.ts'
import type { ApiAnswer } from './page-server.ts'

/** How often, at most, a page gets an event. */
const EVERY_MS = 250

/** A comment keeps the connection from being given up while nothing happens. */
const ALIVE_MS = 15_000

/** Server-sent events: each says that what the page shows has changed. What changed is asked for as everything else is. */
export function followChanges(ingest: Ingest, signal: AbortSignal): ApiAnswer {
  return {
    type: 'text/event-stream',
    write: (line) =>
      new Promise((resolve) => {
        let seen = -1
        let quietMs = 0
        const look = (): void => {
          if (ingest.changes !== seen) {
            seen = ingest.changes
            quietMs = 0
            void line(`event: changed\ndata: ${JSON.stringify({ changes: seen, open: ingest.openCount })}\n\n`)
          } else if ((quietMs += EVERY_MS) >= ALIVE_MS) {
            quietMs = 0
            void line(': alive\n\n')
          }
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
