/**
 * Draws the mark of one call: 12 hex digits that begin the lines around quoted texts. The texts were written before it was drawn, so none
 * can contain it on purpose; if one does by chance, another is drawn.
 *
 * @param randomHex returns the hex digits of that many random bytes
 */
export function drawMark(texts: readonly string[], randomHex: (bytes: number) => string): string {
  for (;;) {
    const mark = randomHex(6)
    if (!texts.some((text) => text.includes(mark))) return mark
  }
}

/** Puts untrusted text between two lines with the mark. */
export function quote(mark: string, title: string, text: string): string {
  return `${mark} begin: ${title}\n${text.replace(/\n$/, '')}\n${mark} end`
}
