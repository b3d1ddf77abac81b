import type { AgentRun } from '../model/agent-run.ts'
import { withoutPause } from '../scoring/background.ts'
import type { WorkSteps } from '../scoring/background.ts'
import { isRecord } from '../spans/json.ts'
import { SteppedPattern } from './stepped-pattern.ts'

/** Takes the place of a match. */
const REDACTED = '[redacted]'

/** Facts with these names are no content: ids, names, and words of conventions. */
const NO_CONTENT =
  /(?:^|[._])(?:ids?|name|role|type|model|version|kind|status|label|reason|code|provider|operation|finish_reasons?)$|[a-z](?:Id|Name|Model)$/

/** Below these, every text is content, whatever its name is. */
const CONTENT = /(?:^|[._])(?:arguments|result|response|documents|content)$/

/** A function that redacts a run at once, or in steps between which other work is done. */
export interface SteppedRedact {
  (run: AgentRun): AgentRun
  /** Redacts it in steps. */
  inSteps(run: AgentRun): WorkSteps<AgentRun>
}

/** Replaces what patterns match in texts. It acts on values alone, never on keys, and not on ids and names of a run. */
export class TextRedactor {
  readonly #patterns: readonly SteppedPattern[]

  /**
   * @param patterns in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), whose matching takes linear time
   * @throws Error if one does not compile, with its place
   */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern, index) => {
      try {
        return new SteppedPattern(pattern)
      } catch (error) {
        throw new Error(
          `redact[${index}]: expected a pattern in the syntax of RE2, got ${pattern}: ${error instanceof Error ? error.message : 'it does not compile'}`,
          { cause: error },
        )
      }
    })
  }

  /** A copy of a value, such as a run or the attributes of a span. Texts that hold JSON are read as it, and stay JSON. */
  apply<Value>(value: Value): Value {
    return withoutPause(this.inSteps(value))
  }

  /** The same, in steps between which other work is done. */
  inSteps<Value>(value: Value): WorkSteps<Value> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the same shape
    return this.#value(value, '', false) as WorkSteps<Value>
  }

  /** For the option `redact`. */
  toOption(): SteppedRedact {
    const whole = (run: AgentRun): AgentRun => this.apply(run)
    return Object.assign(whole, { inSteps: (run: AgentRun) => this.inSteps(run) })
  }

  /** One pattern in a part of a text is a step. */
  *#value(value: unknown, key: string, isContent: boolean): WorkSteps<unknown> {
    if (typeof value === 'string') return isContent || !NO_CONTENT.test(key) ? yield* this.#text(value, key) : value
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) items.push(yield* this.#value(item, key, isContent))
      return items
    }
    if (!isRecord(value)) return value
    const entries: [string, unknown][] = []
    for (const [name, each] of Object.entries(value))
      entries.push([name, yield* this.#value(each, name, isContent || CONTENT.test(name))])
    return Object.fromEntries(entries)
  }

  *#text(text: string, key: string): WorkSteps<string> {
    const parsed = /^\s*[[{]/.test(text) ? parse(text) : undefined
    if (parsed !== undefined) return JSON.stringify(yield* this.#value(parsed, '', CONTENT.test(key)))
    let rest = text
    for (const pattern of this.#patterns) rest = yield* pattern.replaceAll(rest, REDACTED)
    return rest
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
