import { toolCallsIn } from '../../spans/content/messages.ts'
import type { AgentRun, Missing } from '../../model/agent-run.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { inputOf, outputOf, pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { ownTurns } from './asked-calls.ts'
import { isCut } from './cut-content.ts'
import { idOf, isHandoff, nameOf } from './join-tool-calls.ts'
import { isFailed, isForTools } from './run-ending.ts'
import { whyAbsent } from './why-absent.ts'

/** That a run may have calls which no span shows, and why. */
export interface MissingCalls extends Missing {
  readonly what: 'toolCalls'
}

/** The calls as a whole, if a tool may have been called without a span. This alone takes far less time than all that is missing. */
export function missingCallsOf(run: AgentRun, plan: RunPlan): MissingCalls | undefined {
  // An agent span alone does not show what its model did. Without a span of a model call, tools may have been called.
  const isSilent = run.toolCalls.length === 0 && run.steps.length === 0 && run.availableTools === undefined
  if (isSilent) return { what: 'toolCalls', why: 'not-recorded' }
  if (hasLeftOut(run, plan)) return { what: 'toolCalls', why: 'not-recorded' }
  if (lacksFirstCall(plan) || repeatsUnknownCall(run, plan)) return { what: 'toolCalls', why: 'span-lost' }
  const silent = silentCall(run, plan)
  return silent && { what: 'toolCalls', ...whyAbsent('toolCalls', silent) }
}

/**
 * Whether the last request repeats a call, made after the question, that is none of the run's: the span of the model call that made it was
 * lost, or is in the trace of an earlier request, which this one resumes. Calls that the agent was given are those of an earlier run, or of the
 * agent above a nested one.
 */
function repeatsUnknownCall(run: AgentRun, { models, parent, root }: RunPlan): boolean {
  const [first, last] = [models[0], models.at(-1)]
  if (first === undefined || last === undefined || parent !== undefined) return false
  let earlier = 0
  for (const { step } of run.toolCalls) if (step < models.length - 1) earlier += 1
  if ((last.callsInInput ?? Number.POSITIVE_INFINITY) <= earlier) return false
  // Some libraries add calls that hand over to another agent, or back, which no model made.
  const repeated = toolCallsIn(ownTurns(inputOf(last))).filter(({ name }) => !isHandoff(name))
  if (repeated.length === 0) return false
  const ids = new Set(run.toolCalls.map(({ id }) => id))
  const names = Map.groupBy(run.toolCalls, ({ name }) => name)
  const counts = Map.groupBy(repeated, ({ name }) => name)
  // Some libraries give calls other ids when they repeat them.
  const unknown = repeated.filter(
    ({ id, name }) =>
      (id === undefined || !ids.has(id)) && (names.get(name)?.length ?? 0) < (counts.get(name)?.length ?? 0),
  )
  if (unknown.length === 0 || root === last) return unknown.length > 0
  const given = new Set(toolCallsIn(root.resumption === undefined ? inputOf(root) : inputOf(first)).map(({ id }) => id))
  return unknown.some(({ id }) => id === undefined || !given.has(id))
}

/**
 * Whether the model call that asked for the first tools was lost: a tool ran before any recorded model call, whose request repeats the call
 * after the question. The agent's own input holds such calls if it resumes an earlier run, for example after an approval.
 */
export function lacksFirstCall({ models: [first], tools, root, parent }: RunPlan): boolean {
  if (first === undefined || first === root || parent !== undefined || root.resumption !== undefined) return false
  const early = tools.filter(({ span }) => span.startTimeMs < first.span.startTimeMs)
  const given = early.length === 0 ? undefined : inputOf(root)
  // Without the agent's own input, nothing shows whether it resumed an earlier run.
  if (given === undefined) return false
  const before = new Set(toolCallsIn(given).map(({ id }) => id))
  const repeated = toolCallsIn(ownTurns(inputOf(first))).filter(({ id }) => !before.has(id))
  const ids = new Set(repeated.map(({ id }) => id))
  const names = new Set(repeated.map(({ name }) => name))
  return early.some((tool) => {
    const [id, name] = [idOf(tool), nameOf(tool)]
    return id === undefined ? name !== undefined && names.has(name) : ids.has(id)
  })
}

/** Whether a tool without a name ran that is none of the run's calls. */
function hasLeftOut(run: AgentRun, { tools }: RunPlan): boolean {
  const unnamed = tools.filter((tool) => nameOf(tool) === undefined)
  if (unnamed.length === 0) return false
  const called = new Set(run.toolCalls.map(({ spanId }) => spanId))
  return unnamed.some(({ span }) => !called.has(span.spanId))
}

/**
 * A model call that may have called tools which no span shows: its client called them itself; or its answer is not recorded, and it says that
 * it ended with calls, or the run has none and its library may not write a span for each.
 */
function silentCall(run: AgentRun, { models, tools, root }: RunPlan): TraceSpan | undefined {
  const seen = new Set(run.toolCalls.map(({ step }) => step))
  return models.find((model, step) => {
    if (isFailed(model.outcome)) return false
    if (model.dialect.mayHideCalls?.(model.span) === true) return true
    if (seen.has(step)) return false
    // A call that follows inside of another one answers its tools.
    if (model.dialect.quirks?.modelsNest === true && models[step + 1]?.parent === model) return true
    if (hasSpoken(model)) return false
    // Of some providers, "stop" and "completed" are the reasons beside calls, too.
    const reasons = pick(model, (facts) => facts.model?.finishReasons) ?? []
    if (reasons.some(isForTools)) return true
    if (!isSilentDialect(model) || !isSilentDialect(root)) return false
    return run.toolCalls.length === 0 || (tools.length === 0 && isCut('toolCalls', model))
  })
}

/** Whether anything of its answer is recorded; where content is off, the role of its author may be all. */
function hasSpoken(model: TraceSpan): boolean {
  return outputOf(model)?.some(({ parts }) => parts.length > 0) === true
}

/** Whether the library of a span may make calls without a span of theirs. */
function isSilentDialect({ dialect }: TraceSpan): boolean {
  return dialect.toolSpans !== 'always'
}
