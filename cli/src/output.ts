import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

import { UsageError } from './usage-error.ts'

/** Names of colours and styles. */
export type Format = Parameters<typeof styleText>[0]

/** A stream that may be a terminal. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Colours a text, or returns it unchanged. */
export type Paint = (format: Format, text: string) => string

/** Colours text on a terminal only, and never if `NO_COLOR` is set (https://no-color.org). */
export function createPaint(stream: OutputStream, environment: Readonly<Record<string, string | undefined>>): Paint {
  const hasColour = stream.isTTY === true && (environment.NO_COLOR ?? '') === '' && environment.TERM !== 'dumb'
  return hasColour ? (format, text) => styleText(format, text, { validateStream: false }) : (_format, text) => text
}

/**
 * Makes the folder of a file that an option names, if it is not there.
 *
 * @throws UsageError if that is not possible
 */
export function makeFolderOf(option: string, file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
  } catch (error) {
    throw new UsageError(`${option}: cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Writes a text, and waits for the stream to drain if necessary. */
export async function write(stream: OutputStream, text: string | Uint8Array): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}
