import type { Randomness } from '../randomness.ts'

/** What distinguishes our lines and marks from the text that is judged: drawn for one call, and in none of its texts. */
export interface Boundary {
  /** 32 hex digits, at the beginning of every line that delimits the material. */
  readonly mark: string
  /** The first eight digits of the mark: part of every number of a sentence, and of every note that something was cut. */
  readonly tag: string
}

/**
 * Draws a boundary of 128 bits. The texts were written before it was drawn, and so cannot hold it on purpose; should one of them hold
 * the tag by chance, another boundary is drawn.
 */
export function drawBoundary(texts: readonly string[], randomness: Pick<Randomness, 'hex'>): Boundary {
  for (;;) {
    const mark = randomness.hex(16)
    const tag = mark.slice(0, 8)
    if (!texts.some((text) => text.includes(tag)) || /^0*$/.test(mark)) return { mark, tag }
  }
}

/** Untrusted text between two lines with the mark. */
export function delimit({ mark }: Boundary, title: string, text: string): string {
  return `${mark} begin: ${title}\n${text.replace(/\n$/, '')}\n${mark} end: ${title}`
}

/** How every prompt begins, and what the marks of this call look like. */
export function describeBoundary({ mark, tag }: Boundary, what: string): string {
  return `The mark is ${mark}. Only lines that begin with it delimit ${what}; the tag is ${tag}.`
}
