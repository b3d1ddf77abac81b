import { SpanFacts } from '../../spans/facts.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { regroupFlat } from './regroup-flat.ts'
import { nestTwinCalls } from './duplicate-calls.ts'

/** One recognised span in the tree of the recognised spans of its trace. */
export interface TreeSpan {
  readonly facts: SpanFacts
  readonly span: SourceSpan
  /** The nearest recognised span above; `undefined` for the outermost ones, and where the way up is lost. */
  parent: TreeSpan | undefined
  readonly children: TreeSpan[]
  /** True where a span on the way up is named and was never seen. */
  isOrphan: boolean
  /** The id of the last span on the way up that was found or named: what siblings of a lost parent share. */
  topId: string
  /** True where the span has not ended: it gives the tree its shape, and no facts are read from it. */
  readonly isOpen: boolean
  /** Where it stands in the order that `buildTree` gives. */
  index: number
  /** For `cutCycles`: 0 not seen, 1 on the way up, 2 seen. */
  mark: 0 | 1 | 2
}

/** What is known beside the ended spans. */
export interface TreeContext {
  readonly logs: ReadonlyMap<string, readonly SourceLog[]>
  readonly isOpen: (spanId: string) => boolean
  /** Parents of spans that are not in the list, so that the way up goes on through them. */
  readonly parents: ReadonlyMap<string, string | undefined>
}

/**
 * The recognised spans of one trace as a tree, parents before children, siblings by start, end, id: the same for any
 * order in which the spans come. Spans that nobody recognises are gone through. Cycles are cut. Nothing recurses.
 */
export function buildTree(spans: readonly SourceSpan[], context: TreeContext): readonly TreeSpan[] {
  const nodes: TreeSpan[] = []
  const nodeOf = new Map<string, TreeSpan>()
  const strangers = new Map<string, SourceSpan>()
  for (const span of sorted(spans)) {
    const dialect = recognise(span.scope.name, span.attributes, span.name)
    if (dialect === undefined) {
      strangers.set(span.spanId, span)
      continue
    }
    const facts = new SpanFacts(span, dialect, roleOf(dialect, span), context.logs.get(span.spanId))
    const node: TreeSpan = {
      facts,
      span,
      parent: undefined,
      children: [],
      isOrphan: false,
      topId: '',
      isOpen: context.isOpen(span.spanId),
      index: -1,
      mark: 0,
    }
    nodes.push(node)
    nodeOf.set(span.spanId, node)
  }
  if (nodeOf.size + strangers.size < spans.length || share(strangers, nodeOf))
    return buildTree(withoutCopies(spans), context)
  for (const node of nodes) link(node, nodeOf, strangers, context.parents)
  regroupFlat(nodes)
  nestTwinCalls(nodes)
  cutCycles(nodes)
  return inOrder(nodes)
}

/** Whether a record of a span was recognised and another one was not. */
function share(strangers: ReadonlyMap<string, unknown>, nodes: ReadonlyMap<string, unknown>): boolean {
  for (const id of strangers.keys()) if (nodes.has(id)) return true
  return false
}

/** One record of each span. */
function withoutCopies(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  const byId = new Map<string, SourceSpan>()
  for (const span of spans) {
    const other = byId.get(span.spanId)
    if (other === undefined || compareCopies(span, other) > 0) byId.set(span.spanId, span)
  }
  return [...byId.values()]
}

/** Spans of this process come in the order of their starts. */
function sorted(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  let before: SourceSpan | undefined
  for (const span of spans) {
    if (before !== undefined && compareSpans(before, span) > 0) return spans.toSorted(compareSpans)
    before = span
  }
  return spans
}

/**
 * By start, then by the order of the hooks where that is known, else by end and id: start times tie, and the result must not
 * depend on the order of arrival.
 */
export function compareSpans(left: SourceSpan, right: SourceSpan): number {
  return (
    left.startTimeMs - right.startTimeMs ||
    (left.startOrder ?? 0) - (right.startOrder ?? 0) ||
    left.endTimeMs - right.endTimeMs ||
    (left.spanId < right.spanId ? -1 : left.spanId > right.spanId ? 1 : 0)
  )
}

/** Which of two records of one span to keep: the later, then the one that says more. */
function compareCopies(left: SourceSpan, right: SourceSpan): number {
  return left.endTimeMs - right.endTimeMs || Object.keys(left.attributes).length - Object.keys(right.attributes).length
}

/** Goes up through spans that nobody recognises. A way that comes back to itself ends there. */
function link(
  node: TreeSpan,
  nodes: ReadonlyMap<string, TreeSpan>,
  strangers: ReadonlyMap<string, SourceSpan>,
  parents: ReadonlyMap<string, string | undefined>,
): void {
  let id = node.span.parentSpanId
  let isRemote = node.span.parentIsRemote === true
  let passed: Set<string> | undefined
  node.topId = id ?? ''
  while (id !== undefined && id !== '' && passed?.has(id) !== true && id !== node.span.spanId) {
    node.topId = id
    const parent = nodes.get(id)
    if (parent !== undefined) {
      node.parent = parent
      return
    }
    passed ??= new Set()
    passed.add(id)
    const span = strangers.get(id)
    if (span === undefined && !parents.has(id)) {
      node.isOrphan = !isRemote
      return
    }
    isRemote = span?.parentIsRemote === true
    id = span?.parentSpanId ?? parents.get(id)
  }
}

function cutCycles(nodes: readonly TreeSpan[]): void {
  for (const start of nodes) {
    let node: TreeSpan | undefined = start
    while (node?.mark === 0) {
      node.mark = 1
      if (node.parent?.mark === 1) {
        node.parent = undefined
        node.isOrphan = true
      }
      node = node.parent
    }
    for (node = start; node?.mark === 1; node = node.parent) node.mark = 2
  }
}

function inOrder(nodes: readonly TreeSpan[]): readonly TreeSpan[] {
  const roots: TreeSpan[] = []
  // Nodes come sorted, so children and roots are sorted too.
  for (const node of nodes) (node.parent?.children ?? roots).push(node)
  const ordered: TreeSpan[] = []
  const waiting = roots.toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    node.index = ordered.length
    ordered.push(node)
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index]
      if (child !== undefined) waiting.push(child)
    }
  }
  return ordered
}
