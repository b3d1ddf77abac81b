import type { LinearPatterns } from './linear-patterns.ts'

/**
 * Whether a text matches a pattern; `undefined` if that could not be checked, so that the pattern asserts nothing.
 */
type PatternMatcher = (pattern: string, text: string) => boolean | undefined

/** Maximum number of validation steps: schemas with circular alternatives would never end. */
const MAX_OWN_STEPS = 100_000
/** The same for untrusted schemas: all calls of a run together take at most about 30 ms. */
const MAX_RECORDED_STEPS = 20_000

/** Longer texts are not matched against a developer's own pattern. */
export const MAX_PATTERN_TEXT = 10_000

/** Maximum number of unchecked parts that are named. */
const MAX_NAMED = 5

/** Shared by one scorer's validations of a run: the pattern matcher, the cost limit, and what was not checked. */
export class SchemaCheck {
  readonly #match: PatternMatcher
  readonly #names = new Set<string>()
  #left: number
  #unchecked = 0

  /** @param matches receives a function that records what is not checked */
  constructor(maxSteps: number, matches: (note: (what: string) => void) => PatternMatcher) {
    this.#left = maxSteps
    this.#match = matches((what) => this.note(what))
  }

  /** How many parts were not checked. */
  get unchecked(): number {
    return this.#unchecked
  }

  /** At most five parts that were not checked. They quote the schema. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  matches(pattern: string, text: string): boolean | undefined {
    return this.spend(1) ? this.#match(pattern, text) : undefined
  }

  /** Whether no steps are left, so that nothing more is checked. */
  get isSpent(): boolean {
    return this.#left < 0
  }

  /** Uses up steps; false if none are left, so that the part is not checked. */
  spend(steps: number): boolean {
    this.#left -= steps
    if (this.#left >= 0) return true
    this.note('what is left of a schema that is too large')
    return false
  }

  note(what: string): void {
    this.#unchecked += 1
    if (this.#names.size < MAX_NAMED) this.#names.add(what)
  }
}

/** For the developer's schemas: patterns are JavaScript's, and texts have bounded length. */
export function ownSchemaCheck(): SchemaCheck {
  return new SchemaCheck(MAX_OWN_STEPS, (note) => (pattern, text) => {
    const expression = compiled(pattern)
    if (expression !== undefined && text.length <= MAX_PATTERN_TEXT) return expression.test(text)
    note(expression === undefined ? `the pattern ${pattern}` : `the pattern ${pattern} on ${text.length} characters`)
    return undefined
  })
}

/**
 * For recorded schemas, which are untrusted: patterns run in an engine with linear time.
 *
 * @param engine `undefined` if it could not be loaded; then no pattern is checked
 */
export function recordedSchemaCheck(engine: LinearPatterns | undefined): SchemaCheck {
  return new SchemaCheck(MAX_RECORDED_STEPS, (note) => {
    const limits = engine?.limits()
    return (pattern, text) => {
      const isMatch = limits?.matches(pattern, text)
      if (isMatch === undefined) note(`the pattern ${pattern.slice(0, 100)}`)
      return isMatch
    }
  })
}

/** `undefined` for another language's syntax. */
function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}
