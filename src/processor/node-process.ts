import type { Reporter } from './run/reporter.ts'

/** What `package.json` says under `engines`. */
const NEEDED = [22, 15] as const

/** What is wrong with the version of Node.js that this runs on, and what to do; `undefined` where nothing is. */
export function complainOfNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const isEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
  if (isEnough) return undefined
  return `Expected Node.js ${NEEDED.join('.')} or later, got ${version}. Start with a newer Node.js; runs may stay without scores.`
}

/** Says that Node.js is too old, where it is. */
export function reportOldNode(version: string, reporter: Reporter): void {
  const complaint = complainOfNode(version)
  if (complaint !== undefined) reporter.notify('SPANSCORE_NODE_VERSION', complaint)
}

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
