/** What says how long replies may be. */
interface TokenSettings {
  readonly maxOutputTokens: number
}

/** A verdict with its id and one short sentence, in any language. */
const TOKENS_OF_AN_ANSWER = 64
/** What is around the answers: lists, notes, and some thinking. */
const TOKENS_AROUND = 512
/** However short replies are to be, less than this is not worth a call. */
const LEAST_ANSWERS = 16

/**
 * Answers that are asked for in one call at most. They take twice `maxOutputTokens`, which leaves a reply that was cut off
 * all the same room to be asked for again.
 */
export function answersPerCall({ maxOutputTokens }: TokenSettings): number {
  return Math.max(LEAST_ANSWERS, Math.floor((2 * maxOutputTokens - TOKENS_AROUND) / TOKENS_OF_AN_ANSWER))
}

/** Tokens that a reply with so many answers may take. */
export function tokensFor(answers: number, { maxOutputTokens }: TokenSettings): number {
  const needed = TOKENS_AROUND + TOKENS_OF_AN_ANSWER * answers
  return Math.min(2 * maxOutputTokens, Math.max(maxOutputTokens, needed))
}

/** Tokens that a reply may take that was cut off before, and one that is repaired. */
export function mostTokens({ maxOutputTokens }: TokenSettings): number {
  return 4 * maxOutputTokens
}

/** Tokens that a reply with so many answers takes, when it takes many. */
export function likelyTokens(answers: number, settings: TokenSettings): number {
  return Math.min(tokensFor(answers, settings), Math.max(1000, TOKENS_AROUND + TOKENS_OF_AN_ANSWER * answers))
}
