import type { AgentRun } from '../../model/agent-run.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { frozen } from '../view/frozen.ts'
import { ReconstructedRun } from '../view/run.ts'
import type { LiveSpan } from './live-span.ts'
import type { SpanGroup } from './span-group.ts'

/** What is kept of a run when it is settled. */
export interface KeptSpans {
  /** The spans themselves, where they are not simply those below the agent. */
  readonly spans: readonly LiveSpan[] | undefined
  /** How many spans had started. */
  readonly startedByOrder: number
  readonly lacksSpans: boolean
}

/** How a `LiveRun` gets at its spans. */
export interface LiveRunSource {
  /** The layout of the run, from its spans as they are by now; `undefined` where they make no run. */
  plan(run: LiveRun): RunPlan | undefined
  hasOpenSpans(run: LiveRun): boolean
  /** Keeps what the run consists of by now. */
  freeze(run: LiveRun): void
}

/** A run that has ended in this process, put together when somebody asks. */
export class LiveRun {
  /** The span that scores belong to: the agent's own, or the last model call of a run that has no agent span. */
  readonly agent: LiveSpan
  /** True for the run of an agent that another agent's tool call started. */
  readonly nested: boolean
  /** True where there is no agent span: scores go on events and late spans alone. */
  readonly agentless: boolean
  /** What scoring keeps with the run. In a weak map from runs it would slow down every garbage collection. */
  scoringState: object | undefined
  /** What was kept of it when it was settled. */
  kept: KeptSpans | undefined
  readonly group: SpanGroup
  readonly #source: LiveRunSource
  /** Spans that have not been read ahead. */
  #unread: LiveSpan[] | undefined
  #isFrozen = false
  #built: AgentRun | undefined
  /** The version of the group when it was built. */
  #builtFrom = NOT_BUILT

  constructor(agent: LiveSpan, kind: 'run' | 'nested' | 'agentless', source: LiveRunSource) {
    this.agent = agent
    this.nested = kind === 'nested'
    this.agentless = kind === 'agentless'
    this.group = agent.group
    this.#source = source
  }

  /** The SDK's span of `agent`. */
  get span(): SdkSpanLike {
    return this.agent.sdkSpan
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
    return this.nested ? this.agent.subtree.contentBytes : this.group.contentBytes
  }

  /** What it takes to put it together, in bytes of content that would take as long to read. */
  get effortBytes(): number {
    const spans = this.nested ? this.agent.subtree.size : this.group.spans.length
    return this.contentBytes + spans * SPAN_BYTES
  }

  /** Whether recognised spans below are open at this moment. */
  get hasOpenSpans(): boolean {
    return !this.#isFrozen && this.#source.hasOpenSpans(this)
  }

  /** To be called when the run is settled: from then on it is what it is. */
  freeze(): void {
    if (this.#isFrozen) return
    // Where it is wanted it may still be asked for: by a judge, when its turn comes.
    if (this.wanted) this.#source.freeze(this)
    this.#isFrozen = true
  }

  /** Reads what its spans hold until time is up, so that putting together a large run takes several turns of the event loop. */
  readAhead(isTimeUp: () => boolean): boolean {
    if (!this.wanted) return true
    this.#unread ??= [...(this.kept?.spans ?? this.agent.withAllBelow())]
    for (let span = this.#unread.pop(); span !== undefined; span = this.#unread.pop()) {
      if (!span.isOpen) readContent(span)
      if (isTimeUp()) break
    }
    return this.#unread.length === 0
  }

  /** The run as its spans show it by now; put together anew only where spans ended since it was last asked for. */
  current(): AgentRun | undefined {
    if (!this.wanted || this.#builtFrom === BUILT_FOR_GOOD) return this.#built
    if (this.#builtFrom !== this.group.version) {
      const plan = this.#source.plan(this)
      this.#built = plan && new ReconstructedRun(plan, this.#builtFrom === NOT_BUILT ? 1 : 2)
    }
    this.#builtFrom = this.#isFrozen ? BUILT_FOR_GOOD : this.group.version
    return this.#built
  }
}

/** Reads what takes long: each fact is kept with the span. What a model was given is read by few scorers, and stays unread here. */
function readContent(span: LiveSpan): void {
  try {
    span.sortLogs()
    frozen(span.output)
    frozen(span.toolCalls)
    frozen(span.toolArguments)
    frozen(span.toolResult)
  } catch {
    // The value cannot be looked at. What asks the run for it gets the error.
  }
}

/** Putting a span in its place takes as long as reading so many bytes of content. */
const SPAN_BYTES = 512

const NOT_BUILT = -1
const BUILT_FOR_GOOD = -2
