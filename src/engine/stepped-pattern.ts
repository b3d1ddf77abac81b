import { RE2JS } from 're2js'

import type { WorkSteps } from '../scoring/background.ts'

/** Characters that a step reads at least: about a millisecond. */
const WINDOW = 4096

/** The part of a compiled instruction that is used. */
interface Instruction {
  /** Whether it reads this character. */
  matchRune(rune: number): boolean
}

/** A part of a text. */
interface Window {
  readonly from: number
  readonly to: number
}

/**
 * A pattern of RE2 that replaces its matches in steps. A long text is cut behind characters that no part of the pattern reads, because no
 * match contains them: the result is that of the whole text. Only a pattern that reads each ASCII character, such as `[^@]+@`, has no such
 * place, and a step searches up to its next match.
 */
export class SteppedPattern {
  readonly #pattern: RE2JS
  /** The ASCII characters that no match contains. */
  readonly #end: RegExp

  /** Throws an Error if the pattern does not compile. */
  constructor(pattern: string) {
    this.#pattern = RE2JS.compile(pattern)
    // oxlint-disable-next-line typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- the library has no type for it
    const instructions: readonly Instruction[] = this.#pattern.re2().prog.inst
    const codes = Array.from({ length: 128 }, (_, code) => code).filter(
      (code) => !instructions.some((instruction) => instruction.matchRune(code)),
    )
    this.#end = new RegExp(`[${codes.map((code) => `\\x${code.toString(16).padStart(2, '0')}`).join('')}]`, 'g')
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
    this.#end.lastIndex = from + WINDOW
    const end = this.#end.exec(text)
    return end === null ? text.length : end.index + 1
  }

  *#replaced(text: string, { from, to }: Window, replacement: string): WorkSteps<string> {
    // The character before is included for `^` and `\b`. The last one of a window is in no match, and does the same for `$`.
    const begin = Math.max(0, from - 1)
    const part = text.slice(begin, to)
    let copied = from - begin
    // This search is the faster one, and finds nothing in most windows.
    if (!this.#pattern.test(part)) return part.slice(copied)
    const matcher = this.#pattern.matcher(part)
    let result = ''
    for (let isFound = matcher.find(copied); isFound; isFound = matcher.find()) {
      // An empty match here belongs to the next window, which knows what follows.
      if (matcher.start() === part.length && to < text.length) break
      result += part.slice(copied, matcher.start()) + replacement
      copied = matcher.end()
      yield
    }
    return result + part.slice(copied)
  }
}
