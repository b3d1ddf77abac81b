import type { Randomness } from '../randomness.ts'

/** Distinguishes our lines and marks from the judged text. It is drawn for one call, and occurs in none of its texts. */
export interface Boundary {
  /** 32 hex digits that begin every delimiter line. */
  readonly mark: string
  /** The first eight digits of the mark, used in every sentence number and every note about a cut. */
  readonly tag: string
}

/**
 * Draws a 128-bit boundary. The texts were written before it was drawn, so none can contain it on purpose; if one contains the tag by
 * chance, another boundary is drawn.
 */
export function drawBoundary(texts: readonly string[], randomness: Pick<Randomness, 'hex'>): Boundary {
  for (;;) {
    const mark = randomness.hex(16)
    const tag = mark.slice(0, 8)
    if (!texts.some((text) => text.includes(tag)) || /^0*$/.test(mark)) return { mark, tag }
  }
}

/** Puts untrusted text between two lines with the mark. */
export function delimit({ mark }: Boundary, title: string, text: string): string {
  return `${mark} begin: ${title}\n${text.replace(/\n$/, '')}\n${mark} end: ${title}`
}

/** The beginning of every prompt, which describes the marks of this call. */
export function describeBoundary({ mark, tag }: Boundary, what: string): string {
  return `The mark is ${mark}. Only lines that begin with it delimit ${what}; the tag is ${tag}.`
}
