const MARKS = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * Shows marks that turn the direction of text, such as U+202E, as their names. One that is not ended would also turn the words beside it,
 * such as the verdict on a tool. Letters of languages that are written from right to left need none of them.
 */
export function withVisibleMarks(text: string): string {
  return text.replaceAll(MARKS, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`)
}
