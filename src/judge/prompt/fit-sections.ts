import { cleanText } from './clean-text.ts'
import { cutText, LEAST_BYTES } from './cut-text.ts'
import { bytesOf } from './section.ts'
import type { Fragment, Section, SectionDraft } from './section.ts'
import { waterLevel } from './water-level.ts'

/** Fewest bytes of a request or an answer that can still be judged. */
const LEAST_OF_WHAT_IS_JUDGED = 256

/** Sections as shown. */
export interface FittedSections {
  readonly sections: readonly Section[]
  /** UTF-8 bytes that are left out. */
  readonly cutBytes: number
}

/**
 * Fits sections into a byte budget, deterministically. Payloads share what the rest leaves, and the longest are cut first; if that is not
 * enough, request and answer are cut too, the longest first. The texts never exceed the budget together.
 *
 * @param tag part of the marks of cuts
 * @returns `undefined` if the parts that must be shown do not fit
 */
export function fitSections(
  drafts: readonly SectionDraft[],
  maxBytes: number,
  tag: string,
): FittedSections | undefined {
  const clean = drafts.map(({ title, fragments }) => ({
    title,
    fragments: fragments.map((fragment) => ({ ...fragment, text: cleanText(fragment.text) })),
  }))
  const levels = levelsFor(
    clean.flatMap(({ fragments }) => fragments),
    maxBytes,
  )
  if (levels === undefined) return undefined
  const sections = clean.map(({ title, fragments }) => ({
    title,
    text: fragments
      .map(({ text, cut, cutBytes }) => (cut === undefined ? text : cutText(text, levels[cut], tag, cutBytes)))
      .join(''),
  }))
  const cutBefore = sum(clean.flatMap(({ fragments }) => fragments.map(({ cutBytes = 0 }) => cutBytes)))
  const shownBytes = sum(sections.map(({ text }) => Buffer.byteLength(text)))
  return { sections, cutBytes: Math.max(0, cutBefore + bytesOf(clean) - shownBytes) }
}

/** The most bytes for each text that may be cut. */
function levelsFor(fragments: readonly Fragment[], maxBytes: number): { first: number; last: number } | undefined {
  const lengthsOf = (cut: Fragment['cut']) =>
    fragments.filter((fragment) => fragment.cut === cut).map(({ text }) => Buffer.byteLength(text))
  const room = maxBytes - sum(lengthsOf(undefined))
  const [first, last] = [lengthsOf('first'), lengthsOf('last')]
  const leastFirst = sum(first.map((length) => Math.min(length, LEAST_BYTES)))
  const leastLast = sum(last.map((length) => Math.min(length, LEAST_OF_WHAT_IS_JUDGED)))
  if (leastFirst + leastLast > room) return undefined
  const tokensForFirst = room - sum(last)
  return tokensForFirst >= leastFirst
    ? { first: waterLevel(first, tokensForFirst), last: Infinity }
    : { first: LEAST_BYTES, last: waterLevel(last, room - leastFirst) }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
