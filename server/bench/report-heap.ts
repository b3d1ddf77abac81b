import { writeFileSync } from 'node:fs'

/**
 * Loaded into a measured service by `--import`. At SIGUSR2 it collects all garbage and writes the memory that is left, as JSON, to the file
 * that the query of its URL names.
 */
const file = new URL(import.meta.url).searchParams.get('to') ?? ''
process.on('SIGUSR2', () => {
  globalThis.gc?.()
  writeFileSync(file, JSON.stringify(process.memoryUsage()))
})
