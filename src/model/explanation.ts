/**
 * A text in two forms: whole, and without what the run's content put into it. Explanations and messages are written with
 * `explain`, so that `stripContent` need not guess which of their words came out of messages, arguments or results.
 */
export interface Explanation {
  /** All of it. */
  readonly text: string
  /** The same with every part that may quote content left out. */
  readonly withoutContent: string
}

/** Replaces content that is stripped. */
const REMOVED = '[removed]'

/**
 * Writes an explanation. What the template says itself, numbers, and other explanations are kept when content is stripped;
 * every text that is put in counts as content, unless `contentFree` vouches for it.
 *
 * @example
 * explain`${failed} of ${total} calls failed; the first: ${call.name}.`
 * // { text: '1 of 3 calls failed; the first: book_flight.', withoutContent: '1 of 3 calls failed; the first: [removed].' }
 */
export function explain(
  literals: TemplateStringsArray,
  ...parts: readonly (string | number | Explanation)[]
): Explanation {
  let text = literals[0] ?? ''
  let withoutContent = text
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? ''
    const literal = literals[index + 1] ?? ''
    if (typeof part === 'object') {
      text += part.text + literal
      withoutContent += part.withoutContent + literal
    } else {
      text += String(part) + literal
      withoutContent += (typeof part === 'number' ? String(part) : part === '' ? '' : REMOVED) + literal
    }
  }
  return { text, withoutContent }
}

/** Vouches for a text that holds no content of a run: a configured name, a word of spanscore, the name of a setting. */
export function contentFree(text: string): Explanation {
  return { text, withoutContent: text }
}

/** A text that is left out without a trace where content is stripped: the reasoning of a judge, for example. */
export function contentOnly(text: string): Explanation {
  return { text, withoutContent: '' }
}

/** Joins explanations as `Array.join` joins texts. */
export function joinExplanations(parts: readonly Explanation[], separator: string): Explanation {
  return {
    text: parts.map(({ text }) => text).join(separator),
    withoutContent: parts.map(({ withoutContent }) => withoutContent).join(separator),
  }
}

/** Whether a value is an explanation in both forms; never throws, whatever the value is. */
export function isExplanation(value: unknown): value is Explanation {
  try {
    return (
      typeof value === 'object' &&
      value !== null &&
      'text' in value &&
      typeof value.text === 'string' &&
      'withoutContent' in value &&
      typeof value.withoutContent === 'string'
    )
  } catch {
    return false
  }
}
