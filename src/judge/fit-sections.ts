import { cleanText } from './clean-text.ts'
import type { Section } from './inquiry.ts'

/** A piece of text: kept whole, or cut head and tail where the space does not do. */
export interface Fragment {
  readonly text: string
  readonly cuttable?: boolean
}

/** A section before it is known how much space there is. */
export interface SectionDraft {
  readonly title: string
  readonly fragments: readonly Fragment[]
}

/** Least bytes that a piece is cut to; below, only the mark of the cut is left. */
const SMALLEST_CUT = 48

/**
 * Fits sections into a byte budget, always in the same way: what must stay whole stays whole, and the rest shares what is left,
 * the longest being cut first. Where even the whole pieces do not fit, sections are cut head and tail, the longest first. The
 * result is valid UTF-8, and its texts together are never above the budget.
 */
export function fitSections(drafts: readonly SectionDraft[], maxBytes: number): Section[] {
  const clean = drafts.map(({ title, fragments }) => ({
    title,
    fragments: fragments.map((fragment) => ({ ...fragment, text: cleanText(fragment.text) })),
  }))
  const all = clean.flatMap(({ fragments }) => fragments)
  const whole = sum(all.filter(({ cuttable }) => cuttable !== true).map(({ text }) => bytes(text)))
  const cuttable = all.filter((fragment) => fragment.cuttable === true).map(({ text }) => bytes(text))
  const level = levelFor(cuttable, maxBytes - whole)
  const sections = clean.map(({ title, fragments }) => ({
    title,
    text: fragments.map(({ text, cuttable: cut }) => (cut === true ? cutTo(text, level) : text)).join(''),
  }))
  if (sum(sections.map(({ text }) => bytes(text))) <= maxBytes) return sections
  const sectionLevel = levelFor(
    sections.map(({ text }) => bytes(text)),
    maxBytes,
  )
  return sections.map(({ title, text }) => ({ title, text: cutTo(text, sectionLevel) }))
}

/** Bytes of the sections as they are, uncut. */
export function bytesOf(drafts: readonly SectionDraft[]): number {
  return sum(drafts.flatMap(({ fragments }) => fragments.map(({ text }) => bytes(text))))
}

/** The largest level at which lengths, each cut to it, come to no more than the space: water filling. */
function levelFor(lengths: readonly number[], space: number): number {
  let left = space
  const ascending = lengths.toSorted((one, other) => one - other)
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index))
    if (length > share) return Math.max(0, share)
    left -= length
  }
  return Infinity
}

/** Two thirds of what fits from the head, one third from the tail, and how much is missing between. */
function cutTo(text: string, maxBytes: number): string {
  const data = Buffer.from(text)
  if (data.length <= maxBytes) return text
  if (maxBytes < SMALLEST_CUT) return maxBytes < 3 ? '' : '…'
  const room = maxBytes - Buffer.byteLength(markOf(data.length))
  const headEnd = characterStart(data, Math.ceil((room * 2) / 3))
  const tailStart = nextCharacterStart(data, data.length - Math.floor(room / 3))
  return data.toString('utf8', 0, headEnd) + markOf(tailStart - headEnd) + data.toString('utf8', tailStart)
}

/** What stands where something was cut. */
function markOf(cutBytes: number): string {
  return `[… ${cutBytes} bytes cut …]`
}

/** The start of the character in which the byte stands. */
function characterStart(data: Buffer, index: number): number {
  let start = index
  while (start > 0 && isContinuation(data[start])) start--
  return start
}

function nextCharacterStart(data: Buffer, index: number): number {
  let start = index
  while (start < data.length && isContinuation(data[start])) start++
  return start
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function bytes(text: string): number {
  return Buffer.byteLength(text)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
