import type { AgentRun, ModelCall, Retrieval, ToolCall } from '../model/agent-run.ts'
import { MODEL_CALL_FACTS, plain, RETRIEVAL_FACTS, AGENT_RUN_FACTS, TOOL_CALL_FACTS } from '../model/facts.ts'
import type { Facts } from '../model/facts.ts'
import type { Skipped } from '../model/score.ts'
import { INSPECT, printAsJson } from '../runs/view/print-as-json.ts'
import { withOwnFacts } from '../runs/view/with-own-facts.ts'
import { skipWithoutAllCalls, skipWithoutAnswer, skipWithoutFact, skipWithoutMessages } from './absence.ts'
import type { RunFact } from './absence.ts'
import type { Reads } from './reads.ts'

/**
 * The run as a scorer sees it.
 *
 * @param isCopied whether the scorer may copy a run whose facts can be copied, as those of `.run()` can
 */
export function scorerView(reads: Reads, isCopied: boolean): AgentRun {
  return copyable(viewRun({ target: reads.run, run: reads.run, index: 0, reads }), reads, isCopied)
}

/** A call of the run as a scorer of calls sees it, which may copy it too; `undefined` if there is none. */
export function callView(
  reads: Reads,
  level: 'tool-call' | 'retrieval',
  index: number,
): ToolCall | Retrieval | undefined {
  const { run } = reads
  if (level === 'tool-call') {
    const target = run.toolCalls[index]
    return target && copyable(viewToolCall({ target, run, index, reads }), reads, true)
  }
  const target = run.retrievals[index]
  return target && copyable(viewRetrieval({ target, run, index, reads }), reads, true)
}

/** The run with facts of its own, such as input and output in the form that was passed to `.run()`. Reading others notes what `view` notes. */
export function withFacts(view: AgentRun, run: AgentRun, own: Readonly<Record<string, unknown>>): object {
  const asJson = { value: (): unknown => ({ ...plain(run, AGENT_RUN_FACTS), ...own }) }
  const facts: PropertyDescriptorMap = { toJSON: asJson, [INSPECT]: asJson }
  for (const fact of Object.keys(AGENT_RUN_FACTS))
    facts[fact] = { enumerable: true, configurable: true, get: (): unknown => Reflect.get(view, fact) }
  for (const [fact, value] of Object.entries(own)) facts[fact] = { enumerable: true, value }
  return Object.freeze(Object.defineProperties({}, facts))
}

function copyable<View extends object>(view: View, reads: Reads, isCopied: boolean): View {
  return isCopied && Object.hasOwn(reads.run, 'output')
    ? withOwnFacts(view, (value, facts) => reads.watch(value, facts))
    : view
}

/** An object of a run, the reads of a scorer, and where the object is. */
interface Seen<T> {
  readonly target: T
  readonly run: AgentRun
  readonly index: number
  readonly reads: Reads
}

/** What reading a fact does: `note` looks at its value, `wrap` shows the parts of a list as views, which are made once. */
interface FactView<T, Value> {
  readonly note?: (seen: Seen<T>, value: Value) => void
  readonly wrap?: (seen: Seen<T>, value: Value) => Value
}

/**
 * Makes a class whose getters are the facts of a table: the same facts, and a note of those that were read although the run lacks them. No
 * read throws. Writing the whole as JSON notes nothing.
 *
 * @param special the facts that are not just read
 */
function viewsOf<T extends object>(
  facts: Facts<T>,
  special: { readonly [Fact in keyof T]?: FactView<T, T[Fact]> },
): (seen: Seen<T>) => T {
  class View {
    readonly #seen: Seen<T>
    #wrapped: Map<keyof T, unknown> | undefined

    static {
      for (const fact in facts) {
        const { note, wrap }: FactView<T, T[typeof fact]> = special[fact] ?? {}
        Object.defineProperty(View.prototype, fact, {
          configurable: true,
          get(this: View): unknown {
            const seen = this.#seen
            const value = seen.target[fact]
            note?.(seen, value)
            if (wrap === undefined) return value
            this.#wrapped ??= new Map()
            if (!this.#wrapped.has(fact)) this.#wrapped.set(fact, wrap(seen, value))
            return this.#wrapped.get(fact)
          },
        })
      }
      printAsJson(this.prototype)
    }

    constructor(seen: Seen<T>) {
      this.#seen = seen
      Object.freeze(this)
    }

    toJSON(): T {
      return plain(this.#seen.target, facts)
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has a getter for each fact of the table
  return (seen) => new View(seen) as unknown as T
}

const partsOf =
  <T>(view: (seen: Seen<T>) => T) =>
  ({ run, reads }: Seen<AgentRun>, parts: readonly T[]): readonly T[] =>
    parts.length === 0 ? parts : Object.freeze(parts.map((target, index) => view({ target, run, index, reads })))

interface Note<T> {
  readonly note: (seen: Seen<T>, value: unknown) => void
}

/** Notes a fact that is absent. */
const lacks = (fact: RunFact): Note<AgentRun> => ({
  note: ({ run, reads }, value) => {
    if (value === undefined) reads.note(fact, () => skipWithoutFact(run, fact, reads.scorerId))
  },
})
const lacksOfCall = (fact: 'arguments' | 'result'): Note<ToolCall> => ({
  note: ({ run, reads, index }, value) => {
    if (value === undefined) reads.note(fact, () => skipWithoutFact(run, `toolCalls[${index}].${fact}`, reads.scorerId))
  },
})
const lacksOfStep = (fact: 'input' | 'output', isExpected: (seen: Seen<ModelCall>) => boolean): Note<ModelCall> => ({
  note: (seen, value) => {
    const { run, reads, index } = seen
    if (value === undefined && isExpected(seen))
      reads.note(fact, () => skipWithoutMessages(run, `steps[${index}]`, fact, reads.scorerId))
  },
})

const viewToolCall = viewsOf<ToolCall>(TOOL_CALL_FACTS, {
  arguments: lacksOfCall('arguments'),
  result: lacksOfCall('result'),
})

const viewModelCall = viewsOf<ModelCall>(MODEL_CALL_FACTS, {
  // Those between the first and the last one are not kept.
  input: lacksOfStep('input', ({ index, run }) => index === 0 || index === run.steps.length - 1),
  output: lacksOfStep('output', ({ target: { status } }) => status !== 'error' && status !== 'aborted'),
})

const viewRetrieval = viewsOf<Retrieval>(RETRIEVAL_FACTS, {
  documents: {
    note: ({ run, reads, index }, documents) => {
      const isRead = documents?.length === 0 || documents?.some(({ content }) => content !== undefined) === true
      const fact = `retrievals[${index}].documents`
      if (!isRead) reads.note('documents', () => skipWithoutFact(run, fact, reads.scorerId))
    },
  },
})

/** Notes a fact that is absent only if the output cannot be read. */
const partOfOutput: Note<AgentRun> = { note: ({ reads }) => reads.note('toolCalls', () => undefined) }

/** Why not all calls are known, once it was asked. */
const unknownCalls = new WeakMap<Seen<AgentRun>, { readonly why: Skipped | undefined }>()

const viewRun: (seen: Seen<AgentRun>) => AgentRun = viewsOf<AgentRun>(AGENT_RUN_FACTS, {
  input: {
    note: ({ run, reads }, input) => {
      if (input.length === 0) reads.note('input', () => skipWithoutFact(run, 'input', reads.scorerId))
    },
  },
  userInput: lacks('input'),
  output: {
    note: ({ run, reads }, output) => {
      if (output === undefined) reads.note('output', () => skipWithoutAnswer(run, reads.scorerId))
    },
  },
  systemInstructions: lacks('systemInstructions'),
  availableTools: lacks('availableTools'),
  toolCalls: {
    // That takes longer than any other fact.
    note: (seen) => {
      const { run, reads } = seen
      reads.note('toolCalls', () => {
        const known = unknownCalls.get(seen) ?? { why: skipWithoutAllCalls(run, reads.scorerId) }
        unknownCalls.set(seen, known)
        return known.why
      })
    },
    wrap: partsOf(viewToolCall),
  },
  steps: { ...partOfOutput, wrap: partsOf(viewModelCall) },
  retrievals: { ...partOfOutput, wrap: partsOf(viewRetrieval) },
  children: {
    wrap: ({ reads }, children) =>
      Object.freeze(children.map((child) => viewRun({ target: child, run: child, index: 0, reads }))),
  },
})
