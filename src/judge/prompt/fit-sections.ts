import { cleanText } from './clean-text.ts'
import { cutMiddle, cutText, LEAST_BYTES, noteBytes } from './cut-text.ts'
import { bytesOf } from './section.ts'
import type { Cut, Fragment, Section, SectionDraft } from './section.ts'

/** Fewest bytes of a text of which something can still be read. */
const READABLE = 256

/**
 * What is cut, in this order, and to how many bytes at least. Each step begins with the oldest texts, and of equally old ones with the
 * longest.
 */
const STEPS: readonly { readonly cut: Cut; readonly least: number }[] = [
  { cut: 'result', least: READABLE },
  { cut: 'result', least: LEAST_BYTES },
  { cut: 'argument', least: LEAST_BYTES },
  { cut: 'message', least: READABLE },
  { cut: 'message', least: LEAST_BYTES },
  { cut: 'instructions', least: LEAST_BYTES },
  { cut: 'judged', least: READABLE },
]

/** Texts are cleaned up to this many times as long as what fits: invisible characters must not displace visible text. */
const CLEANED = 4

/** Sections as shown. */
export interface FittedSections {
  readonly sections: readonly Section[]
  /** UTF-8 bytes that are left out. */
  readonly cutBytes: number
  /** The labels of the texts that are not shown whole. */
  readonly cutLabels: readonly string[]
}

/**
 * Fits sections into a byte budget, deterministically: the least important texts are cut first, in their middle. The texts never exceed
 * the budget together.
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
  const fragments = clean.flatMap((section) => section.fragments)
  const bounds = boundsFor(fragments, maxBytes, mark)
  if (bounds === undefined) return undefined
  const sections = clean.map(({ title, fragments: own }) => ({
    title,
    text: own
      .map((fragment) =>
        fragment.cut === undefined
          ? fragment.text
          : cutText(fragment.text, bounds.get(fragment) ?? Infinity, mark, fragment.cutBytes),
      )
      .join(''),
  }))
  const cutBefore = sum(fragments.map(({ cutBytes = 0 }) => cutBytes))
  const cut = fragments.filter((fragment) => bounds.has(fragment) || (fragment.cutBytes ?? 0) > 0)
  const shownBytes = sum(sections.map(({ text }) => Buffer.byteLength(text)))
  return {
    sections,
    cutBytes: Math.max(0, cutBefore + bytesOf(clean) - shownBytes),
    cutLabels: cut.flatMap(({ label }) => label ?? []),
  }
}

/** Cuts the middle out of long texts before anything is made of them: a run may hold megabytes. */
function boundTexts(drafts: readonly SectionDraft[], maxCharacters: number): SectionDraft[] {
  const byCut = Map.groupBy(
    drafts.flatMap(({ fragments }) => fragments),
    ({ cut }) => cut,
  )
  const levels = new Map(
    [...byCut].map(([cut, own]) => [
      cut,
      waterLevel(
        own.map(({ text }) => text.length),
        maxCharacters,
      ),
    ]),
  )
  return drafts.map(({ title, fragments }) => ({
    title,
    fragments: fragments.map((fragment) =>
      fragment.cut === undefined
        ? fragment
        : { ...fragment, ...cutMiddle(fragment, levels.get(fragment.cut) ?? Infinity) },
    ),
  }))
}

/** The most bytes of each text that must be cut. */
function boundsFor(
  fragments: readonly Fragment[],
  maxBytes: number,
  mark: string,
): ReadonlyMap<Fragment, number> | undefined {
  const lengthOf = ({ text, cutBytes = 0 }: Fragment): number => Buffer.byteLength(text) + noteBytes(cutBytes, mark)
  const lengths = new Map(fragments.map((fragment) => [fragment, lengthOf(fragment)]))
  const bounds = new Map<Fragment, number>()
  let excess = sum([...lengths.values()]) - maxBytes
  for (const { cut, least } of STEPS) {
    const byAge = Map.groupBy(
      fragments.filter((fragment) => fragment.cut === cut),
      ({ age = 0 }) => age,
    )
    for (const [, group] of [...byAge].toSorted(([one], [other]) => other - one)) {
      if (excess <= 0) return bounds
      const own = group.map((fragment) => lengths.get(fragment) ?? 0)
      const smallest = sum(own.map((length) => Math.min(length, least)))
      const level = waterLevel(own, Math.max(smallest, sum(own) - excess))
      for (const [index, fragment] of group.entries()) {
        const length = own[index] ?? 0
        if (length <= level) continue
        excess -= length - level
        lengths.set(fragment, level)
        bounds.set(fragment, level)
      }
    }
  }
  return excess <= 0 ? bounds : undefined
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
