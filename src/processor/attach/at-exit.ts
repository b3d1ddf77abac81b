/** Called when the event loop has run dry: one listener for all processors of this copy of the package. */
const releases = new Set<() => void>()
let isListening = false

/** Calls `release` when the process is about to exit by itself; returns what takes that back. */
export function atExit(release: () => void): () => void {
  releases.add(release)
  if (!isListening) {
    isListening = true
    process.on('beforeExit', () => {
      for (const each of releases) each()
    })
  }
  return () => releases.delete(release)
}
