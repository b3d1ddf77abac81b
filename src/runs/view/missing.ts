import { AGENTS_INPUT, AGENTS_OUTPUT } from '../../spans/semconv.ts'
import { isContentAttribute } from '../../spans/content/content-attributes.ts'
import type { Absence, ContentFact } from '../../spans/dialect.ts'
import { isHalfJson } from '../../spans/json.ts'
import { toolCallsIn } from '../../spans/content/messages.ts'
import { isRedactionMark } from '../../spans/redaction-mark.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import type { AgentRun, Missing, ToolCall } from '../../model/agent-run.ts'
import { CALL_STATUS } from '../../model/call-status.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { inputOf, outputOf, pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { ownTurns } from './asked-calls.ts'
import type { DecidedFacts, Evidence, Spans } from './evidence.ts'
import { idOf, isHandoff, nameOf } from './join-tool-calls.ts'
import { holdsText, hasMoreDocuments } from './retrieval.ts'
import { endsOnTools, isFailed, isForTools } from './run-ending.ts'
import { holdsUnparsed } from './unparsed.ts'

/** The facts that may be missing, by the last part of their names: those that are content, and the others. */
const KINDS = {
  content: ['input', 'output', 'systemInstructions', 'arguments', 'result', 'documents'],
  other: ['availableTools', 'toolCalls', 'children', 'spans'],
} as const

type Kind = (typeof KINDS)[keyof typeof KINDS][number]

/** A missing fact of a kind that is in the table. */
export interface MissingFact extends Missing {
  readonly what: Kind | `${string}.${Kind}`
}

/** Facts that the spans lack although every run has them, and the setting that records each. */
export function missingOf(run: AgentRun, evidence: Evidence): readonly MissingFact[] {
  const { plan } = evidence.loop
  const missing = [...missingTextsOf(run, evidence), ...missingInCalls(run, plan)]
  const calls = missingCallsOf(run, plan)
  if (calls !== undefined) missing.push(calls)
  if (run.retrievals.length > 0) missing.push(...missingInRetrievals(run, plan))
  if (!run.complete) missing.push({ what: 'spans', why: 'span-lost' })
  return missing
}

/** The texts of documents that were found: `retrievals[0].documents`. */
function missingInRetrievals(run: AgentRun, plan: RunPlan): readonly MissingFact[] {
  const spans = new Map(plan.retrievals.map(({ span }) => [span.span.spanId, span]))
  return run.retrievals.flatMap(({ spanId, status, documents }, index): MissingFact[] => {
    const what = `retrievals[${index}].documents` as const
    const span = spans.get(spanId ?? '')
    if (documents?.length === 0 || (documents === undefined && status === 'error')) return []
    if (!holdsText(documents)) {
      return [{ what, ...(span === undefined ? FILE_SEARCH_RESULTS : explain('documents', span)) }]
    }
    return span !== undefined && hasMoreDocuments(span) ? [{ what, why: 'limit' }] : []
  })
}

const FILE_SEARCH_RESULTS: Absence = {
  why: 'not-captured',
  switch: "include: ['file_search_call.results'] in the request",
}

/** What is missing in each tool call: `toolCalls[2].arguments`. It is found while it is read, because there may be thousands of calls. */
export function* missingInCalls(run: AgentRun, plan: RunPlan): Generator<MissingFact, void> {
  const lastModel = plan.models.at(-1) ?? plan.root
  // Each is looked up once, because one model call may ask for thousands of tools.
  const ofModel = new Map<ContentFact, Absence>()
  const spans = new Map(plan.tools.map((tool) => [tool.span.spanId, tool]))
  for (const [index, call] of run.toolCalls.entries()) {
    const tool = spans.get(call.spanId ?? '')
    const lacking = (what: 'arguments' | 'result', fact: ContentFact): MissingFact => {
      const known = tool === undefined ? ofModel.get(fact) : undefined
      const absence = known ?? explain(fact, tool ?? lastModel)
      if (tool === undefined) ofModel.set(fact, absence)
      return { what: `toolCalls[${index}].${what}`, ...absence }
    }
    if (call.arguments === undefined) yield lacking('arguments', 'toolArguments')
    if (!lacksResult(call, tool, run)) continue
    // Some providers never return what their tools found.
    const isKept = call.providerExecuted && tool === undefined && call.arguments !== undefined
    yield isKept ? { what: `toolCalls[${index}].result`, why: 'not-recorded' } : lacking('result', 'toolResult')
  }
}

/** The texts that a run may lack, what decides each, and the setting by which the agent's own span would. */
const DECIDED: readonly (readonly [
  'input' | 'output' | 'systemInstructions',
  keyof DecidedFacts,
  string | undefined,
])[] = [
  ['input', 'question', AGENTS_INPUT],
  ['output', 'answer', AGENTS_OUTPUT],
  ['systemInstructions', 'instructions', undefined],
]

/** The facts outside of the tool calls that may be missing. */
export const TEXTS: ReadonlySet<string> = new Set([...DECIDED.map(([what]) => what), 'availableTools'])

/**
 * What is missing of them: what no source of the order of evidence states. A run that was stopped, or waits, lacks no answer. This takes far
 * less time than looking at thousands of calls.
 */
export function missingTextsOf(run: AgentRun, evidence: Evidence): MissingFact[] {
  const { plan } = evidence.loop
  const missing: MissingFact[] = []
  for (const [what, fact, undecidedBy] of DECIDED) {
    if (run[what === 'input' ? 'userInput' : what] !== undefined) continue
    const decision = evidence.of(fact)
    if (decision?.none === 'undecided') {
      missing.push({ what, why: 'undecided', ...(undecidedBy !== undefined && { switch: undecidedBy }) })
    } else if (decision?.none === undefined) {
      const spans = evidence.spansOf(what)
      const absence = what === 'systemInstructions' ? explainOptional(what, spans) : explainText(what, spans, run, plan)
      if (absence !== undefined) missing.push({ what, ...absence })
    }
  }
  if (run.availableTools === undefined) {
    const absence = explainOptional('toolDefinitions', evidence.spansOf('toolDefinitions'))
    if (absence !== undefined) missing.push({ what: 'availableTools', ...absence })
  }
  return missing
}

function explainText(what: 'input' | 'output', spans: Spans, run: AgentRun, plan: RunPlan): Omit<Missing, 'what'> {
  if (what === 'output' && endsOnTools(plan)) return { why: run.complete ? 'not-recorded' : 'span-lost' }
  const found = explain(what, ...spans)
  // Plain text that a limit cut off does not show it; the JSON of any model call does.
  return found.why === 'not-recorded' && plan.models.some(({ span }) => holdsCut(span)) ? TRUNCATED : found
}

/** Whether tools may have been called that no span shows. This alone takes far less time than all that is missing. */
export function missingCallsOf(run: AgentRun, plan: RunPlan): MissingFact | undefined {
  // An agent span alone does not show what its model did. Without a span of a model call, tools may have been called.
  const isSilent = run.toolCalls.length === 0 && run.steps.length === 0 && run.availableTools === undefined
  if (isSilent) return { what: 'toolCalls', why: 'not-recorded' }
  if (hasLeftOut(run, plan)) return { what: 'toolCalls', why: 'not-recorded' }
  if (lacksFirstCall(plan) || repeatsUnknownCall(run, plan)) return { what: 'toolCalls', why: 'span-lost' }
  const silent = silentCall(run, plan)
  return silent && { what: 'toolCalls', ...explain('toolCalls', silent) }
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

/** Whether calls may have been made that have no span. */
function isSilentDialect({ dialect }: TraceSpan): boolean {
  return dialect.toolSpans !== 'always'
}

/** How much content the spans hold. */
export function contentOf(run: AgentRun): AgentRun['content'] {
  if (!holdsContent(run)) return 'none'
  return run.missing.some(isContent) ? 'partial' : 'full'
}

/** Whether the spans hold any content. This alone takes far less time than all that is missing in thousands of calls. */
export function holdsContent(run: AgentRun): boolean {
  return (
    run.userInput !== undefined ||
    run.output !== undefined ||
    run.systemInstructions !== undefined ||
    run.toolCalls.some((call) => call.arguments !== undefined || call.result !== undefined)
  )
}

/**
 * A tool may return nothing. Its result only counts as missing if it was cut, or other content is missing too. The result of a call
 * without a span is in the messages of the next model call.
 */
function lacksResult(call: ToolCall, tool: TraceSpan | undefined, run: AgentRun): boolean {
  const { mayHaveSucceeded, outcome } = CALL_STATUS[call.status]
  if (call.result !== undefined || !mayHaveSucceeded) return false
  if (tool !== undefined && isCut('toolResult', tool)) return true
  if (outcome === 'unknown') return call.providerExecuted || lacksInput(run.steps[call.step + 1])
  return call.arguments === undefined || run.output === undefined
}

function lacksInput(step: AgentRun['steps'][number] | undefined): boolean {
  return step !== undefined && step.input === undefined
}

function isContent({ what }: Missing): boolean {
  const kinds: readonly string[] = KINDS.content
  return kinds.includes(what.slice(what.lastIndexOf('.') + 1))
}

/** Why an optional fact is missing; `undefined` if the run had none. If a value that may hold it was cut off, it counts as missing. */
function explainOptional(fact: ContentFact, spans: Spans): Absence | undefined {
  return spans.some((span) => isCut(fact, span)) ? TRUNCATED : spans[0].optionalAbsence(fact)
}

const TRUNCATED: Absence = {
  why: 'truncated',
  switch: 'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT (or attributeValueLengthLimit)',
}

/** Why none of the spans holds a fact. The first one's library is asked first. */
function explain(fact: ContentFact, ...nodes: Spans): Absence {
  for (const { span } of nodes) {
    if (holdsUnparsed(span)) return { why: 'limit' }
    if (holdsCut(span)) return TRUNCATED
    if (span.droppedAttributesCount > 0) {
      return { why: 'limit', switch: 'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (or attributeCountLimit)' }
    }
  }
  const own = nodes[0].absence(fact)
  if (nodes.some((each) => each.optionalAbsence(fact)?.why === 'stored-elsewhere')) return { why: 'stored-elsewhere' }
  if (own.why !== 'redacted' && nodes.some(({ span }) => hasMark(span))) return { why: 'redacted' }
  // If the application writes the agent span itself, the instrumentation of its models may know the setting.
  if (own.switch !== undefined) return own
  return nodes.map((each) => each.optionalAbsence(fact)).find((absence) => absence?.switch !== undefined) ?? own
}

/** Longer lists are not searched: an array may be longer than what it holds. */
const MAX_ITEMS = 10_000

/** Whether a value from which a fact is read was cut. */
function isCut(fact: ContentFact, span: TraceSpan): boolean {
  return holdsCut(span.span) && span.valuesOf(fact).some(isHalf)
}

/** Whether any content of the span was cut. */
function holdsCut({ attributes }: SourceSpan): boolean {
  for (const key in attributes) if (isHalf(attributes[key]) && isContentAttribute(key)) return true
  return false
}

/** Whether a processor or collector replaced content of the span. */
function hasMark({ attributes }: SourceSpan): boolean {
  for (const key in attributes) if (isRedactionMark(attributes[key]) && isContentAttribute(key)) return true
  return false
}

/** Whether a value starts like JSON but does not end like it: the SDK's length limit cut it. */
function isHalf(value: unknown): boolean {
  if (typeof value === 'string') return isHalfJson(value)
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return false
  return value.some((item) => typeof item === 'string' && isHalfJson(item))
}

/** No length limit is below this. Shorter texts need no look at the other attributes. */
const SHORTEST_LIMIT = 100

/**
 * A text of a run, or `undefined` if a length limit of the SDK or of a backend cut it off. Plain text does not show that, but a JSON text of
 * the same run that was cut off at the same length does.
 */
export function wholeText(text: string | undefined, plan: RunPlan): string | undefined {
  return text !== undefined && text.length >= SHORTEST_LIMIT && isLimit(text.length, plan) ? undefined : text
}

function isLimit(length: number, { root, models, tools, inside }: RunPlan): boolean {
  const hasCut = (span: TraceSpan): boolean => hasHalfJson(span, length) || span.inner.some(hasCut)
  return hasCut(root) || models.some(hasCut) || tools.some(hasCut) || inside.some(hasCut)
}

function hasHalfJson({ span: { attributes } }: TraceSpan, length: number): boolean {
  for (const key in attributes) {
    const value = attributes[key]
    if (typeof value === 'string' && value.length === length && isHalfJson(value)) return true
  }
  return false
}
