import { cleanText } from './clean-text.ts'
import { cutMiddle, cutText, LEAST_BYTES, noteBytes } from './cut-text.ts'
import { bytesOf } from './section.ts'
import type { Fragment, Section, SectionDraft } from './section.ts'

/** Fewest bytes of a request or an answer that can still be judged. */
const LEAST_OF_WHAT_IS_JUDGED = 256

/** Texts are cleaned up to this many times as long as what fits: invisible characters must not displace visible text. */
const CLEANED = 4

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
 * @param mark part of the notes about cuts
 * @returns `undefined` if the parts that must be shown do not fit
 */
export function fitSections(
  drafts: readonly SectionDraft[],
  maxBytes: number,
  mark: string,
): FittedSections | undefined {
  const clean = boundTexts(drafts, CLEANED * Math.max(0, maxBytes)).map(({ title, fragments }) => ({
    title,
    fragments: fragments.map((fragment) => ({ ...fragment, text: cleanText(fragment.text) })),
  }))
  const levels = levelsFor(
    clean.flatMap(({ fragments }) => fragments),
    maxBytes,
    mark,
  )
  if (levels === undefined) return undefined
  const sections = clean.map(({ title, fragments }) => ({
    title,
    text: fragments
      .map(({ text, cut, cutBytes }) => (cut === undefined ? text : cutText(text, levels[cut], mark, cutBytes)))
      .join(''),
  }))
  const cutBefore = sum(clean.flatMap(({ fragments }) => fragments.map(({ cutBytes = 0 }) => cutBytes)))
  const shownBytes = sum(sections.map(({ text }) => Buffer.byteLength(text)))
  return { sections, cutBytes: Math.max(0, cutBefore + bytesOf(clean) - shownBytes) }
}

/** Cuts the middle out of long texts before anything is made of them: a run may hold megabytes. */
function boundTexts(drafts: readonly SectionDraft[], maxCharacters: number): SectionDraft[] {
  const levelOf = (cut: Fragment['cut']): number => {
    const own = drafts.flatMap(({ fragments }) => fragments.filter((fragment) => fragment.cut === cut))
    return waterLevel(
      own.map(({ text }) => text.length),
      maxCharacters,
    )
  }
  const levels = { first: levelOf('first'), last: levelOf('last') }
  return drafts.map(({ title, fragments }) => ({
    title,
    fragments: fragments.map((fragment) =>
      fragment.cut === undefined ? fragment : { ...fragment, ...cutMiddle(fragment, levels[fragment.cut]) },
    ),
  }))
}

/** The most bytes for each text that may be cut. */
function levelsFor(
  fragments: readonly Fragment[],
  maxBytes: number,
  mark: string,
): { first: number; last: number } | undefined {
  const lengthsOf = (cut: Fragment['cut']) =>
    fragments
      .filter((fragment) => fragment.cut === cut)
      .map(({ text, cutBytes = 0 }) => Buffer.byteLength(text) + noteBytes(cutBytes, mark))
  const room = maxBytes - sum(lengthsOf(undefined))
  const [first, last] = [lengthsOf('first'), lengthsOf('last')]
  const leastFirst = sum(first.map((length) => Math.min(length, LEAST_BYTES)))
  const leastLast = sum(last.map((length) => Math.min(length, LEAST_OF_WHAT_IS_JUDGED)))
  if (leastFirst + leastLast > room) return undefined
  const roomForFirst = room - sum(last)
  return roomForFirst >= leastFirst
    ? { first: waterLevel(first, roomForFirst), last: Infinity }
    : { first: LEAST_BYTES, last: waterLevel(last, room - leastFirst) }
}

/** The largest level at which the lengths, each capped at it, sum to at most `room`. */
function waterLevel(lengths: readonly number[], room: number): number {
  let left = room
  const ascending = lengths.toSorted((one, other) => one - other)
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index))
    if (length > share) return share
    left -= length
  }
  return Infinity
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
