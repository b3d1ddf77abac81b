import type { Randomness } from '../randomness.ts'

/** A random-looking word that occurs in none of the texts. */
export function drawAbsentWord(texts: readonly string[], randomness: Pick<Randomness, 'hex'>): string {
  for (;;) {
    const word = randomness.hex(6)
    if (!texts.some((text) => text.includes(word)) || /^0*$/.test(word)) return word
  }
}

/**
 * The control question for prompts that cannot have a decoy: whether the material contains a word that it does not contain. A judge that
 * praises everything answers yes.
 */
export function askForWord(word: string, favourable: string, unfavourable: string): string {
  return `Look for the word ${word} in the material. Answer "${favourable}" if it is there, and "${unfavourable}" if it is not.`
}
