import { isOfAgent } from '../layout/same-call.ts'
import { isSameRun, MAX_FORMS_APART_MS, RunRecords, signsOf } from '../layout/run-records.ts'
import type { RunRecord, RunSigns } from '../layout/run-records.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'

/** Maximum number of ended runs that are kept for comparison. */
const MAX_ENDED = 1000

/** Maximum number of open agents that are compared. */
const MAX_COMPARED = 256

/** Maximum number of recent calls of agents that are compared with agentless calls. */
const MAX_CALLS = 256

/**
 * Runs of this process that are recorded twice. The comparison and its rules are those for files (`dropDuplicateRuns`). But runs arrive one
 * by one, so the record that ends first is kept, unless the newer format of it is still open.
 */
export class DuplicateRuns {
  /** Agents of libraries that may write each run in two formats, until their runs are settled, and spans that may still become agents. */
  readonly #open = new Set<LiveSpan>()
  /** The ended ones among them that are second records. Work that their tools started may still be in progress. */
  readonly #second = new Set<LiveSpan>()
  readonly #hasSeen = { newer: false, older: false }
  readonly #ended = new RunRecords<true>(MAX_ENDED)
  readonly #calls: { readonly span: LiveSpan; readonly bytes: number }[] = []
  #callBytes = 0
  readonly #maxCallBytes: number

  /** @param maxCallBytes maximum bytes, estimated, of the recent calls that are compared */
  constructor(maxCallBytes: number) {
    this.#maxCallBytes = maxCallBytes
  }

  /** Must be called when a span starts whose library may write runs in two formats. */
  began(span: LiveSpan): void {
    const { formOfTwo } = span.dialect
    if (formOfTwo === undefined || (span.saidItsKind && span.role !== 'agent')) return
    this.#hasSeen[formOfTwo] = true
    this.#open.add(span)
  }

  /** Must be called when a span of such a library has ended, because only then it is certain whether it is an agent. */
  ended(span: LiveSpan): void {
    if (span.role !== 'agent') this.#open.delete(span)
  }

  /** Must be called when a group is finished. */
  closed(group: LiveGroup): void {
    if (this.#open.size === 0) return
    for (const span of group.spans) {
      if (!span.isOpen && span.role !== 'agent') continue
      this.#open.delete(span)
      this.#second.delete(span)
    }
  }

  /** Must be called when a model call of an agent has ended, because an instrumentation of the model's client may record it again. */
  agentCalled(span: LiveSpan, bytes: number, openGroups: number): void {
    if (openGroups < 2) {
      this.#calls.length = 0
      this.#callBytes = 0
      return
    }
    this.#calls.push({ span, bytes })
    this.#callBytes += bytes
    while (this.#calls.length > MAX_CALLS || this.#callBytes > this.#maxCallBytes) {
      this.#callBytes -= this.#calls.shift()?.bytes ?? 0
    }
  }

  /** Whether the run of an ended agent was recorded, or is being recorded, in its other format. */
  isSecondForm(agent: LiveSpan): boolean {
    const { formOfTwo } = agent.dialect
    // Most applications write one format only. Then there is nothing to compare, and nothing is read.
    if (formOfTwo === undefined || !agent.group.wanted || !this.#hasSeen[otherForm(formOfTwo)]) return false
    const signs = signsOf(recordOf(agent), agent.hasOpen)
    // Of two open records, the newer format is kept. Of the older ones, only ended ones were already scored.
    const isScored = (other: LiveSpan): boolean => formOfTwo === 'older' || (!other.isOpen && !this.#second.has(other))
    const isSecond = this.#findOpen(signs, isScored) !== undefined || this.#ended.find(signs) !== undefined
    if (isSecond) this.#second.add(agent)
    return isSecond
  }

  /** Must be called when the run of an agent is settled. */
  settled(agent: LiveSpan): void {
    const { formOfTwo } = agent.dialect
    if (formOfTwo === undefined || !this.#open.delete(agent) || !agent.group.wanted) return
    this.#ended.add(signsOf(recordOf(agent), false, this.#hasSeen[otherForm(formOfTwo)]), true)
  }

  /** Whether the calls of an agentless run were already recorded, as calls of an agent or by the model's client. */
  isSecondRecord(run: RunRecord): boolean {
    if (run.root.role === 'model') {
      const own: ReadonlySet<unknown> = new Set(run.models)
      const calls = this.#calls.map(({ span }) => span).filter((call) => !own.has(call))
      for (const [root, models] of Map.groupBy(calls, agentAbove)) {
        if (root !== undefined && isOfAgent(run, { root, models, tools: [] })) return true
      }
    }
    const signs = signsOf(run)
    if (this.#ended.find(signs) !== undefined) return true
    this.#ended.add(signs, true)
    return false
  }

  /** The group with the older format of a run in its newer format. Work that its tools started may be below either. */
  olderFormOf(agent: LiveSpan): LiveGroup | undefined {
    if (agent.dialect.formOfTwo !== 'newer' || !this.#hasSeen.older) return undefined
    const signs = signsOf(recordOf(agent), agent.hasOpen)
    return this.#findOpen(signs, (other) => other === other.group.top && other.group !== agent.group)?.group
  }

  #findOpen(signs: RunSigns, isAsked: (span: LiveSpan) => boolean): LiveSpan | undefined {
    let compared = 0
    for (const span of this.#open) {
      compared += 1
      if (compared > MAX_COMPARED) return undefined
      if (Math.abs(span.span.startTimeMs - signs.startMs) > MAX_FORMS_APART_MS || !isAsked(span)) continue
      span.lookAgain()
      if (isSameRun(signsOf(recordOf(span), span.hasOpen), signs)) return span
    }
    return undefined
  }
}

function otherForm(form: 'newer' | 'older'): 'newer' | 'older' {
  return form === 'newer' ? 'older' : 'newer'
}

/** The record of an agent's run so far, without agents that its tools started. */
function recordOf(agent: LiveSpan): RunRecord {
  const [models, tools]: [LiveSpan[], LiveSpan[]] = [[], []]
  const waiting: LiveSpan[] = [agent]
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    if (span.role === 'tool' || span.role === 'handoff') {
      if (!span.isOpen) tools.push(span)
      continue
    }
    if (span.role === 'model' && !span.isOpen) models.push(span)
    span.spansBelow?.forEach((below) => waiting.push(below))
  }
  return { root: agent, models, tools }
}

/** The agent whose run contains a model call: the outermost one below the tool that started it. */
function agentAbove(call: LiveSpan): LiveSpan | undefined {
  let found: LiveSpan | undefined
  for (let { above } = call; above !== undefined; above = above.above) {
    if (above.role === 'tool' || above.role === 'handoff') return found ?? above
    if (above.role === 'agent' || (above.role === 'entry' && found === undefined)) found = above
  }
  return found
}
