import { cleanText } from './clean-text.ts'
import type { Fragment, SectionDraft } from './section.ts'
import { waterLevel } from './water-level.ts'

/** Cleans texts up to this many times as long as what fits: invisible characters must not displace visible text. */
const CLEANED = 4

/**
 * Cuts the middle out of long texts before anything is made of them: a run may hold megabytes, and a prompt shows `maxBytes`. What remains
 * is at least as long as what `fitSections` keeps, so the result is the same.
 */
export function boundSections(drafts: readonly SectionDraft[], maxBytes: number): SectionDraft[] {
  const bounded = cutAll(drafts, CLEANED * maxBytes)
  const clean = bounded.map(({ title, fragments }) => ({
    title,
    fragments: fragments.map((fragment) => ({ ...fragment, text: cleanText(fragment.text) })),
  }))
  return cutAll(clean, maxBytes)
}

/** Cuts the longest texts of each kind so that all of them fit into that many characters. */
function cutAll(drafts: readonly SectionDraft[], most: number): SectionDraft[] {
  const levelOf = (cut: Fragment['cut']): number => {
    const own = drafts.flatMap(({ fragments }) => fragments.filter((fragment) => fragment.cut === cut))
    return waterLevel(
      own.map(({ text }) => text.length),
      most,
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

/** Keeps two thirds from the head and one third from the tail, as `cutText` does. */
export function cutMiddle(
  { text, cutBytes = 0 }: Pick<Fragment, 'text' | 'cutBytes'>,
  mostCharacters: number,
): Required<Pick<Fragment, 'text' | 'cutBytes'>> {
  if (text.length <= mostCharacters) return { text, cutBytes }
  const head = text.slice(0, Math.ceil((mostCharacters * 2) / 3)).toWellFormed()
  const tail = text.slice(text.length - Math.floor(mostCharacters / 3)).toWellFormed()
  const kept = head + tail
  return { text: kept, cutBytes: cutBytes + Buffer.byteLength(text) - Buffer.byteLength(kept) }
}
