/**
 * A text in two forms: complete, and without content of the run. Explanations and messages are written with `explain`, so that
 * `stripContent` need not guess which words came from messages, arguments or results.
 */
export interface Explanation {
  /** The complete text. */
  readonly text: string
  /** The text without any part that may quote content. */
  readonly withoutContent: string
}

/** Replaces removed content. */
const REMOVED = '[removed]'

/**
 * Writes an explanation. The template's own text, numbers and other explanations are kept when content is removed. Every other value counts
 * as content, unless it is marked with `contentFree`.
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

/** Marks a text that has no content of a run, such as a configured name, a word of spanscore, or the name of a setting. */
export function contentFree(text: string): Explanation {
  return { text, withoutContent: text }
}

/** Marks a text that is removed without a placeholder, such as a judge's reasoning. */
export function contentOnly(text: string): Explanation {
  return { text, withoutContent: '' }
}

/** Joins explanations like `Array.join`. */
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
