import { AGENTS_INPUT, AGENTS_OUTPUT } from '../../spans/semconv.ts'
import type { Absence, ContentFact } from '../../spans/dialect.ts'
import type { AgentRun, Missing, ToolCall } from '../../model/agent-run.ts'
import { CALL_STATUS } from '../../model/call-status.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'
import { holdsCut, isCut } from './cut-content.ts'
import type { DecidedFacts, Evidence, Spans } from './evidence.ts'
import { missingCallsOf } from './missing-calls.ts'
import { holdsText, hasMoreDocuments } from './retrieval.ts'
import { endsOnTools } from './run-ending.ts'
import { whyAbsent, whyOptionalAbsent, TRUNCATED } from './why-absent.ts'

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
      return [{ what, ...(span === undefined ? FILE_SEARCH_RESULTS : whyAbsent('documents', span)) }]
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
      const absence = known ?? whyAbsent(fact, tool ?? lastModel)
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
      const absence =
        what === 'systemInstructions' ? whyOptionalAbsent(what, spans) : explainText(what, spans, run, plan)
      if (absence !== undefined) missing.push({ what, ...absence })
    }
  }
  if (run.availableTools === undefined) {
    const absence = whyOptionalAbsent('toolDefinitions', evidence.spansOf('toolDefinitions'))
    if (absence !== undefined) missing.push({ what: 'availableTools', ...absence })
  }
  return missing
}

function explainText(what: 'input' | 'output', spans: Spans, run: AgentRun, plan: RunPlan): Omit<Missing, 'what'> {
  if (what === 'output' && endsOnTools(plan)) return { why: run.complete ? 'not-recorded' : 'span-lost' }
  const found = whyAbsent(what, ...spans)
  // Plain text that a limit cut off does not show it; the JSON of any model call does.
  return found.why === 'not-recorded' && plan.models.some(({ span }) => holdsCut(span)) ? TRUNCATED : found
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
