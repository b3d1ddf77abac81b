import type { AgentRun } from '../../model/agent-run.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'
import { ReconstructedRun } from '../view/run.ts'
import { readBytesOf } from '../read-bytes.ts'
import { readAhead } from './read-ahead.ts'
import { LiveSpan } from './tree-node.ts'

/** What is known of an ended run without its spans. */
export interface RunPlace {
  /** The SDK's span for the scores: the agent's, or that of the last model call if there is no agent span. */
  readonly span: SdkSpanLike
  readonly traceId: string
  /**
   * `nested`: another agent's tool call started it. `agentless`: there is no agent span, so scores are only on events and late spans.
   */
  readonly kind: 'run' | 'nested' | 'agentless'
  /** False if no scorer could want the run; then it is only counted. */
  readonly wanted: boolean
}

/** A run of this process that has ended, as far as its spans are known. */
export class EndedRun {
  /** Scoring's own state of the run. A weak map keyed by runs would slow down every garbage collection. */
  scoringState: object | undefined
  /** Whether later spans do not change it any more. */
  isFinal = false
  /** The SDK's span for the scores. */
  readonly span: SdkSpanLike
  readonly traceId: string
  readonly #kind: RunPlace['kind']
  /** False if no scorer could want the run. Then `current` returns `undefined`. */
  readonly wanted: boolean
  /** The span that identifies the run. */
  readonly #root: LiveSpan
  #plan: RunPlan | undefined
  #spans: readonly LiveSpan[] = []
  #state = ''
  #revision = 1
  #built: AgentRun | undefined
  #contentBytes = 0
  #readBytes: number

  /** @param readBytes an estimate, as long as it is not laid out */
  constructor(root: LiveSpan, { span, traceId, kind, wanted }: RunPlace, readBytes: number) {
    this.#root = root
    this.span = span
    this.traceId = traceId
    this.#kind = kind
    this.wanted = wanted
    this.#readBytes = readBytes
  }

  /** Whether another agent's tool call started it. */
  get nested(): boolean {
    return this.#kind === 'nested'
  }

  /** Whether there is no agent span. Then scores are only on events and late spans. */
  get agentless(): boolean {
    return this.#kind === 'agentless'
  }

  /** Bytes of content in its spans. */
  get contentBytes(): number {
    return this.#contentBytes
  }

  /** Estimated bytes of content that scorers read, placing the spans included. */
  get readBytes(): number {
    return this.#readBytes
  }

  /** Its spans, with those of the runs that its tools started. */
  get spans(): readonly LiveSpan[] {
    return this.#spans
  }

  /** Whether recognised spans of the run are open. */
  get hasOpenSpans(): boolean {
    return !this.isFinal && this.#root.node.isActive
  }

  /** Takes the latest layout of the run. Returns whether it differs from the one before. */
  take(plan: RunPlan): boolean {
    if (this.isFinal) return false
    const before = this.#state
    this.#measure(plan)
    const isNews = this.#state !== before
    if (!isNews && this.#built !== undefined) return false
    if (this.#built !== undefined) this.#revision += 1
    this.#built = undefined
    this.#plan = plan
    return isNews
  }

  /** Reads the content of spans in steps, so that a large run is put together over several turns of the event loop. */
  *readInSteps(): Generator<undefined, void> {
    if (this.wanted) yield* readAhead(this.#spans)
  }

  /** The run with all spans so far; `undefined` if it is not laid out yet. */
  current(): AgentRun | undefined {
    if (!this.wanted || this.#plan === undefined) return undefined
    this.#built ??= new ReconstructedRun(this.#plan, this.#revision)
    return this.#built
  }

  /** Anything that changes the run changes one of these numbers, because spans and log records are only added, and end. */
  #measure(plan: RunPlan): void {
    let [open, logs, bytes] = [0, 0, 0]
    const all = (this.#spans = spansOf(plan))
    for (const span of all) {
      if (span.isOpen) open += 1
      logs += span.logCount
      bytes += span.contentBytes
    }
    this.#contentBytes = bytes
    this.#readBytes = readBytesOf(all)
    this.#state = `${all.length} ${open} ${logs} ${plan.isComplete}`
  }
}

/** All spans of a run, with those of the runs that its tools started. */
export function spansOf(top: RunPlan): readonly LiveSpan[] {
  const spans: LiveSpan[] = []
  const waiting = [top]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    const { root, inside, models, asides, sideModels, retrievals, tools, children } = plan
    // The root of a run without an agent is the first of its calls.
    const agents = root.role === 'model' ? [] : [root]
    const others = retrievals.length === 0 ? [] : othersOf(retrievals, asides)
    for (const some of [agents, inside, models, asides, tools, sideModels.map(({ model }) => model), others]) {
      for (const span of some) {
        if (span instanceof LiveSpan) spans.push(span)
        for (const inner of span.inner) if (inner instanceof LiveSpan) spans.push(inner)
      }
    }
    if (children.length > 0) waiting.push(...children)
  }
  return spans
}

/** The retrievals that are in no other list: those below tools and other spans that serve the run. */
function othersOf(retrievals: RunPlan['retrievals'], asides: RunPlan['asides']): readonly TraceSpan[] {
  const known = new Set(asides)
  return retrievals.flatMap(({ span }) => (known.has(span) ? [] : [span]))
}

/** The span that identifies a run of a buffer. */
export function rootOf({ root }: RunPlan): LiveSpan {
  if (root instanceof LiveSpan) return root
  throw new TypeError('Expected a run that was laid out from a tree, got one whose spans have no node.')
}
