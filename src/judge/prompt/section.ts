/** A piece of what is judged. Untrusted, all of it: it is shown inside the boundary and nowhere else. */
export interface Section {
  /** Trusted: a name that we give, such as `the user's request`. */
  readonly title: string
  /** Untrusted. */
  readonly text: string
}

/**
 * A piece of text, and when it may be cut: `first`, payloads; `last`, what the judgement is about; left out, never: names and
 * outcomes, without which a question would ask about something that is not shown.
 */
export interface Fragment {
  readonly text: string
  readonly cut?: 'first' | 'last'
  /** Only shown in a prompt that asks about this id: what would not fit if it were shown for all of them. */
  readonly about?: string | undefined
  /** UTF-8 bytes that were cut out of the middle of the text before. @default 0 */
  readonly cutBytes?: number
  /** Replaced by the id under which the question of this name is shown, and a colon. */
  readonly idOf?: string
}

/** A section before it is known how much space there is. */
export interface SectionDraft {
  readonly title: string
  readonly fragments: readonly Fragment[]
}

/**
 * UTF-8 bytes of the sections as they are, uncut.
 *
 * @param most Texts are counted until they come to more than this.
 */
export function bytesOf(drafts: readonly SectionDraft[], most: number = Number.POSITIVE_INFINITY): number {
  let total = 0
  for (const { fragments } of drafts) {
    for (const fragment of fragments) {
      total += Buffer.byteLength(fragment.text)
      if (total > most) return total
    }
  }
  return total
}

/** The texts of the sections, fragment by fragment. */
export function textsOf(drafts: readonly SectionDraft[]): string[] {
  return drafts.flatMap(({ fragments }) => fragments.map(({ text }) => text))
}
