import type { Message, ToolCallPart } from '../model/message.ts'
import { SpanFacts } from '../spans/facts.ts'
import type { IdsOnSpan } from '../spans/ids.ts'
import type { Surrounding } from '../spans/surrounding.ts'
import type { Below } from './placement.ts'

/**
 * A recognised span: its facts, read through its dialect, and its place among the recognised spans of its trace. The facts are final once
 * the span has ended. Each layout writes the place anew, because more spans may arrive.
 */
export class TraceSpan extends SpanFacts {
  /** The nearest recognised ancestor; `undefined` for outermost spans, and if an ancestor is lost. */
  parent: TraceSpan | undefined
  /** Whether an ancestor is named but was never seen. */
  isOrphan = false
  /** True for an orphan that any of several active runs could own. */
  isAmbiguous = false
  /** True for an agent whose run may lack spans, because another active run could own them as well. */
  lacksSpans = false
  /** The id of the topmost known or named ancestor. Siblings with a lost parent share it. */
  topId = ''
  /** What was below it in this process and has been dropped with a finished run. */
  forgottenBelow: Below | undefined
  /** The ids that only another record of its run has. */
  otherIds: IdsOnSpan | undefined
  /** Whether the span is still open. It then shapes the tree, but no facts are read from it. */
  isOpen = false
  /** Spans of the same model or tool call that other instrumentations wrote inside it. */
  inner: readonly TraceSpan[] = NONE
  /** The list behind `inner`, if it is not empty. */
  #inner: TraceSpan[] | undefined
  /** Its first child, in layout order. Children are a linked list, because most spans have none. */
  firstChild: TraceSpan | undefined
  lastChild: TraceSpan | undefined
  nextSibling: TraceSpan | undefined
  /** The nearest agent or step above that names an agent, once somebody has looked for it. */
  namedAbove: { readonly agent: TraceSpan | undefined } | undefined
  /** Its index in layout order. */
  index = -1
  /** For finding cycles: 0 not visited, 1 on the current path, 2 visited. */
  mark: 0 | 1 | 2 = 0

  /** Sets its place, before a layout. */
  link(parent: TraceSpan | undefined, topId: string, isOrphan: boolean): void {
    this.parent = parent
    this.topId = topId
    this.isOrphan = isOrphan
    this.isAmbiguous = false
    this.inner = NONE
    this.#inner = undefined
    this.firstChild = undefined
    this.lastChild = undefined
    this.nextSibling = undefined
    this.namedAbove = undefined
    this.index = -1
    this.mark = 0
  }

  /** The ids of the spans above it, from the nearest, as far as they are known. */
  *idsAbove(): Generator<IdsOnSpan, void> {
    let left = MAX_ABOVE
    for (let { parent } = this; parent !== undefined && left > 0; parent = parent.parent) {
      left -= 1
      if (parent.ids !== undefined) yield parent.ids
    }
  }

  /** What describes its run on spans above it that no dialect recognises, from the nearest. */
  *surroundings(): Generator<Surrounding, void> {}

  addInner(span: TraceSpan): void {
    if (this.#inner === undefined) {
      this.#inner = []
      this.inner = this.#inner
    }
    this.#inner.push(span)
  }

  addChild(span: TraceSpan): void {
    if (this.lastChild === undefined) this.firstChild = span
    else this.lastChild.nextSibling = span
    this.lastChild = span
  }
}

/** Most spans above a run that are asked for ids: each of thousands of nested runs asks all of those above it. */
export const MAX_ABOVE = 100

const NONE: readonly TraceSpan[] = []

/** Whether a tool that is not its ancestor may have started the agent. */
export function isBesideItsTool({ dialect, role, span }: TraceSpan): boolean {
  return role === 'agent' && dialect.quirks?.startsBesideItsTool?.(span) === true
}

/** Whether the library writes the spans of a run side by side, so that parents do not show where this span belongs. */
export function isFlat({ dialect, span }: Pick<TraceSpan, 'dialect' | 'span'>): boolean {
  return dialect.quirks?.isFlat?.(span) === true
}

/** A fact of a model call: from its span, or else from another instrumentation's span of the same call. */
export function pick<T>(model: TraceSpan, read: (facts: SpanFacts) => T | undefined): T | undefined {
  const own = read(model)
  if (own !== undefined || model.inner.length === 0) return own
  for (const node of model.inner) {
    const value = read(node)
    if (value !== undefined) return value
  }
  return undefined
}

/** What a model was sent, history included. */
export function inputOf(model: TraceSpan): readonly Message[] | undefined {
  return pick(model, (facts) => facts.input)
}

/** What a model said. */
export function outputOf(model: TraceSpan): readonly Message[] | undefined {
  return pick(model, (facts) => facts.output)
}

/** The tool calls that a model asked for. */
export function callsOf(model: TraceSpan): readonly ToolCallPart[] {
  const own = model.toolCalls
  if (own.length > 0 || model.inner.length === 0) return own
  return model.inner.map((node) => node.toolCalls).find((calls) => calls.length > 0) ?? own
}
