import { mayBeNested } from '../layout/lost-parents.ts'
import { isBesideItsTool, isFlat } from '../trace-span.ts'
import type { LiveSpan, TreeNode } from './tree-node.ts'

/** With more lost parents than that, each of the agents waits for the end of the others. */
const MAX_LOST = 256

/** The tree of one trace, as far as spans have arrived: its recognised spans, and all nodes that connect them. */
export class TraceTree {
  readonly traceId: string
  /** All nodes, recognised or not. */
  readonly byId: Map<string, TreeNode> = new Map()
  /** Listed nodes without a parent here. */
  readonly roots: Set<TreeNode> = new Set()
  /** Places that wait for the parent that they name. */
  readonly #unplaced = new Map<string, Set<TreeNode>>()
  /** How many roots name a parent of this process that was not seen. */
  lost = 0
  /** Whether parents do not show which spans belong together: an agent beside its tool, or a library that writes all spans side by side. */
  isBeside = false
  isFlat = false

  constructor(traceId: string) {
    this.traceId = traceId
  }

  /** Adds a span that a dialect recognises. */
  add(node: TreeNode, span: LiveSpan): void {
    this.register(node)
    this.list(node)
    if (isFlat(span)) this.isFlat = true
    if (isBesideItsTool(span)) this.isBeside = true
    const wasActive = node.isActive
    node.span = span
    if (span.isOpen && !wasActive) raiseAbove(node)
  }

  /** Adds the node of a span that has ended, from a file or a request. Spans may come in any order. */
  record(node: TreeNode): void {
    node.isOpen = false
    if (node.parentId !== node.spanId) node.above = this.byId.get(node.parentId)
    this.register(node)
  }

  /** Makes a node, and those above it, known by their ids. Nodes that named it as their parent are below it from now on. */
  register(node: TreeNode): void {
    let each: TreeNode | undefined = node
    while (each !== undefined && this.byId.get(each.spanId) !== each) {
      this.byId.set(each.spanId, each)
      const children = this.#unplaced.get(each.spanId)
      if (children !== undefined) {
        this.#unplaced.delete(each.spanId)
        const top = topOf(each)
        // A cycle of ids stays cut here.
        for (const child of children) if (child !== top) this.#putBelow(child, each)
      }
      each = each.above
    }
  }

  /** Whether the layout may put spans whose parent was not seen below an agent. They are above it if it has the same parent. */
  mayOwnLost(agent: TreeNode): boolean {
    if (this.lost === 0) return false
    if (this.#unplaced.size > MAX_LOST) return true
    const top = topOf(agent)
    for (const [parentId, nodes] of this.#unplaced) {
      if (parentId === top.parentId) continue
      for (const node of nodes) if (node.isLost && (node.span === undefined || mayBeNested(node.span))) return true
    }
    return false
  }

  /**
   * Removes a node that is not needed any more, with all below it. Calls back for each of these nodes, which may forget their ids.
   *
   * @param stays whether a node below it goes on without it
   */
  remove(top: TreeNode, onRemoved: (node: TreeNode) => void, stays: (node: TreeNode) => boolean = () => false): void {
    if (this.roots.delete(top) && top.isLost) this.lost -= 1
    const { above } = top
    if (above?.below !== undefined) above.below = above.below.filter((each) => each !== top)
    const siblings = this.#unplaced.get(top.parentId)
    siblings?.delete(top)
    if (siblings?.size === 0) this.#unplaced.delete(top.parentId)
    const left: TreeNode[] = []
    const waiting = [top]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const child of node.below ?? []) (stays(child) ? left : waiting).push(child)
      onRemoved(node)
    }
    for (const node of left) {
      // What is above goes on to describe the run: which conversation and user, and what the request was.
      node.removedAbove = node.above ?? node.removedAbove
      node.above = undefined
      node.isListed = false
      this.list(node)
    }
  }

  /** Lists a node in its parent, and so on upwards. */
  list(node: TreeNode): void {
    let each = node
    for (let above = this.#parentOf(each); above !== undefined; above = this.#parentOf(each)) {
      if (each.isListed) return
      each.isListed = true
      if (above.below === undefined) above.below = [each]
      else above.below.push(each)
      each = above
    }
    if (this.roots.has(each)) return
    this.roots.add(each)
    if (each.parentId === '') return
    if (each.isLost) this.lost += 1
    const siblings = this.#unplaced.get(each.parentId)
    if (siblings === undefined) this.#unplaced.set(each.parentId, new Set([each]))
    else siblings.add(each)
  }

  /** The parent of a node. It may have come after a node that had nothing recognised in it, and was not waiting for it. */
  #parentOf(node: TreeNode): TreeNode | undefined {
    if (node.above !== undefined || node.parentId === '') return node.above
    const parent = this.byId.get(node.parentId)
    if (parent !== undefined && topOf(parent) !== node) node.above = parent
    return node.above
  }

  #putBelow(root: TreeNode, above: TreeNode): void {
    this.roots.delete(root)
    if (root.isLost) this.lost -= 1
    root.above = above
    this.list(root)
    if (root.isActive) raiseAbove(root)
  }
}

/** The outermost known node above one. */
export function topOf(node: TreeNode): TreeNode {
  let top = node
  while (top.above !== undefined) top = top.above
  return top
}

/** Must be called when a node has become active. */
function raiseAbove(node: TreeNode): void {
  for (let { above } = node; above !== undefined; above = above.above) {
    above.openBelow += 1
    if (above.openBelow > 1 || above.span?.isOpen === true) return
  }
}

/** Must be called when the span of a node has ended. Calls back with each node that is not active any more, from below. */
export function lower(node: TreeNode, onQuiet: (node: TreeNode) => void): void {
  for (let each = node; !each.isActive;) {
    onQuiet(each)
    const { above } = each
    if (above === undefined) return
    above.openBelow -= 1
    each = above
  }
}
