import { createHash } from 'node:crypto'

/** Identifies the configuration that a job was written with, by the text of its file. */
export function jobConfigHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
