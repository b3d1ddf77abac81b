import type { Dialect } from '../../spans/dialect.ts'
import { markIncomplete } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { inheritIds } from '../layout/record-ids.ts'
import { MAX_APART_MS } from '../layout/run-records.ts'
import { EndedRun, rootOf, spansOf } from './ended-run.ts'
import { LiveSpan } from './tree-node.ts'
import type { TreeNode } from './tree-node.ts'
import type { Eviction, TraceBufferOptions } from './trace-buffer-options.ts'
import type { OpenTrace } from './open-trace.ts'
import type { OpenTraces } from './open-traces.ts'

type HandingOverOptions = Pick<
  TraceBufferOptions,
  'countsNested' | 'maxSyncBytes' | 'memoryBytes' | 'onSettled' | 'onDuplicate' | 'onEvicted'
>

/** Final runs among which other records of their calls are searched. */
const MAX_KNOWN = 64

/** Hands over the runs of layouts: each once when it is final, and earlier if it may be scored before. */
export class HandingOver {
  readonly #options: HandingOverOptions
  readonly #traces: OpenTraces
  /** Runs that became final, until somebody takes them. */
  readonly #due = new Set<EndedRun>()
  readonly #known: { readonly plan: RunPlan; readonly bytes: number }[] = []
  #knownBytes = 0
  readonly #forms = { newer: false, older: false }
  /** Agents of the latest runs that were dropped because they are in a library's older form. */
  readonly #dropped: LiveSpan[] = []

  constructor(traces: OpenTraces, options: HandingOverOptions) {
    this.#traces = traces
    this.#options = options
  }

  /** Must be called when a span has begun whose library may write each run in two formats. */
  began({ quirks }: Dialect): void {
    if (quirks?.formOfTwo !== undefined) this.#forms[quirks.formOfTwo] = true
  }

  /** Final runs whose calls another instrumentation may have recorded in one of these open traces. */
  knownBeside(traces: ReadonlySet<OpenTrace>): readonly RunPlan[] {
    if (this.#known.length === 0) return []
    const traceIds = new Set(Array.from(traces, ({ traceId }) => traceId))
    return this.#known.map(({ plan }) => plan).filter(({ root }) => !traceIds.has(root.span.traceId))
  }

  /** The run of an agent that is handed over before it is final: its scorers that need no more may run while its span is ending. */
  early(plan: RunPlan, kind: 'run' | 'nested'): EndedRun | undefined {
    const root = rootOf(plan)
    const trace = this.#traceOf(root)
    if (trace === undefined || this.#isSecondForm(root)) return undefined
    const run = this.#runOf(trace, root, kind)
    this.#give(run, plan)
    return run
  }

  /** The run of an agent that is too large to be laid out while its span is ending. */
  promise(root: LiveSpan, trace: OpenTrace): EndedRun | undefined {
    return this.#isSecondForm(root) ? undefined : this.#runOf(trace, root, 'run')
  }

  /** Hands over agents' runs at their deadline, although spans of them are open. */
  unfinished(plan: RunPlan): void {
    const root = rootOf(plan)
    const trace = this.#traceOf(root)
    if (trace === undefined || root.isOpen || root.role === 'model' || this.#isSecondForm(root)) return
    const run = this.#runOf(trace, root, 'run')
    if (run.isFinal) return
    this.#give(run, plan)
    this.#options.onSettled(run, false)
  }

  /** Makes runs final. Those without an agent only if nothing may follow. */
  final(plans: readonly RunPlan[], withAgentless: boolean): void {
    for (const plan of plans) {
      const root = rootOf(plan)
      const trace = this.#traceOf(root)
      if (trace === undefined || root.isOpen || (root.role === 'model' && !withAgentless)) continue
      if (this.#isSecondForm(root)) this.duplicate(plan)
      else if (!root.isCovered || trace.runs.has(root))
        this.#finish(plan, trace, root.role === 'model' ? 'agentless' : 'run')
    }
  }

  /** A nested run is final, although the run around it is not. */
  finalNested(plan: RunPlan, trace: OpenTrace): void {
    const root = rootOf(plan)
    if (this.#isSecondForm(root)) return
    const run = this.#runOf(trace, root, 'nested')
    if (run.isFinal) return
    this.#give(run, plan)
    run.isFinal = true
    this.#due.add(run)
  }

  /** Counts a run that was recorded before. */
  readonly duplicate = (plan: RunPlan): void => {
    const root = rootOf(plan)
    if (root.isCovered || this.#traceOf(root) === undefined) return
    if (this.#isSecondForm(root) && this.#dropped.push(root) > MAX_KNOWN) this.#dropped.shift()
    this.#cover(spansOf(plan))
    this.#options.onDuplicate()
  }

  /** Counts model calls without an agent that no scorer could want. */
  unwanted(trace: OpenTrace): void {
    let last: LiveSpan | undefined
    for (const { span } of trace.byId.values()) if (span?.isWork === true && !span.isCovered) last = span
    if (last?.sdk === undefined) return
    const run = new EndedRun(last, { span: last.sdk, traceId: trace.traceId, kind: 'agentless', wanted: false }, 0)
    run.isFinal = true
    this.#due.add(run)
    for (const top of trace.tops) this.#traces.close(trace, top)
  }

  /** Gives up what began and is not final. */
  evict(trace: OpenTrace, why: Eviction): void {
    for (const top of trace.tops) {
      this.#traces.close(trace, top)
      if (top.sdk === undefined) continue
      const node = { span: top.sdk, traceId: trace.traceId, kind: 'run', wanted: trace.isWanted } as const
      this.#options.onEvicted(trace.runs.get(top) ?? new EndedRun(top, node, 0), why)
    }
  }

  /** Whether runs are final and were not passed on. */
  get hasDue(): boolean {
    return this.#due.size > 0
  }

  /** Passes on the runs that are final, in steps. A sweep and a flush may do so at the same time: when one is done, all are passed on. */
  *passOn(): Generator<undefined, void> {
    for (const run of this.#due) {
      this.#due.delete(run)
      this.#options.onSettled(run, true)
      yield
    }
  }

  #finish(plan: RunPlan, trace: OpenTrace, kind: 'run' | 'agentless'): void {
    const root = rootOf(plan)
    const run = this.#runOf(trace, root, kind, lastCallOf(plan))
    if (run.isFinal) return
    this.#give(run, plan)
    if (this.#options.countsNested) this.#finishNested(plan)
    const size = this.#cover(run.spans)
    run.isFinal = true
    if (root.node.isActive) cutOpen(root.node)
    this.#due.add(run)
    if (kind !== 'agentless') trace.addFinal(root.node, size)
    this.#know(plan, run.contentBytes)
  }

  #know(plan: RunPlan, bytes: number): void {
    this.#known.push({ plan, bytes })
    this.#knownBytes += bytes
    // While nothing else is held, nothing can record its calls again.
    const most = this.#traces.size < 2 ? 0 : MAX_KNOWN
    while (this.#known.length > most || this.#knownBytes > this.#options.memoryBytes / 8) {
      this.#knownBytes -= this.#known.shift()?.bytes ?? 0
    }
  }

  #finishNested(top: RunPlan): void {
    const waiting = [...top.children]
    for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
      waiting.push(...plan.children)
      const trace = this.#traceOf(rootOf(plan))
      if (trace !== undefined && !plan.root.isOpen && plan.root.role !== 'model') this.finalNested(plan, trace)
    }
  }

  #give(run: EndedRun, plan: RunPlan): void {
    if (rootOf(plan).top.isTruncated) markIncomplete(plan)
    this.#takeIdsOfOlderForm(plan)
    run.take(plan)
  }

  /** Only the older of two forms may have the ids. Its record of the run is still open, or was dropped when it ended. */
  #takeIdsOfOlderForm(plan: RunPlan): void {
    const root = rootOf(plan)
    if (!this.#forms.older || root.dialect.quirks?.formOfTwo !== 'newer' || root.otherIds !== undefined) return
    const found = [...this.#dropped, ...this.#openTops()].filter(
      ({ dialect, agent, span }) =>
        dialect.quirks?.formOfTwo === 'older' &&
        agent?.name === root.agent?.name &&
        Math.abs(span.startTimeMs - root.span.startTimeMs) <= MAX_APART_MS,
    )
    const [other] = found
    // Of several, nothing shows which is the record of this run.
    if (other !== undefined && found.length === 1) inheritIds(root, { root: other, models: [], tools: [] })
  }

  *#openTops(): Generator<LiveSpan, void> {
    for (const { tops } of this.#traces) for (const top of tops) if (top.isOpen) yield top
  }

  /** @returns how many of a run's spans are covered by it, and were not before */
  #cover(spans: readonly LiveSpan[]): number {
    let size = 0
    for (const span of spans) {
      const trace = this.#traceOf(span)
      if (span.isCovered || trace === undefined) continue
      size += 1
      span.top.size -= 1
      trace.cover(span)
      this.#traces.close(trace, span.outermost)
    }
    return size
  }

  #runOf(trace: OpenTrace, root: LiveSpan, kind: 'run' | 'nested' | 'agentless', last: LiveSpan = root): EndedRun {
    const known = trace.runs.get(root)
    if (known !== undefined) return known
    const span = kind === 'agentless' ? (last.sdk ?? root.sdk) : root.sdk
    if (span === undefined) throw new Error('Expected a span of this process, got one of a file.')
    const node = { span, traceId: trace.traceId, kind, wanted: trace.isWanted }
    const run = new EndedRun(root, node, this.#options.maxSyncBytes + 1)
    trace.runs.set(root, run)
    return run
  }

  /** Once a library wrote runs in its newer form, it writes each run in both, and those in the older form are second records. */
  #isSecondForm({ dialect }: LiveSpan): boolean {
    return dialect.quirks?.formOfTwo === 'older' && this.#forms.newer
  }

  #traceOf({ span }: LiveSpan): OpenTrace | undefined {
    return this.#traces.get(span.traceId)
  }
}

/** A run is final although spans below its agent are open: their ends will be late. */
function cutOpen(agent: TreeNode): void {
  const waiting = [agent]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.span?.isOpen === true) {
      node.isOver = true
      node.isCut = true
    }
    waiting.push(...(node.below ?? []))
  }
}

/** The last model call, whose span receives the score of a run without an agent. */
function lastCallOf({ models }: RunPlan): LiveSpan | undefined {
  const last = models.at(-1)
  return last instanceof LiveSpan ? last : undefined
}
