/** The settings that limit the length of replies. */
interface TokenSettings {
  readonly maxOutputTokens: number
}

/** A verdict with its id and one short sentence, in any language. */
const TOKENS_OF_AN_ANSWER = 64
/** Everything around the answers: lists, notes, and some thinking. */
const TOKENS_AROUND = 512
/** A call for fewer answers is not worthwhile, however short replies are. */
const LEAST_ANSWERS = 16

/**
 * The most answers requested in one call. They take twice `maxOutputTokens`, so that a reply that was cut off can be requested again with
 * more room.
 */
export function answersPerCall({ maxOutputTokens }: TokenSettings): number {
  return Math.max(LEAST_ANSWERS, Math.floor((2 * maxOutputTokens - TOKENS_AROUND) / TOKENS_OF_AN_ANSWER))
}

/** The most tokens of a reply with this many answers. */
export function tokensFor(answers: number, { maxOutputTokens }: TokenSettings): number {
  const needed = TOKENS_AROUND + TOKENS_OF_AN_ANSWER * answers
  return Math.min(2 * maxOutputTokens, Math.max(maxOutputTokens, needed))
}

/** The most tokens of a repaired reply, and of one that was cut off before. */
export function mostTokens({ maxOutputTokens }: TokenSettings): number {
  return 4 * maxOutputTokens
}

/** Tokens that a long reply with this many answers takes. */
export function likelyTokens(answers: number, settings: TokenSettings): number {
  return Math.min(tokensFor(answers, settings), Math.max(1000, TOKENS_AROUND + TOKENS_OF_AN_ANSWER * answers))
}
