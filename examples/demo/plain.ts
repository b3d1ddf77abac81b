import { stripVTControlCharacters } from 'node:util'

/** Longer texts are cut. The whole text is in the traces. */
const MOST_CHARACTERS = 4000

/**
 * Converts text of spans, which is untrusted, to one line that is safe to print, without escape sequences, control characters and
 * marks that change the text direction.
 */
export function plain(text: string, mostCharacters: number = MOST_CHARACTERS): string {
  const shown = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
  return stripVTControlCharacters(shown.toWellFormed())
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
