import { MAX_RECORD_BYTES } from './byte-source.ts'
import type { OtlpRecord } from './otlp-record.ts'

/** The lines of a document whose brackets are still open. */
export class PendingDocument {
  #lines: string[] = []
  #bytes = 0
  #depth = 0
  #firstLine = 0

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  get isList(): boolean {
    return this.#lines[0]?.trimStart().startsWith('[') === true
  }

  /** Returns `closed` when the document has ended or turned out to be invalid. */
  add(line: string, lineNumber: number): 'open' | 'closed' {
    if (this.isEmpty) this.#firstLine = lineNumber
    this.#lines.push(line)
    this.#bytes += line.length + 1
    this.#depth += depthChange(line)
    // NaN means that a line ends inside a string.
    return this.#depth > 0 && !this.#isTooLong ? 'open' : 'closed'
  }

  toRecord(): OtlpRecord {
    const value = this.#isTooLong ? undefined : tryParse(this.#lines.join('\n'))
    return value === undefined ? this.toDamaged() : { kind: 'json', value, place: this.#place }
  }

  toDamaged(): OtlpRecord {
    const reason = this.#isTooLong
      ? `a document longer than ${MAX_RECORD_BYTES} bytes`
      : reasonOf(this.#lines.join('\n'))
    return { kind: 'damaged', reason, place: this.#place }
  }

  clear(): void {
    this.#lines = []
    this.#bytes = 0
    this.#depth = 0
  }

  get #isTooLong(): boolean {
    return this.#bytes > MAX_RECORD_BYTES
  }

  get #place(): string {
    const lastLine = this.#firstLine + this.#lines.length - 1
    return lastLine === this.#firstLine ? `line ${lastLine}` : `lines ${this.#firstLine}-${lastLine}`
  }
}

/** How many more brackets a line opens than it closes; NaN if it ends inside a string. */
function depthChange(line: string): number {
  let depth = 0
  let inString = false
  for (let index = 0; index < line.length; index++) {
    const character = line.charCodeAt(index)
    if (inString) {
      if (character === 92) index++
      else if (character === 34) inString = false
    } else if (character === 34) inString = true
    else if (character === 123 || character === 91) depth++
    else if (character === 125 || character === 93) depth--
  }
  return inString ? Number.NaN : depth
}

/** The value of a JSON text; `undefined` if it is invalid. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The parser's message without its excerpt, because the file's content may be confidential. */
function reasonOf(text: string): string {
  try {
    JSON.parse(text)
    return 'not a JSON document'
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const position = /position (\d+)/.exec(message)?.[1]
    const isAtEnd = position !== undefined && Number(position) >= text.trimEnd().length
    if (isAtEnd || /end of JSON input|Unterminated/.test(message)) return 'the JSON is cut off'
    return position === undefined ? 'not valid JSON' : `not valid JSON at character ${Number(position) + 1}`
  }
}
