import type { AgentRun } from '../../model/agent-run.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { ReconstructedRun } from '../view/run.ts'

/** The spans of a `LiveRun`, wherever they are kept. */
export interface LiveRunSource {
  /** How often a span was added, or has ended: what was read is as good as long as this is the same. */
  readonly version: number
  readonly spanCount: number
  /** Bytes of content in the spans, an upper estimate of what reading them takes. */
  readonly contentBytes: number
  /** Whether recognised spans of the run are open at this moment. */
  readonly hasOpenSpans: boolean
  /** The layout of the run, from its spans as they are by now; `undefined` if they make no run. */
  plan(): RunPlan | undefined
  /** Keeps what the run consists of by now. */
  freeze(): void
  /** Reads what the spans hold until time is up. Whether all of it is read. */
  readAhead(isTimeUp: () => boolean): boolean
}

/** What is known of a run that has ended, without its spans. */
export interface EndedRun {
  /** The SDK's span that scores belong to: the agent's own, or that of the last model call of a run that has no agent span. */
  readonly span: SdkSpanLike
  readonly traceId: string
  /**
   * `nested`: another agent's tool call started it. `agentless`: there is no agent span, so that scores go on events and late
   * spans alone.
   */
  readonly kind: 'run' | 'nested' | 'agentless'
  /** False where no scorer could want the run: its spans were not kept. */
  readonly wanted: boolean
}

/** A run that has ended in this process, put together when somebody asks. */
export class LiveRun {
  /** What scoring keeps with the run. In a weak map from runs it would slow down every garbage collection. */
  scoringState: object | undefined
  readonly #ended: EndedRun
  readonly #source: LiveRunSource
  #isFrozen = false
  #built: AgentRun | undefined
  /** The version of the source when it was built. */
  #builtFrom = NOT_BUILT

  constructor(ended: EndedRun, source: LiveRunSource) {
    this.#ended = ended
    this.#source = source
  }

  /** The SDK's span that scores belong to. */
  get span(): SdkSpanLike {
    return this.#ended.span
  }

  get traceId(): string {
    return this.#ended.traceId
  }

  /** True for the run of an agent that another agent's tool call started. */
  get nested(): boolean {
    return this.#ended.kind === 'nested'
  }

  /** True where there is no agent span: scores go on events and late spans alone. */
  get agentless(): boolean {
    return this.#ended.kind === 'agentless'
  }

  /** False where no scorer could want the run: its spans were not kept, `current` gives nothing. */
  get wanted(): boolean {
    return this.#ended.wanted
  }

  /** Bytes of content in its spans, an upper estimate of what reading it takes. */
  get contentBytes(): number {
    return this.#source.contentBytes
  }

  /** What it takes to put it together, in bytes of content that would take as long to read. */
  get effortBytes(): number {
    return this.#source.contentBytes + this.#source.spanCount * SPAN_BYTES
  }

  /** Whether recognised spans below are open at this moment. */
  get hasOpenSpans(): boolean {
    return !this.#isFrozen && this.#source.hasOpenSpans
  }

  /** To be called when the run is settled: from then on it is what it is. */
  freeze(): void {
    if (this.#isFrozen) return
    // Where it is wanted it may still be asked for: by a judge, when its turn comes.
    if (this.wanted) this.#source.freeze()
    this.#isFrozen = true
  }

  /** Reads what its spans hold until time is up, so that putting together a large run takes several turns of the event loop. */
  readAhead(isTimeUp: () => boolean): boolean {
    return !this.wanted || this.#source.readAhead(isTimeUp)
  }

  /** The run as its spans show it by now; put together anew only where spans ended since it was last asked for. */
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

/** Putting a span in its place takes as long as reading so many bytes of content. */
const SPAN_BYTES = 512

const NOT_BUILT = -1
const BUILT_FOR_GOOD = -2
