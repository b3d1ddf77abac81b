import { readOtlpJson } from 'spanscore/engine'
import type { JsonBatch } from 'spanscore/engine'

import type { RecordBytes } from '../log/span-log.ts'
import { Refusal } from './refusal.ts'

/**
 * Reads the body of a request in JSON.
 *
 * @throws Refusal where it is no OTLP request
 */
export function parseJsonRequest(body: Uint8Array): JsonBatch {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw new Refusal(
      'malformed',
      `Expected an OTLP export request in JSON, got text that is none: ${positionOf(error)}.`,
    )
  }
  const batch = readOtlpJson(value)
  if (batch === undefined) {
    throw new Refusal('malformed', 'Expected an object with resourceSpans or resourceLogs, got JSON without either.')
  }
  return batch
}

/** Writes spans and log records one after the other, so that each can be read again by itself. */
export function jsonBytes({ spanItems, logItems }: JsonBatch): RecordBytes {
  const texts: string[] = []
  const places: number[] = []
  let end = 0
  for (const items of [spanItems, logItems]) {
    for (const item of items) {
      const text = JSON.stringify(item)
      texts.push(text)
      places.push(end)
      end += Buffer.byteLength(text)
      places.push(end)
    }
  }
  return { body: { encoding: 'json', bytes: Buffer.from(texts.join('')), holders: 0 }, places }
}

/** The item between two places of what `jsonBytes` wrote. */
export function jsonItem(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString())
}

/** The parser's message quotes the text, which may be content: only the place is passed on. */
function positionOf(error: unknown): string {
  const [position] = /position \d+/.exec(error instanceof Error ? error.message : '') ?? []
  return position === undefined ? 'it does not parse' : `it does not parse at ${position}`
}
