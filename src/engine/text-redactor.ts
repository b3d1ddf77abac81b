import { RE2JS } from 're2js'

import type { AgentRun } from '../model/agent-run.ts'
import type { WorkSteps } from '../scoring/background.ts'
import { isRecord } from '../spans/json.ts'

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
  readonly #patterns: readonly RE2JS[]

  /**
   * @param patterns in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), whose matching takes linear time
   * @throws Error if one does not compile, with its place
   */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern, index) => {
      try {
        return RE2JS.compile(pattern)
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the same shape
    return this.#value(value, '', false) as Value
  }

  /** For the option `redact`. */
  toOption(): SteppedRedact {
    const whole = (run: AgentRun): AgentRun => this.apply(run)
    return Object.assign(whole, { inSteps: (run: AgentRun) => this.#runInSteps(run) })
  }

  /** Each item of a run's lists is a step. */
  *#runInSteps(run: AgentRun): WorkSteps<AgentRun> {
    const redacted: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(run)) {
      if (!Array.isArray(value)) redacted[key] = this.#value(value, key, CONTENT.test(key))
      else {
        const items: unknown[] = []
        redacted[key] = items
        for (const item of value) {
          items.push(this.#value(item, key, CONTENT.test(key)))
          yield
        }
      }
      yield
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the same shape
    return redacted as unknown as AgentRun
  }

  #value(value: unknown, key: string, isContent: boolean): unknown {
    if (typeof value === 'string') return isContent || !NO_CONTENT.test(key) ? this.#text(value, key) : value
    if (Array.isArray(value)) return value.map((item) => this.#value(item, key, isContent))
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.#value(each, name, isContent || CONTENT.test(name))]),
    )
  }

  #text(text: string, key: string): string {
    const parsed = /^\s*[[{]/.test(text) ? parse(text) : undefined
    if (parsed !== undefined) return JSON.stringify(this.#value(parsed, '', CONTENT.test(key)))
    return this.#patterns.reduce((rest, pattern) => pattern.matcher(rest).replaceAll(REDACTED), text)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
