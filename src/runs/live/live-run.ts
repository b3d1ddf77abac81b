import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { SpanGroup, SpanNode } from './span-node.ts'

/** How a `LiveRun` gets at its spans: the store's business. */
export interface LiveRunSource {
  /** The spans of the run that are kept by now. */
  members(run: LiveRun): readonly SpanNode[]
  /** Puts the run together; `revision` is 2 where spans ended after it was first asked for. */
  build(run: LiveRun, members: readonly SpanNode[], revision: 1 | 2): AgentRun | undefined
  hasOpenSpans(run: LiveRun): boolean
  beganHere(run: LiveRun): boolean
}

/** A run that has ended in this process, put together when somebody asks. */
export class LiveRun {
  /** The node of the span that scores belong to. */
  readonly node: SpanNode
  /** True for the run of an agent that another agent's tool call started. */
  readonly nested: boolean
  /** True where there is no agent span: scores go on events and late spans alone. */
  readonly bare: boolean
  /** For whoever follows the run: what it keeps with it. A weak map from runs would cost every collection its share. */
  note: object | undefined
  readonly #source: LiveRunSource
  #frozen: readonly SpanNode[] | undefined
  #group: SpanGroup | undefined
  #built: AgentRun | undefined
  /** How many spans had ended when it was built: -1 not built yet, -2 built for good. */
  #builtFrom = NOT_BUILT

  constructor(node: SpanNode, kind: 'run' | 'nested' | 'bare', source: LiveRunSource) {
    this.node = node
    this.nested = kind === 'nested'
    this.bare = kind === 'bare'
    this.#source = source
  }

  /** The group that it was found in; its node lets go of it when the run is closed. */
  get group(): SpanGroup {
    return this.#group ?? this.node.group
  }

  /** The span that scores belong to: the agent's own, or the last chat of a run that has no agent span. */
  get span(): SdkSpanLike {
    return this.node.span
  }

  get traceId(): string {
    return this.group.traceId
  }

  /** False where no scorer could want the run: its spans were not kept, `current` gives nothing. */
  get wanted(): boolean {
    return this.group.wanted
  }

  /** Bytes of content in its spans, an upper estimate of what reading it takes. */
  get contentBytes(): number {
    return this.group.contentBytes
  }

  /** What it takes to put it together, in bytes of content that would take as long to read. */
  get effortBytes(): number {
    return this.group.contentBytes + this.group.nodes.length * SPAN_BYTES
  }

  /** Whether recognised spans below are open at this moment. */
  get hasOpenSpans(): boolean {
    return this.#frozen === undefined && this.#source.hasOpenSpans(this)
  }

  /** Whether its trace began in this process, as far as its spans tell: no caller decided whether it is recorded. */
  get beganHere(): boolean {
    return this.#source.beganHere(this)
  }

  /** To be called when the run is settled: from then on it is what it is, and holds its own spans. */
  freeze(): void {
    // Where it is wanted it may still be asked for: by a judge, when its turn comes.
    this.#frozen ??= this.wanted ? [...this.#source.members(this)] : []
    this.#group = this.node.group
  }

  /** The run as its spans tell it by now; put together anew only where spans ended since it was last asked for. */
  current(): AgentRun | undefined {
    if (!this.wanted || this.#builtFrom === BUILT_FOR_GOOD) return this.#built
    const members = this.#frozen ?? this.#source.members(this)
    const ended = members.reduce((count, member) => count + (member.open ? 0 : 1), 0)
    if (this.#builtFrom !== ended) {
      this.#built = this.#source.build(this, members, this.#builtFrom === NOT_BUILT ? 1 : 2)
    }
    this.#builtFrom = this.#frozen === undefined ? ended : BUILT_FOR_GOOD
    return this.#built
  }
}

/** Putting a span in its place takes as long as reading so many bytes of content. */
const SPAN_BYTES = 512

const NOT_BUILT = -1
const BUILT_FOR_GOOD = -2
