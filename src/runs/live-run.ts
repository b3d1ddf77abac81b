import type { SdkSpanLike } from '../spans/from-sdk-span.ts'
import type { AgentRun } from './agent-run.ts'
import type { SpanNode } from './span-node.ts'

/** A run that has ended in this process, put together when somebody asks. */
export interface LiveRun {
  /** The span that scores belong to: the agent's own, or the last chat of a run that has no agent span. */
  readonly span: SdkSpanLike
  readonly traceId: string
  /** True for the run of an agent that another agent's tool call started. */
  readonly nested: boolean
  /** True where there is no agent span: scores go on events and late spans alone. */
  readonly bare: boolean
  /** False where no scorer could want the run: its spans were not kept, `current` gives nothing. */
  readonly wanted: boolean
  /** Bytes of content in its spans, an upper estimate of what reading it takes. */
  readonly contentBytes: number
  /** Whether recognised spans below are open at this moment. */
  readonly hasOpenSpans: boolean
  /** The run as its spans tell it by now; put together anew only where spans ended since it was last asked for. */
  current(): AgentRun | undefined
}

/** What a `LiveRun` is made of. */
export interface LiveRunParts {
  readonly node: SpanNode
  readonly nested: boolean
  readonly bare: boolean
  /** The spans of the run that are kept by now. */
  readonly members: () => readonly SpanNode[]
  /** Puts the run together; `revision` is 2 where spans ended after it was first asked for. */
  readonly build: (members: readonly SpanNode[], revision: 1 | 2) => AgentRun | undefined
  readonly hasOpenSpans: () => boolean
}

/** A `LiveRun` as the store holds it. */
export interface StoredRun extends LiveRun {
  /** To be called when the run is settled: from then on it is what it is, and holds its own spans. */
  freeze(): void
}

/** Makes a `LiveRun` that keeps what it built until another span of the run ends. */
export function createLiveRun(parts: LiveRunParts): StoredRun {
  const { node } = parts
  let frozen: readonly SpanNode[] | undefined
  let built: { readonly run: AgentRun | undefined; readonly ended: number } | undefined
  return {
    span: node.span,
    traceId: node.group.traceId,
    nested: parts.nested,
    bare: parts.bare,
    wanted: node.group.wanted,
    get contentBytes() {
      return node.group.contentBytes
    },
    get hasOpenSpans() {
      return frozen === undefined && parts.hasOpenSpans()
    },
    freeze() {
      // Where it is wanted it may still be asked for: by a judge, when its turn comes.
      frozen ??= node.group.wanted ? [...parts.members()] : []
    },
    current() {
      if (!node.group.wanted) return undefined
      const members = frozen ?? parts.members()
      // A frozen run does not change, though its last spans may end late.
      if (
        built !== undefined &&
        (frozen === undefined ? countEnded(members) === built.ended : built.ended === FROZEN)
      ) {
        return built.run
      }
      const ended = countEnded(members)
      const isSame = built?.ended === ended
      built = {
        run: isSame ? built?.run : parts.build(members, built === undefined ? 1 : 2),
        ended: frozen === undefined ? ended : FROZEN,
      }
      return built.run
    },
  }
}

/** In place of a count: built after the run was frozen. */
const FROZEN = -1

function countEnded(members: readonly SpanNode[]): number {
  return members.reduce((count, member) => count + (member.open ? 0 : 1), 0)
}
