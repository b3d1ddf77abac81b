import { BoundedMap } from '../../../spans/bounded-map.ts'
import { hasPatterns } from './has-patterns.ts'
import { programSizeOf } from './program-size.ts'

/** Longer patterns are no patterns of tool arguments. */
const MAX_PATTERN_LENGTH = 500
/** Larger programs take milliseconds to compile and to run. */
const MAX_PROGRAM_SIZE = 1000
/** What the patterns of one run may cost: instructions of a program times characters of a text. About 20 ms. */
const MAX_WORK = 200_000
/** What compiling a pattern costs in the same unit, and what each instruction of it adds: all patterns of a run 20 ms, too. */
const COMPILE_WORK = 2000
const COMPILE_WORK_OF_INSTRUCTION = 50
/** Patterns that are kept compiled. */
const MAX_COMPILED = 500

/** A compiled pattern, as the engine has it. */
interface LinearPattern {
  test(text: string): boolean
  programSize(): number
}

/** The part of `re2js` that is used. */
interface Engine {
  compile(pattern: string): LinearPattern
}

/**
 * Patterns of strangers, matched by RE2's algorithm, whose time is linear in the text: JavaScript's own engine takes exponential
 * time on patterns such as `^(\w+\s?)+$`, and nothing can interrupt it.
 *
 * A pattern is checked where both languages read it alike, and means the same in both for this text; any other is not checked:
 * look-around, back-references, Unicode classes, programs that are too large, texts with blanks or line ends that only one of the
 * two counts as such.
 */
export class LinearPatterns {
  readonly #engine: Engine
  readonly #compiled = new BoundedMap<string, LinearPattern | 'unsupported'>(MAX_COMPILED)

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A matcher for one run: what it may cost in all is bounded. */
  limits(): { matches(pattern: string, text: string): boolean | undefined } {
    let left = MAX_WORK
    return {
      matches: (pattern, text) => {
        if (left <= 0 || !isSameInBoth(text)) return undefined
        let compiled = this.#compiled.get(pattern)
        if (compiled === undefined) {
          compiled = this.#compile(pattern)
          left -=
            COMPILE_WORK +
            (typeof compiled === 'string' ? pattern.length : compiled.programSize() * COMPILE_WORK_OF_INSTRUCTION)
          this.#compiled.set(pattern, compiled)
        }
        if (compiled === 'unsupported') return undefined
        const work = compiled.programSize() * (text.length + 1)
        if (work > left) return undefined
        left -= work
        return compiled.test(text)
      },
    }
  }

  #compile(pattern: string): LinearPattern | 'unsupported' {
    if (pattern.length > MAX_PATTERN_LENGTH || /\\[pP]|\(\?[^:<]/.test(pattern)) return 'unsupported'
    const size = programSizeOf(pattern)
    if (size === undefined || size > MAX_PROGRAM_SIZE) return 'unsupported'
    try {
      // JavaScript only reads it here: `u` refuses what the two languages write differently.
      void new RegExp(pattern, 'u')
      return this.#engine.compile(pattern)
    } catch {
      return 'unsupported'
    }
  }
}

let loading: Promise<LinearPatterns | undefined> | undefined
let loaded: LinearPatterns | 'missing' | undefined

/**
 * Does work that needs the engine where a schema has patterns. The engine is loaded when it is first needed, which most
 * applications never do; until then the work is done later.
 *
 * @param schemas What may ask for patterns.
 * @param work Is given the engine; `undefined` if it is not needed, or cannot be loaded.
 */
export function withLinearPatterns<T>(
  schemas: unknown,
  work: (patterns: LinearPatterns | undefined) => T | Promise<T>,
): T | Promise<T> {
  if (loaded === 'missing' || !hasPatterns(schemas)) return work(undefined)
  return loaded === undefined ? loadLinearPatterns().then(work) : work(loaded)
}

/** Never rejects: a bundle may have been made without the engine. */
export function loadLinearPatterns(): Promise<LinearPatterns | undefined> {
  loading ??= import('re2js').then(
    ({ RE2JS }) => {
      loaded = new LinearPatterns(RE2JS)
      return loaded
    },
    () => {
      loaded = 'missing'
      return undefined
    },
  )
  return loading
}

/** Blanks and line ends that `\s` and `.` count differently, and halves of characters, which only one of the two can meet. */
function isSameInBoth(text: string): boolean {
  return !/[\r\v\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]/.test(text) && text.isWellFormed()
}
