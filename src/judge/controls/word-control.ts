import type { Randomness } from '../randomness.ts'

/** A word that is in none of the texts, and looks like any random one. */
export function drawAbsentWord(texts: readonly string[], randomness: Pick<Randomness, 'hex'>): string {
  for (;;) {
    const word = randomness.hex(6)
    if (!texts.some((text) => text.includes(word)) || /^0*$/.test(word)) return word
  }
}

/**
 * The control question of prompts of which no decoy can be made: whether the material holds a word that it does not hold. A judge
 * that praises whatever it is shown answers yes.
 */
export function askForWord(word: string, favourable: string, unfavourable: string): string {
  return `Look for the word ${word} in the material. Answer "${favourable}" if it is there, and "${unfavourable}" if it is not.`
}
