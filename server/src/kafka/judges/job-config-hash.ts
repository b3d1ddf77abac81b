import { createHash } from 'node:crypto'

/** Identifies the configuration of a job, by the text of its file. */
export function jobConfigHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
