import type { Finding } from './facts.ts'

/** A line about something that is as it should be. */
export function good(text: string): Finding {
  return { isGood: true, text }
}

/** A line about a problem, with what to do about it. */
export function bad(text: string, cure: string): Finding {
  return { isGood: false, text, cure }
}
