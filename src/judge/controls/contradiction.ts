/** The verdict on a sentence of which no item can be made. */
export const NO_ITEM = 'none'

/** When a sentence earns `NO_ITEM`: words of the question. */
export const noItemRule: string = `"${NO_ITEM}" only for a greeting, an offer of more help and the like, which can be neither; never for a text that makes no sense.`

/**
 * Whether a reply hides what is wrong with a sentence: it finds the sentence bad, and has no item of it or only good ones.
 *
 * @param verdicts from the most favourable to the least
 * @param ofItems the verdicts on the items that come from the sentence
 */
export function hidesFault(
  verdicts: readonly string[],
  ofSentence: string,
  ofItems: readonly (string | undefined)[],
): boolean {
  if (ofItems.length === 0) return ofSentence !== NO_ITEM && ofSentence !== verdicts[0]
  return ofSentence === verdicts.at(-1) && ofItems.every((verdict) => verdict === verdicts[0])
}
