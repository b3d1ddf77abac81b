import type { SpanOutcome, ToolRunner } from '../../spans/dialect.ts'
import type { SpanFacts } from '../../spans/facts.ts'
import type { Message, ToolCallPart, ToolDefinition, Usage } from '../../model/message.ts'
import type { AgentRun, ModelCall, Retrieval, SideCall } from '../../model/agent-run.ts'
import { askedCalls, transcriptCalls } from './asked-calls.ts'
import { joinToolCalls } from './join-tool-calls.ts'
import type { JoinedCall } from './join-tool-calls.ts'
import { agentOf, runId } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { firstOf, ReconstructedModelCall, ReconstructedSideCall, usageOfAll } from './model-call.ts'
import { endingOf, endsInAbortedTool, isFailed, wasCutOff } from './run-ending.ts'
import { WAITING } from '../../spans/outcome.ts'
import { loopOf } from './loop.ts'
import type { Loop } from './loop.ts'
import { answerIn, ComparedText } from './same-answer.ts'
import { compareSpans } from '../layout/tree.ts'
import { starterOf } from './starter.ts'
import type { Starter } from './starter.ts'
import { fileSearches } from './file-search.ts'
import { ReconstructedRetrieval, retrievalKindOf } from './retrieval.ts'
import { ReconstructedToolCall } from './tool-call.ts'
import { outputToolOf, saidOf, withoutTool } from './output-tool.ts'
import { refusedCalls, resumedCalls } from './resumed-calls.ts'
import { Responses } from './responses.ts'
import { inputOf, outputOf, pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { assistantText, emptyText, isAround, lastUserText, textBesideCalls, withoutSystem } from './message-text.ts'
import { frozen } from './frozen.ts'
import { Memo } from './memo.ts'
import { CONVERSATION_IDS, USER_IDS } from '../../spans/ids.ts'
import { idNamed, idsOfRun } from './run-ids.ts'
import type { IdsOnSpan } from '../../spans/ids.ts'

/** The slots of the facts that a run may lack. */
const SLOT = {
  systemInstructions: 0,
  output: 1,
  availableTools: 2,
  ownInput: 3,
  firstModelInput: 4,
  starter: 5,
  transcript: 6,
  outputTool: 7,
  saidLast: 8,
} as const

const SLOTS = Object.keys(SLOT).length

/** Replaces the id of a call without one. */
const NOBODY = ''

/** Replaces a request that was not recorded. */
const NO_CALL: ToolCallPart = { type: 'tool_call', name: '' }

/**
 * The facts of a run, each from the span that is most reliable for it. Facts are read at first access: reading the names of tools does not
 * parse the models' input.
 */
export class RunFacts {
  readonly #plan: RunPlan
  readonly #root: SpanFacts
  readonly #memo = new Memo(SLOTS)
  #loop: Loop | undefined
  #allIds: readonly IdsOnSpan[] | undefined
  #agent: AgentRun['agent'] | undefined
  #input: readonly Message[] | undefined
  #toolCalls: readonly ReconstructedToolCall[] | undefined
  #steps: readonly ModelCall[] | undefined
  #sideCalls: readonly SideCall[] | undefined
  #models: readonly string[] | undefined
  #retrievals: readonly Retrieval[] | undefined
  #usage: Usage | undefined
  #ending: SpanOutcome | undefined
  #isWaiting: boolean | undefined
  #asked: ReturnType<typeof askedCalls> | undefined
  #agentNames: Set<string | undefined> | undefined

  constructor(plan: RunPlan) {
    this.#plan = plan
    this.#root = plan.root
  }

  /** The run's loop, apart from the model calls that only served it. */
  get loop(): Loop {
    return (this.#loop ??= loopOf(this.#plan))
  }

  get agent(): AgentRun['agent'] {
    return (this.#agent ??= frozen(this.#readAgent()))
  }

  #readAgent(): AgentRun['agent'] {
    const own = this.#root.agent
    const isAgentItself = this.#root.role === 'agent' && !this.#root.holdsOneRun
    const said = (isAgentItself && own?.name !== undefined ? own : (this.#firstAgent()?.agent ?? own)) ?? {}
    const name = said.name === undefined ? this.#starter()?.[isAgentItself ? 'name' : 'agentName'] : undefined
    return name === undefined ? said : { ...said, name }
  }

  get conversationId(): string | undefined {
    return idNamed(this.#ids(), CONVERSATION_IDS)
  }

  get userId(): string | undefined {
    return idNamed(this.#ids(), USER_IDS)
  }

  #ids(): readonly IdsOnSpan[] {
    return (this.#allIds ??= idsOfRun(this.#plan))
  }

  get systemInstructions(): string | undefined {
    return this.#memo.once(SLOT.systemInstructions, () => {
      const own = this.#root.systemInstructions ?? this.#firstAgent()?.systemInstructions
      if (own !== undefined || this.loop.undecided === 'question and answer') return own
      const { answer, plan } = this.loop
      const [first] = plan.models
      if (first === undefined) return undefined
      // Of calls of one agent with different instructions, those of the one that answered are the run's, unless only the first was asked.
      const isSameAgent = answer !== undefined && agentOf(answer, plan.root) === agentOf(first, plan.root)
      const isForm = isSameAgent && this.#wasAsked(first) && !this.#wasAsked(answer)
      return (isSameAgent && !isForm ? instructionsOf(answer) : undefined) ?? instructionsOf(first)
    })
  }

  /** Whether a model call was asked what the agent's own span says that the agent was asked. */
  #wasAsked(model: TraceSpan): boolean {
    const asked = lastUserText(this.#ownInput())
    return asked !== undefined && lastUserText(inputOf(model)) === asked
  }

  get input(): readonly Message[] {
    return (this.#input ??= frozen(this.#readInput()))
  }

  #readInput(): readonly Message[] {
    const own = this.#ownInput()
    const first = this.#firstModelInput()
    if (own === undefined || first === undefined) return own ?? first ?? this.#starter()?.input ?? []
    // The agent's span may only have the new question, while the model's also has the messages before it.
    if (own.length !== 1 || first.length === 1 || lastUserText(first) !== lastUserText(own)) return own
    // A child may be shown its parent's question, which came before the parent, not before the child.
    const context = this.#plan.parent?.plan.root.input
    return context !== undefined && lastUserText(context) === lastUserText(first.slice(0, -1)) ? own : first
  }

  get userInput(): string | undefined {
    const asked = lastUserText(this.#ownInput()) ?? lastUserText(this.#firstModelInput())
    return asked ?? lastUserText(this.#starter()?.input)
  }

  /** The answer; what a run said before it began to wait is none. */
  get output(): string | undefined {
    return this.#memo.once(SLOT.output, () => (this.#waits() ? undefined : this.#saidLast()))
  }

  #saidLast(): string | undefined {
    return this.#memo.once(SLOT.saidLast, () => {
      if (this.loop.undecided !== 'nothing' || this.#isStopped()) return undefined
      if (this.#isReplaced()) return assistantText(this.#root.output)
      const final = this.#root.hasFinalForm ? assistantText(this.#root.output) : undefined
      if (final !== undefined) return final
      const last = this.loop.plan.models.at(-1)
      if (last !== undefined && !isFailed(last.outcome)) {
        const answer = outputOf(last)
        if (answer !== undefined) {
          const asks = pick(last, callsOrNone) !== undefined
          const text = asks ? textBesideCalls(answer) : assistantText(answer)
          // Text before tool calls is not an answer, and the model's own span has no other.
          if (text !== undefined || (asks && last === this.#plan.root)) return text
        }
      }
      return (
        saidOf(this.loop.plan) ??
        this.#emptyOutput() ??
        (isFailed(this.#root.outcome) ? undefined : this.#starter()?.output)
      )
    })
  }

  /** Whether a guardrail ended the run: what the model said before was not given out. */
  #isStopped(): boolean {
    return this.#plan.asides.some(isGuardrail) && this.#endingIf(() => true).status === 'error'
  }

  /** Whether a guardrail, after the last call, replaced the answer: no call gave what the agent gave out. */
  #isReplaced(): boolean {
    const { answer: found, plan } = this.loop
    const { models } = plan
    const last = models.at(-1)?.span
    if (last === undefined || found !== undefined) return false
    if (!this.#plan.asides.some((aside) => isGuardrail(aside) && aside.span.endTimeMs >= last.endTimeMs)) return false
    const given = assistantText(this.#root.output)
    if (given === undefined) return false
    const answer = new ComparedText(given)
    return models.every((model) => !answer.contains(new ComparedText(answerIn(model) ?? '')))
  }

  /** All model calls, those of the loop first. */
  #allModels(): readonly TraceSpan[] {
    const { plan, side } = this.loop
    return [...plan.models, ...side, ...this.#plan.sideModels.map(({ model }) => model)]
  }

  /** A recorded answer may be empty. */
  #emptyOutput(): string | undefined {
    const { models, tools } = this.loop.plan
    const last = models.at(-1)
    if (isFailed(this.#root.outcome)) return undefined
    if (last === undefined) return emptyText(this.#root.output)
    const asksForMore = pick(last, callsOrNone) !== undefined || tools.some((node) => node.index > last.index)
    if (asksForMore || isFailed(last.outcome)) return undefined
    return emptyText(outputOf(last) ?? this.#root.output)
  }

  get toolCalls(): readonly ReconstructedToolCall[] {
    return (this.#toolCalls ??= frozen(this.#readToolCalls()))
  }

  #readToolCalls(): readonly ReconstructedToolCall[] {
    const { models, tools, children } = this.loop.plan
    let asked = this.#askedCalls()
    const { resumption } = this.#root
    const resumed = new Set(resumedCalls(this.loop.plan))
    const refused = new Set(refusedCalls(this.loop.plan, [...resumed]))
    if (resumption !== undefined && models.length > 0) {
      asked = asked.map((calls, step) => (step === 0 ? [...resumed, ...calls] : calls))
    } else if (asked.every((calls) => calls.length === 0)) {
      const listed = withoutTool(transcriptCalls(this.#transcript()), this.#outputTool())
      if (listed.some((calls) => calls.length > 0)) asked = listed
    }
    const joined = joinToolCalls(models, tools, asked)
    const responses = new Responses(models, () => this.#transcript(), joined)
    const toolSpans = models.length === 0 ? 'sometimes' : (this.#root.dialect.toolSpans ?? 'sometimes')
    const childOf = new Map(children.map((child) => [child.parent?.tool ?? child.parent?.callId, runId(child)]))
    const calls = joined.map((call, position) => {
      const isResumed = call.asked !== undefined && resumed.has(call.asked)
      const childRunId = childOf.get(call.tool ?? NOBODY) ?? childOf.get(call.asked?.id ?? NOBODY)
      return new ReconstructedToolCall(call, {
        responses,
        toolSpans,
        agentName: () => this.#callerOf(call),
        childRunId,
        runWaits: () => this.#waits(),
        saysItWaits: this.#root.outcome.status === 'waiting',
        waitsFor: this.#root.outcome.waitsFor,
        wasCutOff: call.asked !== undefined && call.tool !== undefined && wasCutOff(this.loop.plan, call.tool),
        wasRefused: isResumed && call.tool === undefined && refused.has(call.asked),
        runner: isResumed ? this.#runnerOf(call.asked?.name) : undefined,
        traceId: this.#plan.root.span.traceId,
        position,
      })
    })
    if (resumed.size === 0 || resumption?.answered !== undefined) return calls
    // A call that the earlier run made as well has its span there.
    return calls.filter((call, index) => !resumed.has(joined[index]?.asked ?? NO_CALL) || call.wasDecided())
  }

  get availableTools(): readonly ToolDefinition[] | undefined {
    return this.#memo.shared(SLOT.availableTools, () => {
      const first = this.loop.plan.models[0]
      const offered =
        (first && pick(first, (facts) => facts.toolDefinitions)) ??
        this.#root.toolDefinitions ??
        this.#firstAgent()?.toolDefinitions
      const answering = this.#outputTool()
      return answering === undefined ? offered : offered?.filter(({ name }) => name !== answering)
    })
  }

  get steps(): readonly ModelCall[] {
    return (this.#steps ??= frozen(this.#readSteps()))
  }

  #readSteps(): readonly ModelCall[] {
    const { models } = this.loop.plan
    const asked = this.#askedCalls()
    return models.map((model, index) => {
      const ids = (asked[index] ?? []).map((call) => call.id).filter((id) => id !== undefined)
      return new ReconstructedModelCall(model, ids, index === 0 || index === models.length - 1)
    })
  }

  get sideCalls(): readonly SideCall[] {
    return (this.#sideCalls ??= frozen(this.#readSideCalls()))
  }

  #readSideCalls(): readonly SideCall[] {
    const served = this.#plan.sideModels.map(({ model, aside }) => ({
      model,
      kind: asideKindOf(aside),
      name: aside.span.name,
    }))
    const others = this.loop.side.map((model) => ({ model, kind: 'other' as const, name: undefined }))
    return [...served, ...others]
      .toSorted((left, right) => compareSpans(left.model.span, right.model.span))
      .map(({ model, kind, name }) => new ReconstructedSideCall(model, kind, name))
  }

  /** Those with spans, and searches of the model's provider. */
  get retrievals(): readonly Retrieval[] {
    return (this.#retrievals ??= frozen(this.#readRetrievals()))
  }

  #readRetrievals(): readonly Retrieval[] {
    const { retrievals } = this.#plan
    const searches = fileSearches(this.toolCalls)
    if (retrievals.length === 0) return searches
    const indexes = new Map(this.toolCalls.map(({ spanId }, index) => [spanId, index]))
    const found = retrievals.flatMap(({ span, tool }) => {
      const kind = retrievalKindOf(span)
      const toolCall = tool && indexes.get(tool.span.spanId)
      return kind === undefined ? [] : [new ReconstructedRetrieval(span, kind, toolCall)]
    })
    return [...found, ...searches]
  }

  get models(): readonly string[] {
    return (this.#models ??= frozen(this.#readModels()))
  }

  #readModels(): readonly string[] {
    const names = new Set<string | undefined>()
    for (const model of this.#allModels()) names.add(pick(model, (facts) => facts.model?.model))
    names.delete(undefined)
    if (names.size === 0) names.add(firstOf(this.#plan.inside, (facts) => facts.model?.model))
    return [...names].filter((name) => name !== undefined)
  }

  get usage(): Usage {
    return (this.#usage ??= frozen(this.#readUsage()))
  }

  #readUsage(): Usage {
    const sum = usageOfAll(this.#allModels())
    if (!isEmpty(sum)) return sum
    // Without a model span only an agent knows the total: one step of several would pass for all.
    const { root, inside } = this.#plan
    const agents = inside.filter(({ role }) => role === 'agent' || role === 'entry')
    return firstOf([root, ...agents], ({ usage }) => (isEmpty(usage) ? undefined : usage)) ?? {}
  }

  /** How the run ended. */
  get ending(): SpanOutcome {
    return (this.#ending ??= this.#readEnding())
  }

  #readEnding(): SpanOutcome {
    if (this.#waits()) return WAITING
    const isCutOff = this.#root.role === 'model' && !this.#plan.isComplete
    if (isCutOff && !isFailed(this.#endingIf(() => true)) && this.output === undefined) return { status: 'unknown' }
    const ending = this.#endingIf(() => this.output !== undefined)
    const isOpenEnded = !isFailed(ending) && endsInAbortedTool(this.loop.plan) && this.output === undefined
    if (isOpenEnded) return { status: 'aborted' }
    const isLeft =
      ending.status === 'ok' && this.output === undefined && this.toolCalls.some((call) => call.mayBeOpen())
    return isLeft ? { status: 'unknown' } : ending
  }

  /**
   * Whether the run stopped before an answer, because somebody has to answer first: its span says so, something in it was interrupted, or
   * calls of its last step were neither answered nor did their tools run.
   */
  #waits(): boolean {
    return (this.#isWaiting ??= this.#readWaits())
  }

  #readWaits(): boolean {
    const { models, asides, inside } = this.loop.plan
    if (isFailed(this.#endingIf(() => true))) return false
    const last = models.at(-1)
    const isAfter = (span: TraceSpan): boolean => last === undefined || span.span.endTimeMs >= last.span.endTimeMs
    const spans = [this.#plan.root, ...inside, ...asides]
    if (spans.some((span) => span.outcome.status === 'waiting' && isAfter(span))) return true
    const step = models.length - 1
    // Without an agent's span, nothing shows that the run has ended: a tool may have run, and no model been asked after it.
    if (this.#plan.root.role === 'model') return false
    if (!this.#plan.isComplete || !this.toolCalls.some((call) => call.step >= step && call.isPending())) return false
    // Where not every tool has a span, an answer shows that none is pending.
    return this.#root.dialect.toolSpans === 'always' || this.#saidLast() === undefined
  }

  #endingIf(hasAnswer: () => boolean): SpanOutcome {
    const { models, inside } = this.loop.plan
    const last = models.at(-1)
    const agent = inside.findLast((span) => span.role === 'agent')
    return endingOf(this.#root, last === this.#root ? undefined : last, agent, hasAnswer)
  }

  #ownInput(): readonly Message[] | undefined {
    return this.#memo.once(SLOT.ownInput, () => {
      const own = withoutSystem(this.#root.input ?? this.#firstAgent()?.input ?? this.#sameAgent()?.input)
      if (own?.length === 0) return undefined
      return isAround(own, () => lastUserText(this.#firstModelInput())) ? undefined : own
    })
  }

  #firstModelInput(): readonly Message[] | undefined {
    return this.#memo.once(SLOT.firstModelInput, () => {
      const { models, inside } = this.loop.plan
      const [first] = models
      // Nothing shows which of the calls was asked the run's question.
      if (first === undefined || this.loop.undecided === 'question and answer') return undefined
      return withoutSystem(inputOf(first) ?? firstOf(inside, (facts) => facts.input))
    })
  }

  /** What the tool that started this run says about it, for agents whose own spans have no content. */
  #starter(): Starter | undefined {
    const tool = this.#plan.parent?.tool
    return this.#memo.once(SLOT.starter, () => (tool === undefined ? undefined : starterOf(tool)))
  }

  /** The agent that worked first, if it is not the root itself. */
  #firstAgent(): TraceSpan | undefined {
    const { models, inside, root } = this.loop.plan
    const first = models[0] && agentOf(models[0], root)
    return first === undefined || first === root
      ? inside.find((span) => span.role !== 'entry' && span.agent?.name !== undefined)
      : first
  }

  /** A second span of the same agent, directly below the root: some libraries write one for the call and one for the graph. */
  #sameAgent(): TraceSpan | undefined {
    const name = this.#root.role === 'entry' ? this.#root.agent?.name : undefined
    if (name === undefined) return undefined
    return this.#plan.inside.find(
      (span) => span.role === 'entry' && span.parent === this.#root && span.agent?.name === name,
    )
  }

  #askedCalls(): ReturnType<typeof askedCalls> {
    const { models, tools } = this.loop.plan
    return (this.#asked ??= withoutTool(askedCalls(models, tools), this.#outputTool()))
  }

  #outputTool(): string | undefined {
    return this.#memo.once(SLOT.outputTool, () => outputToolOf(this.loop.plan))
  }

  /** The root's transcript, or else that of the first span in the run with one. */
  #transcript(): readonly Message[] | undefined {
    const { root, inside } = this.loop.plan
    return this.#memo.once(SLOT.transcript, () => firstOf([root, ...inside], (facts) => facts.transcript))
  }

  /** Who runs a tool, as the first request says. */
  #runnerOf(toolName: string | undefined): ToolRunner | undefined {
    const [first] = this.loop.plan.models
    return first === undefined || toolName === undefined ? undefined : this.#root.runnerIn(first, toolName)
  }

  /** The agent that made a call, if the run has several. */
  #callerOf(call: JoinedCall): string | undefined {
    const { models, tools, root } = this.loop.plan
    const nameOf = (node: TraceSpan): string | undefined => agentOf(node, root).agent?.name
    const names = (this.#agentNames ??= new Set([...models, ...tools].map((node) => nameOf(node))))
    names.delete(undefined)
    return names.size > 1 && call.by !== undefined ? nameOf(call.by) : undefined
  }
}

function instructionsOf(model: TraceSpan): string | undefined {
  return pick(model, (facts) => facts.systemInstructions)
}

function asideKindOf({ dialect, span }: TraceSpan): SideCall['kind'] {
  return dialect.aside?.(span) ?? 'other'
}

function isGuardrail(aside: TraceSpan): boolean {
  return asideKindOf(aside) === 'guardrail'
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

function callsOrNone(facts: SpanFacts): unknown {
  return facts.toolCalls.length === 0 ? undefined : facts.toolCalls
}
