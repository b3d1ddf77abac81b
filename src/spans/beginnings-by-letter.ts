/** One beginning, and the positions of its owners. */
interface Beginning {
  readonly text: string
  readonly owners: number[]
}

/**
 * Beginnings of keys and names by the code of their first letter, which is ASCII: one look-up excludes most keys of ordinary spans
 * (`http.…`, `url.…`, `db.…`).
 */
export class BeginningsByLetter {
  readonly #table: (Beginning[] | undefined)[] = Array.from({ length: 128 })

  /** @param ofOwners the beginnings of each owner */
  constructor(ofOwners: readonly (readonly string[])[]) {
    for (const [owner, beginnings] of ofOwners.entries()) for (const text of beginnings) this.#add(text, owner)
  }

  /** Sets 1 in `marks` at the position of each owner of a beginning of the text. Returns whether there are any. */
  markOwners(text: string, marks: Uint8Array): boolean {
    const beginnings = this.#table[text.charCodeAt(0)]
    if (beginnings === undefined) return false
    let isMarked = false
    for (const beginning of beginnings) {
      if (!text.startsWith(beginning.text)) continue
      isMarked = true
      for (const owner of beginning.owners) marks[owner] = 1
    }
    return isMarked
  }

  /** Whether a text has one of the beginnings. */
  has(text: string): boolean {
    const beginnings = this.#table[text.charCodeAt(0)]
    return beginnings !== undefined && beginnings.some((beginning) => text.startsWith(beginning.text))
  }

  /** Whether undecoded text, from `start` to before `end`, has one of the beginnings. */
  begin(bytes: Uint8Array, start: number, end: number): boolean {
    if (start >= end) return false
    const beginnings = this.#table[bytes[start] ?? 0]
    if (beginnings === undefined) return false
    for (const { text } of beginnings) if (bytesBeginWith(bytes, start, end, text)) return true
    return false
  }

  #add(text: string, owner: number): void {
    const ofLetter = (this.#table[text.charCodeAt(0)] ??= [])
    const known = ofLetter.find((beginning) => beginning.text === text)
    if (known === undefined) ofLetter.push({ text, owners: [owner] })
    else known.owners.push(owner)
  }
}

/** Beginnings are ASCII, so one byte is one character. */
function bytesBeginWith(bytes: Uint8Array, start: number, end: number, beginning: string): boolean {
  if (end - start < beginning.length) return false
  for (let index = 0; index < beginning.length; index++) {
    if (bytes[start + index] !== beginning.charCodeAt(index)) return false
  }
  return true
}
