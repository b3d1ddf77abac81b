/** A piece of the judged run. It is untrusted, and only shown between marks. */
export interface Section {
  /** Trusted: a name that we choose, such as `the user's request`. */
  readonly title: string
  /** Untrusted. */
  readonly text: string
}

/**
 * What a text is, by which the least important is cut first: `result` of a call or a retrieved document, `argument` of a call, `message` of an
 * earlier turn, `instructions`, and `judged`: request, answer, and whatever else the questions are about.
 */
export type Cut = 'result' | 'argument' | 'message' | 'instructions' | 'judged'

/** A piece of text, and how it may be cut. Names and outcomes have no `cut` and are never cut, because questions refer to them. */
export interface Fragment {
  readonly text: string
  readonly cut?: Cut
  /** How many turns ago it was written. Of texts with the same `cut`, the oldest are cut first. @default 0 */
  readonly age?: number
  /** Show this only in prompts that ask about this id. It would not fit if shown for all ids. */
  readonly about?: string | undefined
  /** What the text is called in the material, if a score must say that it was cut: `call_3`. */
  readonly label?: string | undefined
  /** UTF-8 bytes that were already cut out of the middle of the text. @default 0 */
  readonly cutBytes?: number
}

/** A section before the available space is known. */
export interface SectionDraft {
  readonly title: string
  readonly fragments: readonly Fragment[]
}

/**
 * UTF-8 bytes of the uncut sections.
 *
 * @param most stops counting above this
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
