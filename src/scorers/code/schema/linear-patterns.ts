import { BoundedMap } from '../../../spans/bounded-map.ts'
import { hasPatterns } from './has-patterns.ts'
import { programSizeOf } from './program-size.ts'

/** Longer patterns do not occur in tool arguments. */
const MAX_PATTERN_LENGTH = 500
/** Larger programs take milliseconds to compile and to run. */
const MAX_PROGRAM_SIZE = 1000
/** The cost limit for a run's patterns: program instructions times text characters. About 20 ms. */
const MAX_WORK = 200_000
/** The cost of compiling a pattern, plus one for each instruction: also about 20 ms for all patterns of a run. */
const COMPILE_WORK = 2000
const COMPILE_WORK_OF_INSTRUCTION = 50
/** How many characters are only looked at for the cost of one instruction on one character. */
const READ_PER_WORK = 100
/** Maximum number of compiled patterns that are cached. */
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
 * Matches untrusted patterns by RE2's algorithm, whose time is linear in the text. JavaScript's own engine takes exponential time on
 * patterns such as `^(\w+\s?)+$`, and cannot be interrupted.
 *
 * A pattern is only checked if it means the same in both languages for this text. Not checked are look-around, back-references, Unicode
 * classes, programs that are too large, and texts with blanks or line ends that only one of the two recognises.
 */
export class LinearPatterns {
  readonly #engine: Engine
  readonly #compiled = new BoundedMap<string, LinearPattern | 'unsupported'>(MAX_COMPILED)

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A matcher for one run, with a cost limit. */
  limits(): { matches(pattern: string, text: string): boolean | undefined } {
    let left = MAX_WORK
    return {
      matches: (pattern, text) => {
        if (left <= 0 || text.length >= left || pattern.length > MAX_PATTERN_LENGTH) return undefined
        left -= 1 + text.length / READ_PER_WORK
        if (!isSameInBoth(text)) return undefined
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
    if (/\\[pP]|\(\?[^:<]/.test(pattern)) return 'unsupported'
    const size = programSizeOf(pattern)
    if (size === undefined || size > MAX_PROGRAM_SIZE) return 'unsupported'
    try {
      // JavaScript only parses it here: `u` rejects syntax that differs between the two languages.
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
 * Does work that needs the engine if a schema has patterns. The engine is loaded at first need, which most applications never have; until
 * it is loaded, the work waits.
 *
 * @param schemas schemas that may have patterns
 * @param work receives the engine; `undefined` if it is not needed, or cannot be loaded
 */
export function withLinearPatterns<T>(
  schemas: unknown,
  work: (patterns: LinearPatterns | undefined) => T | Promise<T>,
): T | Promise<T> {
  if (loaded === 'missing' || !hasPatterns(schemas)) return work(undefined)
  return loaded === undefined ? loadLinearPatterns().then(work) : work(loaded)
}

/** Never rejects: a bundle may not contain the engine. */
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

/** Whether `\s` and `.` treat the text alike in both engines: no special blanks or line ends, and no lone surrogates. */
function isSameInBoth(text: string): boolean {
  return !/[\r\v\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]/.test(text) && text.isWellFormed()
}
