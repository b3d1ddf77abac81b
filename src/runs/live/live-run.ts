import type { AgentRun } from '../../model/agent-run.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { mostReadBytes } from '../read-bytes.ts'
import { ReconstructedRun } from '../view/run.ts'
import type { SettleDeadline } from './deadlines.ts'

/** The source of a `LiveRun`'s spans. */
export interface LiveRunSource {
  /** Changes when a span is added or ends. Anything read from the spans is valid until then. */
  readonly version: number
  readonly spanCount: number
  /** Bytes of content in the spans. */
  readonly contentBytes: number
  /** Estimated bytes of content that scorers read. */
  readonly readBytes: number
  /** Whether recognised spans of the run are open. */
  readonly hasOpenSpans: boolean
  /** The layout of the run from its spans so far; `undefined` if they do not form a run. */
  plan(): RunPlan | undefined
  /** Keeps the current spans as the final ones. */
  freeze(): void
  /** Reads the content of spans in steps. */
  readInSteps(): Generator<undefined, void>
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
  #readBytes: { readonly version: number; readonly bytes: number } | undefined
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

  /** Bytes of content in its spans. */
  get contentBytes(): number {
    return this.#source.contentBytes
  }

  /** Estimated bytes of content that scorers read, placing the spans included. */
  get readBytes(): number {
    const { contentBytes, spanCount, version } = this.#source
    const most = mostReadBytes(contentBytes, spanCount)
    if (most <= FEW_BYTES) return most
    if (this.#readBytes?.version !== version) this.#readBytes = { version, bytes: this.#source.readBytes }
    return this.#readBytes.bytes
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

  /** Reads the content of spans in steps, so that a large run is put together over several turns of the event loop. */
  *readInSteps(): Generator<undefined, void> {
    if (this.wanted) yield* this.#source.readInSteps()
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

/** Of runs with less content, all of it counts: they are small in any case. */
const FEW_BYTES = 64 * 1024

const NOT_BUILT = -1
const BUILT_FOR_GOOD = -2
