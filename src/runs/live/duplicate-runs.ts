import { isOfAgent } from '../layout/same-call.ts'
import { isSameRun, MAX_FORMS_APART_MS, RunRecords, signsOf } from '../layout/run-records.ts'
import type { RunRecord, RunSigns } from '../layout/run-records.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'

/** Runs that have ended, among which another record is looked for. */
const MAX_ENDED = 1000

/** How many of the open agents are compared. */
const MAX_COMPARED = 256

/** Latest calls of agents that are compared with those without one. */
const MAX_CALLS = 256

/**
 * Runs of a process that are recorded twice. What a record is compared with, and by which rule, is the same as for files
 * (`dropDuplicateRuns`); but runs come one by one, so that the first record that has ended is the one that is kept, unless the
 * newer form of it is still open.
 */
export class DuplicateRuns {
  /** Agents of libraries that may write each run in two forms, until their runs are settled, and spans that may turn out to be such. */
  readonly #open = new Set<LiveSpan>()
  /** Those of them that have ended and are second records: what their tools started may go on. */
  readonly #second = new Set<LiveSpan>()
  readonly #hasSeen = { newer: false, older: false }
  readonly #ended = new RunRecords<true>(MAX_ENDED)
  readonly #calls: LiveSpan[] = []

  /** To be called when a span of a library that may write runs in two forms has begun. */
  began(span: LiveSpan): void {
    const { formOfTwo } = span.dialect
    if (formOfTwo === undefined || (span.saidItsKind && span.role !== 'agent')) return
    this.#hasSeen[formOfTwo] = true
    this.#open.add(span)
  }

  /** To be called when a span of such a library has ended: it is known now whether it is an agent. */
  ended(span: LiveSpan): void {
    if (span.role !== 'agent') this.#open.delete(span)
  }

  /** To be called when a group is over. */
  closed(group: LiveGroup): void {
    if (this.#open.size === 0) return
    for (const span of group.spans) {
      if (!span.isOpen && span.role !== 'agent') continue
      this.#open.delete(span)
      this.#second.delete(span)
    }
  }

  /** To be called when a model call of an agent has ended: an instrumentation of the model's client may write it once more. */
  agentCalled(span: LiveSpan, openGroups: number): void {
    if (openGroups < 2) {
      this.#calls.length = 0
      return
    }
    this.#calls.push(span)
    if (this.#calls.length > MAX_CALLS) this.#calls.shift()
  }

  /** Whether the run of an agent that has ended was recorded, or is being recorded, in its other form. */
  isSecondForm(agent: LiveSpan): boolean {
    const { formOfTwo } = agent.dialect
    // Most applications write one form only: there is nothing to compare with, and nothing is read.
    if (formOfTwo === undefined || !agent.group.wanted || !this.#hasSeen[otherForm(formOfTwo)]) return false
    const signs = signsOf(recordOf(agent), agent.hasOpen)
    // Of the two that are open the newer one is kept; of the older ones only those that have ended are scored before.
    const isScored = (other: LiveSpan): boolean => formOfTwo === 'older' || (!other.isOpen && !this.#second.has(other))
    const isSecond = this.#findOpen(signs, isScored) !== undefined || this.#ended.find(signs) !== undefined
    if (isSecond) this.#second.add(agent)
    return isSecond
  }

  /** To be called when the run of an agent is settled. */
  settled(agent: LiveSpan): void {
    const { formOfTwo } = agent.dialect
    if (formOfTwo === undefined || !this.#open.delete(agent) || !agent.group.wanted) return
    this.#ended.add(signsOf(recordOf(agent), false, this.#hasSeen[otherForm(formOfTwo)]), true)
  }

  /** Whether the model calls of a run without an agent were recorded before: as calls of an agent, or by the model's client. */
  isSecondRecord(run: RunRecord): boolean {
    if (run.root.role === 'model') {
      const own: ReadonlySet<unknown> = new Set(run.models)
      const calls = this.#calls.filter((call) => !own.has(call))
      for (const [root, models] of Map.groupBy(calls, agentAbove)) {
        if (root !== undefined && isOfAgent(run, { root, models, tools: [] })) return true
      }
    }
    const signs = signsOf(run)
    if (this.#ended.find(signs) !== undefined) return true
    this.#ended.add(signs, true)
    return false
  }

  /** The group that holds the older form of a run in its newer form: what its tools started may be below either. */
  olderFormOf(agent: LiveSpan): LiveGroup | undefined {
    if (agent.dialect.formOfTwo !== 'newer' || !this.#hasSeen.older) return undefined
    const signs = signsOf(recordOf(agent), agent.hasOpen)
    return this.#findOpen(signs, (other) => other === other.group.spans[0] && other.group !== agent.group)?.group
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

/** What the spans of an agent's run say by now, without those of agents that its tools started. */
function recordOf(agent: LiveSpan): RunRecord {
  const [models, tools]: [LiveSpan[], LiveSpan[]] = [[], []]
  const waiting: LiveSpan[] = [agent]
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    if (span.role === 'tool' || span.role === 'handoff') {
      if (!span.isOpen) tools.push(span)
      continue
    }
    if (span.role === 'model' && !span.isOpen) models.push(span)
    if (span.spansBelow !== undefined) waiting.push(...span.spansBelow)
  }
  return { root: agent, models, tools }
}

/** The agent of the run that a model call is in: the outermost one below the tool that started it. */
function agentAbove(call: LiveSpan): LiveSpan | undefined {
  let found: LiveSpan | undefined
  for (let { above } = call; above !== undefined; above = above.above) {
    if (above.role === 'tool' || above.role === 'handoff') return found ?? above
    if (above.role === 'agent' || (above.role === 'entry' && found === undefined)) found = above
  }
  return found
}
