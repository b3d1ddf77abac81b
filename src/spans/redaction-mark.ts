/** Longer texts are content, whatever they begin with. */
const MAX_LENGTH = 64

/** A word in brackets (`[REDACTED]`, `<filtered: email>`), the word `redacted`, or nothing but stars or bars. */
const MARK =
  /^(?:[[<({_*]{1,4} ?(?:redacted|filtered|masked|hidden|removed|scrubbed)[\w :.-]{0,40}[\])>}_*]{1,4}|redacted|\*{3,}|█{3,})$/i

/** Whether a text is what processors and collectors write in place of content that they hide. */
export function isRedactionMark(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_LENGTH && MARK.test(value.trim())
}
