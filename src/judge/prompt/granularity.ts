/**
 * How finely judges split what they list. One rule holds for requirements, goals, claims, questions and every other list, because the number
 * of items changes every share.
 */
export const granularity =
  'An item is one thing that can be ticked off by itself: done, met, true or answered. What only qualifies it (a condition, a limit, "the cheapest", a way to pay, a detail, a fallback) belongs to it; what is said twice is one item.'
