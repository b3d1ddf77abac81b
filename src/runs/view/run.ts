import { plain, AGENT_RUN_FACTS } from '../../model/facts.ts'
import type { WithAll } from '../../model/facts.ts'
import { isContentAttribute } from '../../spans/content/content-attributes.ts'
import type { Message, RunError, ToolDefinition, Usage } from '../../model/message.ts'
import type { AgentRun, Missing, ModelCall, Retrieval, SideCall, ToolCall } from '../../model/agent-run.ts'
import { contentOf, missingInCalls, missingOf, missingTextsOf, TEXTS } from './missing.ts'
import { lacksFirstCall, missingCallsOf } from './missing-calls.ts'
import { wholeText } from './cut-content.ts'
import type { MissingFact } from './missing.ts'
import { runId } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { printAsJson } from './print-as-json.ts'
import { endsConversation } from '../../spans/ends-conversation.ts'
import { copyOf } from '../../spans/json.ts'
import { isShared } from '../../spans/shared-resource.ts'
import { mergedSurroundings } from '../../spans/surrounding.ts'
import { takenRecord } from '../../spans/take-values.ts'
import { frozen } from './frozen.ts'
import { Memo } from './memo.ts'
import { RunFacts } from './run-facts.ts'
import type { DecidedFacts, Decision } from './evidence.ts'

/** The slots of values that are cached besides the facts. */
const SLOT = {
  parent: 0,
  children: 1,
  content: 2,
  missing: 3,
  attributes: 4,
  resource: 5,
  systemInstructions: 6,
  userInput: 7,
  output: 8,
  missingCalls: 9,
  surrounding: 10,
} as const

const SLOTS = Object.keys(SLOT).length

/** Deeper nested agents are omitted, because `JSON.stringify` recurses. */
const MAX_DEPTH = 200
const CHILDREN_CUT: MissingFact = { what: 'children', why: 'limit' }

/**
 * A run, read lazily from its spans. Every property is read at first access and cached; `JSON.stringify` includes all of them. Reading the
 * names of tools does not parse the models' input.
 */
export class ReconstructedRun implements WithAll<Omit<AgentRun, 'conversation'>> {
  static {
    printAsJson(this.prototype)
  }

  readonly traceId: string
  readonly spanId: string
  readonly id: string
  readonly revision: number
  readonly #plan: RunPlan
  readonly #facts: RunFacts
  readonly #depth: number
  readonly #memo = new Memo(SLOTS)

  constructor(plan: RunPlan, revision: number, depth = 0) {
    this.#plan = plan
    this.#facts = new RunFacts(plan)
    this.traceId = plan.root.span.traceId
    this.spanId = plan.root.span.spanId
    this.id = runId(plan)
    this.revision = revision
    this.#depth = depth
    Object.freeze(this)
  }

  get dialect(): string {
    return this.#plan.root.dialect.name
  }

  get agent(): AgentRun['agent'] {
    return this.#facts.agent
  }

  get conversationId(): string | undefined {
    return this.#facts.conversationId
  }

  get userId(): string | undefined {
    return this.#facts.userId
  }

  get systemInstructions(): string | undefined {
    return this.#memo.once(SLOT.systemInstructions, () => wholeText(this.#facts.systemInstructions, this.#plan))
  }

  get input(): readonly Message[] {
    return this.#facts.input
  }

  get userInput(): string | undefined {
    return this.#memo.once(SLOT.userInput, () => wholeText(this.#facts.userInput, this.#plan))
  }

  get output(): string | undefined {
    return this.#memo.once(SLOT.output, () => wholeText(this.#facts.output, this.#plan))
  }

  get unanswered(): AgentRun['unanswered'] {
    const why = this.#facts.evidence.of('answer')?.none
    return why === 'undecided' ? undefined : why
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#facts.toolCalls
  }

  get availableTools(): readonly ToolDefinition[] | undefined {
    return this.#facts.availableTools
  }

  get steps(): readonly ModelCall[] {
    return this.#facts.steps
  }

  get sideCalls(): readonly SideCall[] {
    return this.#facts.sideCalls
  }

  get retrievals(): readonly Retrieval[] {
    return this.#facts.retrievals
  }

  get parent(): AgentRun['parent'] {
    return this.#memo.shared(SLOT.parent, () => {
      const { parent } = this.#plan
      if (parent === undefined) return undefined
      const toolCallId = parent.callId ?? parent.tool?.tool?.id ?? this.#parentCallId?.()
      return { runId: runId(parent.plan), ...(toolCallId !== undefined && { toolCallId }) }
    })
  }

  get children(): readonly AgentRun[] {
    return this.#memo.shared(SLOT.children, () => {
      if (this.#depth >= MAX_DEPTH) return []
      return this.#plan.children.map((plan) => {
        const child = new ReconstructedRun(plan, this.revision, this.#depth + 1)
        child.#parentCallId = () => this.toolCalls.find((call) => call.childRunId === child.id)?.id
        return child
      })
    })
  }

  get models(): readonly string[] {
    return this.#facts.models
  }

  get usage(): Usage {
    return this.#facts.usage
  }

  get status(): AgentRun['status'] {
    return this.#facts.ending.status
  }

  get error(): RunError | undefined {
    return frozen(this.#facts.ending.error)
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
    return this.#memo.shared(SLOT.content, () => contentOf(this))
  }

  get missing(): readonly MissingFact[] {
    return this.#memo.shared(SLOT.missing, () => {
      const isCut = this.#depth >= MAX_DEPTH && this.#plan.children.length > 0
      const missing = missingOf(this, this.#facts.evidence)
      return isCut ? [...missing, CHILDREN_CUT] : missing
    })
  }

  get complete(): boolean {
    if (!this.#plan.isComplete || lacksFirstCall(this.#facts.loop.plan)) return false
    return !this.#facts.toolCalls.some((call) => call.lacksItsSpan())
  }

  get attributes(): Readonly<Record<string, unknown>> {
    return this.#memo.shared(SLOT.attributes, () => {
      const kept: Record<string, unknown> = {}
      for (const key in this.#plan.root.span.attributes) {
        const value = this.#attribute(key)
        if (value !== undefined) kept[key] = value
      }
      return kept
    })
  }

  get surrounding(): AgentRun['surrounding'] {
    return this.#memo.shared(SLOT.surrounding, () => mergedSurroundings(this.#plan.root.surroundings()))
  }

  get resource(): Readonly<Record<string, unknown>> {
    const { resource } = this.#plan.root.span
    if (isShared(resource)) return resource
    // The SDK's own object describes every span of the process, so scorers get a copy.
    return this.#memo.shared(SLOT.resource, () => takenRecord(resource))
  }

  get scope(): AgentRun['scope'] {
    const { name, version } = this.#plan.root.span.scope
    return frozen(version === undefined ? { name } : { name, version })
  }

  toJSON(): AgentRun {
    return plain<AgentRun, keyof AgentRun>(this, AGENT_RUN_FACTS)
  }

  #parentCallId: (() => string | undefined) | undefined

  /** What decides a fact of a run, and which source; `undefined` for a run that is not made from spans, and a fact that none states. */
  static decisionOf<Fact extends keyof DecidedFacts>(
    run: AgentRun,
    fact: Fact,
  ): Decision<DecidedFacts[Fact]> | undefined {
    return #plan in run ? run.#facts.evidence.of(fact) : undefined
  }

  /** An attribute of the agent's span, as in `attributes`, without copying all the others. */
  static attributeOf(run: AgentRun, key: string): unknown {
    return #plan in run ? frozen(run.#attribute(key)) : run.attributes[key]
  }

  /** Whether a span of the run says that its conversation is over. */
  static endsConversation(run: AgentRun): boolean {
    if (!(#plan in run)) return endsConversation(run.attributes)
    const { root, models, tools, inside } = run.#plan
    return [root, ...inside, ...models, ...tools].some(({ span }) => endsConversation(span.attributes))
  }

  /** The entry of `missing` for a fact, without looking for all others. */
  static missingIn(run: AgentRun, fact: string): Missing | undefined {
    const isNamed = ({ what }: Missing): boolean => what === fact
    if (!(#plan in run)) return run.missing.find(isNamed)
    if (fact === 'toolCalls') {
      return run.#memo.shared(SLOT.missingCalls, () => missingCallsOf(run, run.#facts.loop.plan))
    }
    if (TEXTS.has(fact)) return missingTextsOf(run, run.#facts.evidence).find(isNamed)
    if (!fact.startsWith('toolCalls[')) return run.missing.find(isNamed)
    for (const each of missingInCalls(run, run.#facts.loop.plan)) if (isNamed(each)) return each
    return undefined
  }

  #attribute(key: string): unknown {
    const { root } = this.#plan
    // Nobody needs an attribute named `__proto__`, and it is the only key that would not become a property.
    if (key === '__proto__' || isContentAttribute(key, root.dialect)) return undefined
    return copyOf(root.span.attributes[key])
  }
}
