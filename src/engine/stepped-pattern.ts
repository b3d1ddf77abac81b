import { RE2JS } from 're2js'

import type { WorkSteps } from '../scoring/background.ts'

/** Characters that a step reads at least: about a millisecond. */
const WINDOW = 4096

/** Characters of ASCII. */
const ASCII = 128

/** The part of a compiled instruction that is used. */
interface Instruction {
  /** What the instruction does, as `Inst` of the library numbers it. */
  readonly op: number
  /** The next instruction. */
  readonly out: number
  /** The other next instruction of an alternative. */
  readonly arg: number
  /** Whether it reads this character. */
  matchRune(rune: number): boolean
}

/** Instructions with two next ones. */
const ALTERNATIVES = new Set([1, 2])
/** Instructions after which there is none: FAIL and MATCH. */
const LAST = new Set([5, 6])
/** From this one on, instructions read a character. */
const FIRST_READING = 8

/** A part of a text. */
interface Window {
  readonly from: number
  readonly to: number
}

/**
 * A pattern of RE2 that replaces its matches in steps. A long text is cut between two characters of ASCII that no match has beside each
 * other, so the result is that of the whole text. A text without such a place, as for `(?s)a.*b`, is searched up to the next match in one
 * step.
 */
export class SteppedPattern {
  readonly #pattern: RE2JS
  /** Whether a match may have two characters beside each other. The first one is the row. */
  readonly #pairs: Uint8Array

  /** Throws an Error if the pattern does not compile. */
  constructor(pattern: string) {
    this.#pattern = RE2JS.compile(pattern)
    // oxlint-disable-next-line typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- the library has no type for it
    const instructions: readonly Instruction[] = this.#pattern.re2().prog.inst
    this.#pairs = pairsIn(instructions)
  }

  *replaceAll(text: string, replacement: string): WorkSteps<string> {
    let result = ''
    let from = 0
    do {
      const to = this.#endOfWindow(text, from)
      result += yield* this.#replaced(text, { from, to }, replacement)
      from = to
      yield
    } while (from < text.length)
    return result
  }

  #endOfWindow(text: string, from: number): number {
    for (let to = from + WINDOW; to < text.length; to += 1) {
      const before = text.charCodeAt(to - 1)
      const after = text.charCodeAt(to)
      if (before < ASCII && after < ASCII && this.#pairs[before * ASCII + after] === 0) return to
    }
    return text.length
  }

  *#replaced(text: string, { from, to }: Window, replacement: string): WorkSteps<string> {
    // The characters beside the window are included for `^`, `$` and `\b`.
    const begin = Math.max(0, from - 1)
    const part = text.slice(begin, to + 1)
    const end = to - begin
    let copied = from - begin
    // This search is the faster one, and finds nothing in most windows.
    if (!this.#pattern.test(part)) return part.slice(copied, end)
    const matcher = this.#pattern.matcher(part)
    let result = ''
    for (let isFound = matcher.find(copied); isFound; isFound = matcher.find()) {
      // A match that begins here belongs to the next window.
      if (matcher.start() >= end && to < text.length) break
      result += part.slice(copied, matcher.start()) + replacement
      copied = matcher.end()
      yield
    }
    return result + part.slice(copied, end)
  }
}

/** Which two characters a match may have beside each other: those that an instruction and one after it read. */
function pairsIn(instructions: readonly Instruction[]): Uint8Array {
  const pairs = new Uint8Array(ASCII * ASCII)
  for (const instruction of instructions) {
    const codes = codesReadBy(instruction)
    if (codes.length === 0) continue
    const next = new Set(readingFrom(instructions, instruction.out).flatMap((each) => codesReadBy(each)))
    for (const before of codes) for (const after of next) pairs[before * ASCII + after] = 1
  }
  return pairs
}

function codesReadBy(instruction: Instruction): number[] {
  return Array.from({ length: ASCII }, (_, code) => code).filter((code) => instruction.matchRune(code))
}

/** The next instructions that read a character, whatever `^`, `$` and `\b` say. */
function readingFrom(instructions: readonly Instruction[], first: number): Instruction[] {
  const indexes = new Set([first])
  const reading: Instruction[] = []
  // Those that are added meanwhile are visited, too.
  for (const index of indexes) {
    const instruction = instructions[index]
    if (instruction === undefined || LAST.has(instruction.op)) continue
    if (instruction.op >= FIRST_READING) reading.push(instruction)
    else indexes.add(instruction.out)
    if (ALTERNATIVES.has(instruction.op)) indexes.add(instruction.arg)
  }
  return reading
}
