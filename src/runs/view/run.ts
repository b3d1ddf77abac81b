import { isContentAttribute } from '../../spans/content/content-attributes.ts'
import type { SpanOutcome } from '../../spans/dialect.ts'
import type { SpanFacts } from '../../spans/facts.ts'
import type { Message, RunError, ToolDefinition, Usage } from '../../model/message.ts'
import type { AgentRun, Missing, ModelCall, ToolCall } from '../../model/agent-run.ts'
import { askedCalls, transcriptCalls } from './asked-calls.ts'
import { joinToolCalls, type JoinedCall } from './join-tool-calls.ts'
import { contentOf, missingOf } from './missing.ts'
import { agentOf, type RunPlan } from '../layout/run-layout.ts'
import { printAsJson } from './print-as-json.ts'
import { pick, ReconstructedModelCall, usageOf } from './model-call.ts'
import { endingOf, endsInAbortedTool, isFailed } from './run-ending.ts'
import { starterOf, type Starter } from './starter.ts'
import { ReconstructedToolCall } from './tool-call.ts'
import { copyOf } from '../../spans/json.ts'
import { frozen } from './frozen.ts'
import { Responses } from './responses.ts'
import type { TraceSpan } from '../trace-span.ts'
import { assistantText, emptyText, isAround, lastUserText, textAfterCalls, withoutSystem } from './message-text.ts'

/** Where each fact is kept once it is read: an array is several times faster than a map here. */
const SLOT = {
  agent: 0,
  conversationId: 1,
  userId: 2,
  systemInstructions: 3,
  input: 4,
  output: 5,
  toolCalls: 6,
  availableTools: 7,
  steps: 8,
  parent: 9,
  children: 10,
  models: 11,
  usage: 12,
  content: 13,
  missing: 14,
  attributes: 15,
  ending: 16,
  ownInput: 17,
  firstModelInput: 18,
  transcript: 19,
  agentNames: 20,
  asked: 21,
  starter: 22,
  resource: 23,
} as const

const NOTHING: unique symbol = Symbol('nothing')

const NOBODY = ''

/** Agents that start agents: deeper ones are left out, because `JSON.stringify` recurses. */
const MAX_DEPTH = 200
const CHILDREN_CUT: Missing = { what: 'children', why: 'limit' }

/**
 * A run over its spans. Every property is read when it is first asked for and kept; `JSON.stringify` gives all. Asking for
 * the names of tools does not parse what the model was given.
 */
export class ReconstructedRun implements AgentRun {
  static {
    printAsJson(this.prototype)
  }

  readonly traceId: string
  readonly spanId: string
  readonly id: string
  readonly revision: number
  readonly #plan: RunPlan
  readonly #root: SpanFacts
  readonly #depth: number
  /** By slot; `NOTHING` where a fact was read and is not there. */
  readonly #known: unknown[] = []

  constructor(plan: RunPlan, revision: number, depth = 0) {
    this.#plan = plan
    this.#root = plan.root
    this.traceId = plan.root.span.traceId
    this.spanId = plan.root.span.spanId
    this.id = runId(plan)
    this.revision = revision
    this.#depth = depth
    Object.freeze(this)
  }

  get dialect(): string {
    return this.#root.dialect.name
  }

  get agent(): AgentRun['agent'] {
    return this.#shared(SLOT.agent, () => {
      const own = this.#root.agent
      const first = this.#firstAgent()?.agent
      const isAgentItself = this.#root.role === 'agent' && !this.#root.holdsOneRun
      const said = (isAgentItself && own?.name !== undefined ? own : (first ?? own)) ?? {}
      const name = said.name === undefined && isAgentItself ? this.#starter()?.name : undefined
      return name === undefined ? said : { ...said, name }
    })
  }

  get conversationId(): string | undefined {
    return this.#once(SLOT.conversationId, () => this.#first((facts) => facts.conversationId))
  }

  get userId(): string | undefined {
    return this.#once(SLOT.userId, () => this.#first((facts) => facts.userId))
  }

  get systemInstructions(): string | undefined {
    return this.#once(SLOT.systemInstructions, () => {
      const first = this.#plan.models[0]
      return (
        this.#root.systemInstructions ??
        this.#firstAgent()?.systemInstructions ??
        (first && pick(first, (facts) => facts.systemInstructions))
      )
    })
  }

  get input(): readonly Message[] {
    return this.#shared(SLOT.input, () => {
      const own = this.#ownInput()
      const first = this.#firstModelInput()
      if (own === undefined || first === undefined) return own ?? first ?? this.#starter()?.input ?? []
      // The agent's span may hold the new question only, the model's what came before it too.
      if (own.length !== 1 || first.length === 1 || lastUserText(first) !== lastUserText(own)) return own
      // A child may be shown what its parent was asked: that came before the parent, not before the child.
      const context = this.#plan.parent?.plan.root.input
      return context !== undefined && lastUserText(context) === lastUserText(first.slice(0, -1)) ? own : first
    })
  }

  get userInput(): string | undefined {
    const asked = lastUserText(this.#ownInput()) ?? lastUserText(this.#firstModelInput())
    return asked ?? lastUserText(this.#starter()?.input)
  }

  get output(): string | undefined {
    return this.#once(SLOT.output, () => {
      const final = this.#root.hasFinalForm ? assistantText(this.#root.output) : undefined
      if (final !== undefined) return final
      const last = this.#plan.models.at(-1)
      if (last !== undefined && !isFailed(last.outcome)) {
        const answer = pick(last, (facts) => facts.output)
        if (answer !== undefined) {
          const asks = pick(last, callsOrNone) !== undefined
          const text = asks ? textAfterCalls(answer) : assistantText(answer)
          // What a model says before it calls tools is no answer, and its own span has no other.
          if (text !== undefined || (asks && last === this.#plan.root)) return text
        }
      }
      const said = assistantText(this.#root.output) ?? assistantText(this.#lastAgent()?.output)
      return said ?? this.#emptyOutput() ?? (isFailed(this.#root.outcome) ? undefined : this.#starter()?.output)
    })
  }

  /** An answer without a word is one all the same, where it is recorded. */
  #emptyOutput(): string | undefined {
    const { models, tools } = this.#plan
    const last = models.at(-1)
    if (isFailed(this.#root.outcome)) return undefined
    if (last === undefined) return emptyText(this.#root.output)
    const asksForMore = pick(last, callsOrNone) !== undefined || tools.some((node) => node.index > last.index)
    if (asksForMore || isFailed(last.outcome)) return undefined
    return emptyText(pick(last, (facts) => facts.output) ?? this.#root.output)
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#shared(SLOT.toolCalls, () => {
      const { models, tools, children } = this.#plan
      let asked = this.#askedCalls()
      if (asked.every((calls) => calls.length === 0)) {
        const listed = transcriptCalls(this.#transcript())
        if (listed.some((calls) => calls.length > 0)) asked = listed
      }
      const responses = new Responses(models, () => this.#transcript())
      const toolSpans = models.length === 0 ? 'sometimes' : (this.#root.dialect.toolSpans ?? 'sometimes')
      const childOf = new Map(children.map((child) => [child.parent?.tool ?? child.parent?.callId, runId(child)]))
      return joinToolCalls(models, tools, asked).map((call, position) => {
        const childRunId = childOf.get(call.tool ?? NOBODY) ?? childOf.get(call.asked?.id ?? NOBODY)
        return new ReconstructedToolCall(call, {
          responses,
          toolSpans,
          agentName: () => this.#callerOf(call),
          childRunId,
          position,
        })
      })
    })
  }

  get availableTools(): readonly ToolDefinition[] | undefined {
    return this.#shared(SLOT.availableTools, () => {
      const first = this.#plan.models[0]
      return (
        (first && pick(first, (facts) => facts.toolDefinitions)) ??
        this.#root.toolDefinitions ??
        this.#firstAgent()?.toolDefinitions
      )
    })
  }

  get steps(): readonly ModelCall[] {
    return this.#shared(SLOT.steps, () => {
      const { models } = this.#plan
      const asked = this.#askedCalls()
      return models.map((model, index) => {
        const ids = (asked[index] ?? []).map((call) => call.id).filter((id) => id !== undefined)
        return new ReconstructedModelCall(model, ids, index === 0 || index === models.length - 1)
      })
    })
  }

  get parent(): AgentRun['parent'] {
    return this.#shared(SLOT.parent, () => {
      const { parent } = this.#plan
      if (parent === undefined) return undefined
      const toolCallId = parent.callId ?? parent.tool?.tool?.id ?? this.#parentCallId?.()
      return { runId: runId(parent.plan), ...(toolCallId !== undefined && { toolCallId }) }
    })
  }

  get children(): readonly AgentRun[] {
    return this.#shared(SLOT.children, () => {
      if (this.#depth >= MAX_DEPTH) return []
      return this.#plan.children.map((plan) => {
        const child = new ReconstructedRun(plan, this.revision, this.#depth + 1)
        child.#parentCallId = () => this.toolCalls.find((call) => call.childRunId === child.id)?.id
        return child
      })
    })
  }

  get models(): readonly string[] {
    return this.#shared(SLOT.models, () => {
      const names = new Set(this.#plan.models.map((model) => pick(model, (facts) => facts.model?.model)))
      names.delete(undefined)
      if (names.size === 0) names.add(firstOf(this.#plan.inside, (facts) => facts.model?.model))
      return [...names].filter((name) => name !== undefined)
    })
  }

  get usage(): Usage {
    return this.#shared(SLOT.usage, () => {
      const sum: Record<string, number> = {}
      for (const model of this.#plan.models) {
        for (const [key, value] of Object.entries(usageOf(model))) sum[key] = (sum[key] ?? 0) + Number(value)
      }
      if (Object.keys(sum).length > 0) return sum
      // Without a model's span only an agent knows the sum: one step of several would pass for all.
      const { root, inside } = this.#plan
      const agents = inside.filter(({ role }) => role === 'agent' || role === 'entry')
      return firstOf([root, ...agents], ({ usage }) => (isEmpty(usage) ? undefined : usage)) ?? {}
    })
  }

  get status(): AgentRun['status'] {
    return this.#ending().status
  }

  get error(): RunError | undefined {
    return frozen(this.#ending().error)
  }

  get startTimeMs(): number {
    return this.#plan.root.span.startTimeMs
  }

  get endTimeMs(): number {
    const { root, models, tools } = this.#plan
    if (root.role !== 'model') return root.span.endTimeMs
    return [...models, ...tools].reduce((end, { span }) => Math.max(end, span.endTimeMs), root.span.endTimeMs)
  }

  get content(): AgentRun['content'] {
    return this.#shared(SLOT.content, () => contentOf(this))
  }

  get missing(): readonly Missing[] {
    return this.#shared(SLOT.missing, () => {
      const isCut = this.#depth >= MAX_DEPTH && this.#plan.children.length > 0
      return isCut ? [...missingOf(this, this.#plan), CHILDREN_CUT] : missingOf(this, this.#plan)
    })
  }

  get complete(): boolean {
    return this.#plan.isComplete
  }

  get attributes(): Readonly<Record<string, unknown>> {
    return this.#shared(SLOT.attributes, () => {
      const { attributes } = this.#plan.root.span
      const kept: Record<string, unknown> = {}
      for (const key in attributes) {
        // `__proto__` is no attribute that anybody needs, and the only key that would not stay one.
        if (!isContentAttribute(key, this.#root.dialect) && key !== '__proto__') kept[key] = copyOf(attributes[key])
      }
      return kept
    })
  }

  get resource(): Readonly<Record<string, unknown>> {
    // The SDK's own object describes every span of the process: what a scorer writes to the run is not written there.
    return this.#shared(SLOT.resource, () => copyOf(this.#plan.root.span.resource))
  }

  get scope(): AgentRun['scope'] {
    const { name, version } = this.#plan.root.span.scope
    return frozen(version === undefined ? { name } : { name, version })
  }

  /** All properties, for `JSON.stringify`, which leaves out the undefined ones. */
  toJSON(): AgentRun {
    const { conversationId, userId, systemInstructions, userInput, output, availableTools, parent, error } = this
    return {
      id: this.id,
      traceId: this.traceId,
      spanId: this.spanId,
      dialect: this.dialect,
      agent: this.agent,
      conversationId,
      userId,
      systemInstructions,
      input: this.input,
      userInput,
      output,
      toolCalls: this.toolCalls,
      availableTools,
      steps: this.steps,
      parent,
      children: this.children,
      models: this.models,
      usage: this.usage,
      status: this.status,
      error,
      startTimeMs: this.startTimeMs,
      endTimeMs: this.endTimeMs,
      content: this.content,
      missing: this.missing,
      complete: this.complete,
      revision: this.revision,
      attributes: this.attributes,
      resource: this.resource,
      scope: this.scope,
    }
  }

  #parentCallId: (() => string | undefined) | undefined

  #ending(): SpanOutcome {
    return this.#once(SLOT.ending, () => {
      const { models, inside } = this.#plan
      const last = models.at(-1)
      const agent = inside.findLast((span) => span.role === 'agent')
      const ending = endingOf(
        this.#root,
        last === this.#root ? undefined : last,
        agent,
        () => this.output !== undefined,
      )
      const isOpenEnded = !isFailed(ending) && endsInAbortedTool(this.#plan) && this.output === undefined
      return isOpenEnded ? { status: 'aborted' } : ending
    })
  }

  #ownInput(): readonly Message[] | undefined {
    return this.#once(SLOT.ownInput, () => {
      const own = withoutSystem(this.#root.input ?? this.#firstAgent()?.input)
      return isAround(own, () => lastUserText(this.#firstModelInput())) ? undefined : own
    })
  }

  #firstModelInput(): readonly Message[] | undefined {
    return this.#once(SLOT.firstModelInput, () => {
      const [first] = this.#plan.models
      if (first === undefined) return undefined
      const { inside } = this.#plan
      return withoutSystem(pick(first, (facts) => facts.input) ?? firstOf(inside, (facts) => facts.input))
    })
  }

  /** What the tool that started this run says of it, for agents whose own spans say nothing. */
  #starter(): Starter | undefined {
    const tool = this.#plan.parent?.tool
    return this.#once(SLOT.starter, () => (tool === undefined ? undefined : starterOf(tool)))
  }

  /** The agent that worked first, where it is not the root itself. */
  #firstAgent(): TraceSpan | undefined {
    const { models, inside, root } = this.#plan
    const first = models[0] && agentOf(models[0], root)
    return first === undefined || first === root
      ? inside.find((span) => span.role !== 'entry' && span.agent?.name !== undefined)
      : first
  }

  #askedCalls(): ReturnType<typeof askedCalls> {
    return this.#once(SLOT.asked, () => askedCalls(this.#plan.models, this.#plan.tools))
  }

  /** The root's, else that of the first span in the run that lists its messages. */
  #transcript(): readonly Message[] | undefined {
    const { root, inside } = this.#plan
    return this.#once(SLOT.transcript, () => firstOf([root, ...inside], (facts) => facts.transcript))
  }

  #lastAgent(): TraceSpan | undefined {
    const { models, root } = this.#plan
    const last = models.at(-1)
    const agent = last && agentOf(last, root)
    return agent === root ? undefined : agent
  }

  /** The agent that made a call, where the run has several. */
  #callerOf(call: JoinedCall): string | undefined {
    const { models, tools, root } = this.#plan
    const nameOf = (node: TraceSpan): string | undefined => agentOf(node, root).agent?.name
    const names = this.#once(SLOT.agentNames, () => new Set([...models, ...tools].map((node) => nameOf(node))))
    names.delete(undefined)
    return names.size > 1 && call.by !== undefined ? nameOf(call.by) : undefined
  }

  /** From the agent's span, else from the first span of the run that says it. */
  #first<T>(read: (facts: SpanFacts) => T | undefined): T | undefined {
    const { root, inside, models } = this.#plan
    const found = read(root) ?? firstOf(inside, read)
    if (found !== undefined) return found
    for (const node of models) {
      const value = read(node)
      if (value !== undefined) return value
    }
    return undefined
  }

  /** A fact that users get: frozen, because all scorers of the run share it. */
  #shared<T>(slot: number, read: () => T): T {
    return this.#once(slot, () => frozen(read()))
  }

  #once<T>(slot: number, read: () => T): T {
    const known = this.#known[slot]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot is read by the getter of its name alone
    if (known !== undefined) return (known === NOTHING ? undefined : known) as T
    const value = read()
    this.#known[slot] = value === undefined ? NOTHING : value
    return value
  }
}

/** `${traceId}:${spanId}` of the span that the run is named after. */
export function runId(plan: RunPlan): string {
  return `${plan.root.span.traceId}:${plan.root.span.spanId}`
}

function firstOf<T>(nodes: readonly TraceSpan[], read: (facts: SpanFacts) => T | undefined): T | undefined {
  for (const node of nodes) {
    const value = read(node)
    if (value !== undefined) return value
  }
  return undefined
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

function callsOrNone(facts: SpanFacts): unknown {
  return facts.toolCalls.length === 0 ? undefined : facts.toolCalls
}
