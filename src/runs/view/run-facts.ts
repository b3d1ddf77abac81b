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
import { Evidence } from './evidence.ts'
import { wasCutOff } from './run-ending.ts'
import type { Loop } from './loop.ts'
import { compareSpans } from '../layout/tree.ts'
import { fileSearches } from './file-search.ts'
import { ReconstructedRetrieval, retrievalKindOf } from './retrieval.ts'
import { ReconstructedToolCall } from './tool-call.ts'
import { outputToolOf, withoutTool } from './output-tool.ts'
import { refusedCalls, resumedCalls } from './resumed-calls.ts'
import { Responses } from './responses.ts'
import { pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { lastUserText } from './message-text.ts'
import { frozen } from './frozen.ts'
import { Memo } from './memo.ts'
import { CONVERSATION_IDS, USER_IDS } from '../../spans/ids.ts'
import { idNamed, idsOfRun } from './run-ids.ts'
import type { IdsOnSpan } from '../../spans/ids.ts'

/** The slots of the facts that a run may lack. */
const SLOT = { availableTools: 0, transcript: 1, outputTool: 2 } as const

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
  /** What decides the facts whose sources may contradict each other. */
  readonly evidence: Evidence
  #allIds: readonly IdsOnSpan[] | undefined
  #input: readonly Message[] | undefined
  #toolCalls: readonly ReconstructedToolCall[] | undefined
  #steps: readonly ModelCall[] | undefined
  #sideCalls: readonly SideCall[] | undefined
  #models: readonly string[] | undefined
  #retrievals: readonly Retrieval[] | undefined
  #usage: Usage | undefined
  #asked: ReturnType<typeof askedCalls> | undefined
  #agentNames: Set<string | undefined> | undefined

  constructor(plan: RunPlan) {
    this.#plan = plan
    this.#root = plan.root
    this.evidence = new Evidence(plan, () => this.toolCalls)
  }

  /** The run's loop, apart from the model calls that only served it. */
  get loop(): Loop {
    return this.evidence.loop
  }

  get agent(): AgentRun['agent'] {
    return frozen(this.evidence.of('agent')?.value ?? this.#root.agent ?? {})
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
    return this.evidence.of('instructions')?.value
  }

  get input(): readonly Message[] {
    return (this.#input ??= frozen(this.#readInput()))
  }

  #readInput(): readonly Message[] {
    const { ownInput: own, firstModelInput: first, starter } = this.evidence
    const decided = this.evidence.of('question')
    if (decided?.value === undefined)
      return own ?? (decided === undefined ? (first ?? starter?.input) : undefined) ?? []
    // The agent's span may only have the new question, while the model's also has the messages before it.
    const isShorter = decided.value === own && own.length === 1 && first !== undefined && first.length > 1
    if (!isShorter || lastUserText(first) !== lastUserText(own)) return decided.value
    // A child may be shown its parent's question, which came before the parent, not before the child.
    const context = this.#plan.parent?.plan.root.input
    return context !== undefined && lastUserText(context) === lastUserText(first.slice(0, -1)) ? own : first
  }

  get userInput(): string | undefined {
    return lastUserText(this.evidence.of('question')?.value)
  }

  /** The answer; what a run said before it began to wait, or was stopped, is none. */
  get output(): string | undefined {
    return this.evidence.answer
  }

  /** All model calls, those of the loop first. */
  #allModels(): readonly TraceSpan[] {
    const { plan, side } = this.loop
    return [...plan.models, ...side, ...this.#plan.sideModels.map(({ model }) => model)]
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
        runWaits: () => this.evidence.waits,
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
      const offered = firstOf(this.evidence.spansOf('toolDefinitions'), (span) =>
        pick(span, (facts) => facts.toolDefinitions),
      )
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

  /** Those with spans, also where one span searches and answers, and searches of the model's provider. */
  get retrievals(): readonly Retrieval[] {
    return (this.#retrievals ??= frozen(this.#readRetrievals()))
  }

  #readRetrievals(): readonly Retrieval[] {
    const answering = this.loop.plan.models.filter((model) => retrievalKindOf(model) !== undefined)
    const retrievals = [...this.#plan.retrievals, ...answering.map((span) => ({ span, tool: undefined }))]
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
    return this.evidence.of('status')?.value ?? { status: 'unknown' }
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
    const nameOf = (node: TraceSpan): string | undefined => {
      const agent = agentOf(node, root)
      return agent.role === 'entry' ? undefined : agent.agent?.name
    }
    const names = (this.#agentNames ??= new Set([...models, ...tools].map((node) => nameOf(node))))
    names.delete(undefined)
    return names.size > 1 && call.by !== undefined ? nameOf(call.by) : undefined
  }
}

function asideKindOf({ dialect, span }: TraceSpan): SideCall['kind'] {
  return dialect.aside?.(span) ?? 'other'
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}
