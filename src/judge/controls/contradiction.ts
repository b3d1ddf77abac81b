/** The verdict on a sentence that yields no item. */
export const NO_ITEM = 'none'

/** Part of the question: when a sentence is `NO_ITEM`. */
export const noItemRule: string = `"${NO_ITEM}" only for a greeting, an offer of more help and the like, which can be neither; never for a text that makes no sense.`

/**
 * Whether a reply hides a fault: it calls the sentence bad, but lists no item for it or only good ones.
 *
 * @param verdicts from most to least favourable
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
