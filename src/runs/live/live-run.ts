import type { AgentRun } from '../../model/agent-run.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { ReconstructedRun } from '../view/run.ts'
import type { SettleDeadline } from './deadlines.ts'

/** The source of a `LiveRun`'s spans. */
export interface LiveRunSource {
  /** Changes when a span is added or ends. Anything read from the spans is valid until then. */
  readonly version: number
  readonly spanCount: number
  /** Bytes of content in the spans, an upper bound for the cost of reading them. */
  readonly contentBytes: number
  /** Whether recognised spans of the run are open. */
  readonly hasOpenSpans: boolean
  /** The layout of the run from its spans so far; `undefined` if they do not form a run. */
  plan(): RunPlan | undefined
  /** Keeps the current spans as the final ones. */
  freeze(): void
  /** Reads the content of spans until the time is up. Returns whether everything was read. */
  readAhead(isTimeUp: () => boolean): boolean
}

/** What is known about an ended run without its spans. */
export interface EndedRun {
  /** The SDK's span for the scores: the agent's, or that of the last model call if there is no agent span. */
  readonly span: SdkSpanLike
  readonly traceId: string
  /**
   * `nested`: another agent's tool call started it. `agentless`: there is no agent span, so scores are only on events and late spans.
   */
  readonly kind: 'run' | 'nested' | 'agentless'
  /** False if no scorer could want the run; then its spans were not kept. */
  readonly wanted: boolean
}

/** An ended run of this process, put together at first use. */
export class LiveRun {
  /** Scoring's own state of the run. A weak map keyed by runs would slow down every garbage collection. */
  scoringState: object | undefined
  /** When it is settled, if its spans are still open by then. */
  deadline: SettleDeadline | undefined
  readonly #ended: EndedRun
  readonly #source: LiveRunSource
  #isFrozen = false
  #built: AgentRun | undefined
  /** The version of the source when the run was built. */
  #builtFrom = NOT_BUILT

  constructor(ended: EndedRun, source: LiveRunSource) {
    this.#ended = ended
    this.#source = source
  }

  /** The SDK's span for the scores. */
  get span(): SdkSpanLike {
    return this.#ended.span
  }

  get traceId(): string {
    return this.#ended.traceId
  }

  /** Whether another agent's tool call started it. */
  get nested(): boolean {
    return this.#ended.kind === 'nested'
  }

  /** Whether there is no agent span. Then scores are only on events and late spans. */
  get agentless(): boolean {
    return this.#ended.kind === 'agentless'
  }

  /** False if no scorer could want the run; then its spans were not kept, and `current` returns `undefined`. */
  get wanted(): boolean {
    return this.#ended.wanted
  }

  /** Bytes of content in its spans, an upper bound for the cost of reading it. */
  get contentBytes(): number {
    return this.#source.contentBytes
  }

  /** The cost of putting it together, as bytes of content that take equally long to read. */
  get effortBytes(): number {
    return this.#source.contentBytes + this.#source.spanCount * SPAN_BYTES
  }

  /** Whether recognised spans below the agent are open. */
  get hasOpenSpans(): boolean {
    return !this.#isFrozen && this.#source.hasOpenSpans
  }

  /** Must be called when the run is settled. Later spans do not change it. */
  freeze(): void {
    if (this.#isFrozen) return
    // A judge may still read a wanted run when it leaves the queue.
    if (this.wanted) this.#source.freeze()
    this.#isFrozen = true
  }

  /** Reads the content of spans until the time is up, so that a large run is put together over several turns of the event loop. */
  readAhead(isTimeUp: () => boolean): boolean {
    return !this.wanted || this.#source.readAhead(isTimeUp)
  }

  /** The run with all spans so far. It is rebuilt only if spans have ended since the last call. */
  current(): AgentRun | undefined {
    if (!this.wanted || this.#builtFrom === BUILT_FOR_GOOD) return this.#built
    const { version } = this.#source
    if (this.#builtFrom !== version) {
      const plan = this.#source.plan()
      this.#built = plan && new ReconstructedRun(plan, this.#builtFrom === NOT_BUILT ? 1 : 2)
    }
    this.#builtFrom = this.#isFrozen ? BUILT_FOR_GOOD : version
    return this.#built
  }
}

/** Placing a span takes as long as reading this many bytes of content. */
const SPAN_BYTES = 512

const NOT_BUILT = -1
const BUILT_FOR_GOOD = -2
