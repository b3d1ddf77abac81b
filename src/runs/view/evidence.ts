import type { Message } from '../../model/message.ts'
import type { AgentIdentity, SpanOutcome } from '../../spans/dialect.ts'
import type { SpanFacts } from '../../spans/facts.ts'
import { WAITING } from '../../spans/outcome.ts'
import { questionIn, stateIn } from '../../spans/content/states.ts'
import { agentOf } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { inputOf, outputOf, pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { loopOf } from './loop.ts'
import type { Loop } from './loop.ts'
import { Memo } from './memo.ts'
import { assistantText, emptyText, isAround, lastUserText, withoutSystem } from './message-text.ts'
import { firstOf } from './model-call.ts'
import { finalText, wrappersOf } from './output-tool.ts'
import { endedWithoutSum, endsInAbortedTool, endsOnTools, isFailed, isForTools } from './run-ending.ts'
import { answerIn, ComparedText } from './same-answer.ts'
import { starterOf } from './starter.ts'
import type { Starter } from './starter.ts'
import type { ReconstructedToolCall } from './tool-call.ts'

/** Why a run has no value of a fact, although nothing is missing from its spans. */
export type Silence = 'undecided' | 'waiting' | 'stopped'

/** What decides a fact: the value, or that there is none. */
export type Decision<T> =
  | { readonly by: string; readonly value: T; readonly none?: undefined }
  | { readonly by: string; readonly value?: undefined; readonly none: Silence }

/** A source of a fact, and what it states about a run. A `Silence` is final: no source after it is asked. */
type Row<T> = readonly [by: string, read: (run: Evidence) => { readonly value: T } | Silence | undefined]

/** At least one span. */
export type Spans = readonly [TraceSpan, ...TraceSpan[]]

/** The facts whose sources may contradict each other. */
export interface DecidedFacts {
  readonly agent: AgentIdentity
  readonly question: readonly Message[]
  readonly instructions: string
  readonly answer: string
  readonly status: SpanOutcome
}

/**
 * The order of evidence: for each fact its sources, the one that counts most first. The first one that states the fact decides it, for every
 * dialect, and `missing` names what none states. ARCHITECTURE.md explains the order.
 */
export const ORDER: { readonly [Fact in keyof DecidedFacts]: readonly Row<DecidedFacts[Fact]>[] } = {
  agent: [
    ['own span', ({ isAgentItself, root }) => named(isAgentItself ? root.agent : undefined)],
    ['flow', (run) => named(run.isFlow ? run.root.agent : undefined)],
    ['agent inside', (run) => named(run.outermostAgent?.agent)],
    ['span around', ({ root }) => named(root.agent)],
    ['tool that started it', (run) => named({ ...run.root.agent, ...run.nameByTool })],
  ],
  question: [
    ['own span', (run) => stated(withUser(run.ownInput))],
    ['undecided', ({ loop }) => (loop.undecided === 'question and answer' ? 'undecided' : undefined)],
    ['first call', (run) => stated(withUser(run.firstModelInput))],
    ['tool that started it', (run) => stated(withUser(run.starter?.input))],
  ],
  instructions: [
    ['own span', ({ root }) => stated(root.systemInstructions)],
    ['call that answered', (run) => stated(run.answering && instructionsOf(run.answering))],
    ['agent inside', (run) => stated(run.firstAgent?.systemInstructions)],
    ['call that was asked', (run) => stated(run.asked && instructionsOf(run.asked))],
    ['undecided', (run) => (run.hasOnlyHelpers ? 'undecided' : undefined)],
    ['first call', ({ loop }) => stated(loop.plan.models[0] && instructionsOf(loop.plan.models[0]))],
  ],
  answer: [
    ['waits', (run) => (run.waits ? 'waiting' : undefined)],
    ['was stopped', (run) => (run.isStopped ? 'stopped' : undefined)],
    [
      'own span, as returned',
      ({ root, isReplaced }) => stated(root.hasFinalForm || isReplaced ? assistantText(root.output) : undefined),
    ],
    ['call that answered', ({ loop }) => stated(loop.answer && answerIn(loop.answer))],
    ['own span', ({ loop }) => stated(loop.stated)],
    ['undecided', ({ loop }) => (loop.undecided === 'nothing' ? undefined : 'undecided')],
    ['last call', (run) => stated(run.lastCallSaid)],
    ['agent inside', (run) => stated(run.asksAlone ? undefined : (run.remoteAnswer ?? finalText(run.loop.plan)))],
    ['empty answer', (run) => stated(run.emptyAnswer)],
    ['tool that started it', (run) => stated(isFailed(run.root.outcome) ? undefined : run.starter?.output)],
    ['failed', (run) => (run.failure !== undefined || endsInAbortedTool(run.loop.plan) ? 'stopped' : undefined)],
    [
      'ended on tools',
      (run) => (run.root.outcome.status !== 'ok' && endsOnTools(run.loop.plan) ? 'undecided' : undefined),
    ],
  ],
  status: [
    ['failed span', (run) => stated(run.failure)],
    ['waits', (run) => stated(run.waits ? WAITING : undefined)],
    [
      'aborted tool',
      (run) => stated(run.answer === undefined && endsInAbortedTool(run.loop.plan) ? ABORTED : undefined),
    ],
    ['open', (run) => stated(run.answer === undefined && run.isOpenEnded ? UNKNOWN : undefined)],
    [
      'own span',
      ({ root, lastCall, loop }) => {
        const isOk = lastCall?.outcome.status === 'ok' && !endsOnTools(loop.plan)
        return stated(isOk || root.outcome.status === 'ok' ? OK : undefined)
      },
    ],
    ['answer', (run) => stated(run.endsWithAnswer ? OK : undefined)],
  ],
}

/** What decides a fact of a run; `undefined` if no source states it. */
export function decide<Fact extends keyof DecidedFacts>(
  fact: Fact,
  run: Evidence,
  from = 0,
): Decision<DecidedFacts[Fact]> | undefined {
  const rows = ORDER[fact]
  for (const [by, read] of from === 0 ? rows : rows.slice(from)) {
    const found = read(run)
    if (found !== undefined) return typeof found === 'string' ? { by, none: found } : { by, value: found.value }
  }
  return undefined
}

const SLOT = {
  agent: 0,
  question: 1,
  instructions: 2,
  answer: 3,
  status: 4,
  ownInput: 5,
  firstModelInput: 6,
  starter: 7,
  said: 8,
  failure: 9,
  waits: 10,
} as const

const SLOTS = Object.keys(SLOT).length

/** What the sources of `ORDER` state about a run, each read once. */
export class Evidence {
  readonly plan: RunPlan
  readonly root: SpanFacts
  readonly #memo = new Memo(SLOTS)
  readonly #toolCalls: () => readonly ReconstructedToolCall[]
  #loop: Loop | undefined

  constructor(plan: RunPlan, toolCalls: () => readonly ReconstructedToolCall[]) {
    this.plan = plan
    this.root = plan.root
    this.#toolCalls = toolCalls
  }

  /** The run's loop, apart from the model calls that only served it. */
  get loop(): Loop {
    return (this.#loop ??= loopOf(this.plan))
  }

  /** What decides a fact. */
  of<Fact extends keyof DecidedFacts>(fact: Fact): Decision<DecidedFacts[Fact]> | undefined {
    return this.#memo.once(SLOT[fact], () => decide(fact, this))
  }

  get answer(): string | undefined {
    return this.of('answer')?.value
  }

  /** Whether the run's own span is an agent's, and not one around agents that hand over to one another. */
  get isAgentItself(): boolean {
    return this.root.role === 'agent' && !this.root.isSingleRun
  }

  /** The agent that worked first, if it is not the root itself. */
  get firstAgent(): TraceSpan | undefined {
    const { models, inside, root } = this.loop.plan
    const first = models[0] && agentOf(models[0], root)
    return first === undefined || first === root
      ? inside.find((span) => span.role !== 'entry' && span.agent?.name !== undefined)
      : first
  }

  /** Whether the run's own span holds several parts with an agent each: the steps of a workflow, the runs of a script, or agents at once. */
  get isFlow(): boolean {
    const { inside, root } = this.plan
    const around = wrappersOf(root).at(-1) ?? root
    const parts = new Set<TraceSpan>()
    for (const agent of inside.filter(({ role }) => role === 'agent')) {
      let part = agent
      while (part.parent !== undefined && part.parent !== around) part = part.parent
      parts.add(part)
    }
    const [first, second] = parts
    if (first === undefined || second === undefined) return false
    return (first.role === 'entry' && second.role === 'entry') || first.span.endTimeMs > second.span.startTimeMs
  }

  /** The agent around the one that worked first, if there is one: it may run others in a fixed order. */
  get outermostAgent(): TraceSpan | undefined {
    const first = this.firstAgent
    let found = first
    for (let at = first?.parent; at !== undefined && at !== this.plan.root; at = at.parent) {
      if (at.role === 'agent' && at.agent?.name !== undefined) found = at
    }
    return found
  }

  /** The run's own span, those that it only wraps, and that of the agent inside. */
  get #agentSpans(): Spans {
    const { firstAgent } = this
    const { root } = this.plan
    return [root, ...wrappersOf(root), ...(firstAgent === undefined ? [] : [firstAgent])]
  }

  /**
   * The spans that may hold a fact, the one that counts most first. Questions and tools are read from these. If no source of `ORDER` states a
   * fact, these explain why.
   */
  spansOf(fact: 'input' | 'output' | 'systemInstructions' | 'toolDefinitions'): Spans {
    const call = this.loop.plan.models.at(fact === 'output' ? -1 : 0)
    if (call === undefined) return this.#agentSpans
    const isOfCall = fact === 'systemInstructions' || fact === 'toolDefinitions'
    return isOfCall ? [call, ...this.#agentSpans] : [...this.#agentSpans, call]
  }

  /** What the run's own span says that it was asked, or that of the agent inside. A state that was passed on is read as the question in it. */
  get ownInput(): readonly Message[] | undefined {
    return this.#memo.once(SLOT.ownInput, () => {
      const own = firstOf(this.#agentSpans, ({ input }) => withoutSystem(input))
      if (own === undefined || own.length === 0) return undefined
      const asked = (): string | undefined => lastUserText(this.firstModelInput)
      const text = own.length === 1 ? own[0]?.text : undefined
      const state = stateIn(text)
      if (state !== undefined && text !== asked()) {
        const question = withoutSystem(questionIn(state))
        if (question !== undefined) return question
      }
      return isAround(own, asked) ? undefined : own
    })
  }

  get firstModelInput(): readonly Message[] | undefined {
    return this.#memo.once(SLOT.firstModelInput, () => {
      const { models, inside } = this.loop.plan
      const [first] = models
      return first && withoutSystem(inputOf(first) ?? firstOf(inside, (facts) => facts.input))
    })
  }

  /** What the tool that started this run says about it, for agents whose own spans have no content. */
  get starter(): Starter | undefined {
    const tool = this.plan.parent?.tool
    return this.#memo.once(SLOT.starter, () => (tool === undefined ? undefined : starterOf(tool)))
  }

  /** The agent's name as the call has it, or, of an agent's own span, the name of the tool. */
  get nameByTool(): AgentIdentity {
    const name = this.starter?.[this.isAgentItself ? 'name' : 'agentName']
    return name === undefined ? {} : { name }
  }

  /**
   * The call whose instructions are the run's because it answered. Not a call that only brought the answer of the loop into its form, which
   * was not asked the question.
   */
  get answering(): TraceSpan | undefined {
    const { plan, undecided } = this.loop
    const [first] = plan.models
    const answer = this.loop.answer ?? (undecided === 'nothing' ? plan.models.at(-1) : undefined)
    if (answer === undefined || first === undefined) return undefined
    const [one, other] = [agentOf(first, plan.root), agentOf(answer, plan.root)]
    // A program's own calls choose who answers, or join what agents said.
    if (one !== other) return (one === plan.root && one.role !== 'agent') || other === plan.root ? answer : undefined
    return this.loop.answer === undefined || (this.#wasAsked(first) && !this.#wasAsked(answer)) ? undefined : answer
  }

  /** The first call that was asked what the run was asked. */
  get asked(): TraceSpan | undefined {
    return this.loop.plan.models.find((model) => this.#wasAsked(model))
  }

  /** Whether nothing shows which of several calls with instructions of their own is the agent's, and not a helper's. */
  get hasOnlyHelpers(): boolean {
    const { models } = this.loop.plan
    return this.loop.undecided !== 'nothing' && new Set(models.map(instructionsOf)).size > 1
  }

  #wasAsked(model: TraceSpan): boolean {
    const asked = lastUserText(this.ownInput)?.trim()
    return asked !== undefined && lastUserText(inputOf(model))?.trim() === asked
  }

  /** Whether the run stopped before an answer: it was aborted, or a guardrail ended it, and what the model said was not given out. */
  get isStopped(): boolean {
    const { failure } = this
    if (failure?.status === 'aborted') return true
    return failure?.status === 'error' && this.plan.asides.some(isGuardrail)
  }

  /** Whether a guardrail, after the last call, replaced the answer: no call gave what the agent gave out. */
  get isReplaced(): boolean {
    const { answer: found, plan } = this.loop
    const { models } = plan
    const last = models.at(-1)?.span
    if (last === undefined || found !== undefined) return false
    if (!this.plan.asides.some((aside) => isGuardrail(aside) && aside.span.endTimeMs >= last.endTimeMs)) return false
    const given = assistantText(this.root.output)
    if (given === undefined) return false
    const answer = new ComparedText(given)
    return models.every((model) => !answer.contains(new ComparedText(answerIn(model) ?? '')))
  }

  /** The text of the last call, unless it only asked for tools. */
  get lastCallSaid(): string | undefined {
    const last = this.loop.plan.models.at(-1)
    return last === undefined || isFailed(last.outcome) ? undefined : answerIn(last)
  }

  /** The answer of an agent that the last call handed over to, in a run of its own: it may be in another process. */
  get remoteAnswer(): string | undefined {
    const last = this.lastCall?.span.startTimeMs ?? 0
    const child = this.plan.children.findLast(
      ({ root, parent }) => parent?.tool === undefined && parent?.callId === undefined && root.span.startTimeMs >= last,
    )
    return child && !isFailed(child.root.outcome) ? new Evidence(child, () => []).answer : undefined
  }

  /** Whether the run is one model call that only asked for tools: its span has no other answer. */
  get asksAlone(): boolean {
    const last = this.loop.plan.models.at(-1)
    return last === this.plan.root && last.toolCalls.length > 0
  }

  /** A recorded answer may be empty. */
  get emptyAnswer(): string | undefined {
    const { models, tools } = this.loop.plan
    const last = models.at(-1)
    if (isFailed(this.root.outcome)) return undefined
    if (last === undefined) return emptyText(this.root.output)
    const asksForMore = pick(last, callsOrNone) !== undefined || tools.some((node) => node.index > last.index)
    if (asksForMore || isFailed(last.outcome)) return undefined
    return emptyText(outputOf(last) ?? this.root.output)
  }

  /** The last model call, if it is not the run's own span. */
  get lastCall(): TraceSpan | undefined {
    const last = this.loop.plan.models.at(-1)
    return last === this.plan.root ? undefined : last
  }

  /** How the run failed or was aborted: as its own span says, then the agent that worked last, then the last call. */
  get failure(): SpanOutcome | undefined {
    return this.#memo.once(SLOT.failure, () => {
      const { root, lastCall } = this
      if (isFailed(root.outcome)) return root.outcome
      const agent = this.loop.plan.inside.findLast((span) => span.role === 'agent')
      if (root.outcome.status === 'unknown' && agent !== undefined && isFailed(agent.outcome)) return agent.outcome
      if (lastCall === undefined) return undefined
      if (isFailed(lastCall.outcome)) return lastCall.outcome
      const cut = endedWithoutSum(root, lastCall)
      return cut && (cut === 'error' ? { status: 'error', error: {} } : ABORTED)
    })
  }

  /**
   * Whether the run stopped before an answer, because somebody has to answer first: its span says so, something in it was interrupted, or
   * calls of its last step were neither answered nor did their tools run.
   */
  get waits(): boolean {
    return this.#memo.once(SLOT.waits, () => this.#readWaits())
  }

  #readWaits(): boolean {
    if (this.failure !== undefined) return false
    const { models, asides, inside } = this.loop.plan
    const last = models.at(-1)
    const isAfter = (span: TraceSpan): boolean => last === undefined || span.span.endTimeMs >= last.span.endTimeMs
    const spans = [this.plan.root, ...inside, ...asides]
    if (spans.some((span) => span.outcome.status === 'waiting' && isAfter(span))) return true
    const step = models.length - 1
    // Without an agent's span, nothing shows that the run has ended: a tool may have run, and no model been asked after it.
    if (this.plan.root.role === 'model' || !this.plan.isComplete) return false
    if (!this.#toolCalls().some((call) => call.step >= step && call.isPending())) return false
    // Where not every tool has a span, an answer shows that none is pending.
    return this.root.dialect.toolSpans === 'always' || this.#said === undefined
  }

  /** The answer, if the run does not wait. */
  get #said(): string | undefined {
    return this.#memo.once(SLOT.said, () => decide('answer', this, 1)?.value)
  }

  /** Whether the spans do not show how the run went on: of a call that was cut off, or after a tool that may be open. */
  get isOpenEnded(): boolean {
    const isCutOff = this.plan.root.role === 'model' && !this.plan.isComplete
    return isCutOff || this.#toolCalls().some((call) => call.mayBeOpen())
  }

  /** Whether it ended without an error, and with an answer or nothing else recorded: OpenTelemetry's "unset" counts as success. */
  get endsWithAnswer(): boolean {
    const call = this.lastCall ?? this.root
    if (call.role === 'model' && call.output === undefined && call.input === undefined) return true
    if (this.answer !== undefined || this.loop.undecided !== 'nothing') return true
    const reasons = call.model?.finishReasons ?? []
    // Of some providers, "stop" is the reason beside calls, too.
    return reasons.some((reason) => !isForTools(reason)) && !endsOnTools(this.loop.plan)
  }
}

const OK: SpanOutcome = { status: 'ok' }
const ABORTED: SpanOutcome = { status: 'aborted' }
const UNKNOWN: SpanOutcome = { status: 'unknown' }

function stated<T>(value: T | undefined): { readonly value: T } | undefined {
  return value === undefined ? undefined : { value }
}

function named(agent: AgentIdentity | undefined): { readonly value: AgentIdentity } | undefined {
  return agent?.name === undefined ? undefined : { value: agent }
}

function withUser(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return lastUserText(messages) === undefined ? undefined : messages
}

function instructionsOf(model: TraceSpan): string | undefined {
  return pick(model, (facts) => facts.systemInstructions)
}

function isGuardrail({ dialect, span }: TraceSpan): boolean {
  return dialect.aside?.(span) === 'guardrail'
}

function callsOrNone(facts: SpanFacts): unknown {
  return facts.toolCalls.length === 0 ? undefined : facts.toolCalls
}
