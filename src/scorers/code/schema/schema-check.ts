import type { LinearPatterns } from './linear-patterns.ts'

/**
 * Whether a text matches a pattern; `undefined` if that was not checked: then the pattern asserts nothing.
 */
type PatternMatcher = (pattern: string, text: string) => boolean | undefined

/** Steps of validation: schemas whose alternatives refer to one another in circles would take for ever. */
const MAX_OWN_STEPS = 100_000
/** The same where strangers wrote the schema: all calls of a run together take about 30 ms at most. */
const MAX_RECORDED_STEPS = 20_000

/** Longer texts are not held against a developer's own pattern. */
export const MAX_PATTERN_TEXT = 10_000

/** How many of the things that were not checked are named. */
const MAX_NAMED = 5

/** What one scorer's validations of a run share: who matches patterns, what they may cost together, and what was not checked. */
export class SchemaCheck {
  readonly #match: PatternMatcher
  readonly #names = new Set<string>()
  #left: number
  #unchecked = 0

  /** @param matches Gets a function that names what it does not check. */
  constructor(maxSteps: number, matches: (note: (what: string) => void) => PatternMatcher) {
    this.#left = maxSteps
    this.#match = matches((what) => this.note(what))
  }

  /** How often something was not checked. */
  get unchecked(): number {
    return this.#unchecked
  }

  /** What was not checked, five of it at most. It quotes the schema. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  matches(pattern: string, text: string): boolean | undefined {
    return this.spend(1) ? this.#match(pattern, text) : undefined
  }

  /** Takes steps; false where none are left, and what they were for is not checked. */
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

/** For schemas that the developer wrote: patterns are JavaScript's, and meet texts of bounded length. */
export function ownSchemaCheck(): SchemaCheck {
  return new SchemaCheck(MAX_OWN_STEPS, (note) => (pattern, text) => {
    const expression = compiled(pattern)
    if (expression !== undefined && text.length <= MAX_PATTERN_TEXT) return expression.test(text)
    note(expression === undefined ? `the pattern ${pattern}` : `the pattern ${pattern} on ${text.length} characters`)
    return undefined
  })
}

/**
 * For schemas that a run recorded, which come from anybody: patterns meet an engine whose time is linear in the text.
 *
 * @param engine `undefined` if it could not be loaded: then no pattern is checked.
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

/** `undefined` for what is written in another language's syntax. */
function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}
