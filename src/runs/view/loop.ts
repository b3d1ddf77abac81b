import type { Message } from '../../model/message.ts'
import { Continuity } from '../layout/continuity.ts'
import { agentOf } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { callsOf, inputOf, pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { idOf, nameOf } from './join-tool-calls.ts'
import { answerInState, stateIn, textsIn } from '../../spans/content/states.ts'
import { canonicalJson } from '../../spans/json.ts'
import { assistantText, withoutSystem } from './message-text.ts'
import { outputToolOf, wrappersOf } from './output-tool.ts'
import { answerIn, ComparedText } from './same-answer.ts'
import { holdsUnparsed } from './unparsed.ts'

/** The loop of a run, apart from the model calls that only served it. */
export interface Loop {
  /** The plan of the run with the loop's calls only. */
  readonly plan: RunPlan
  /** Model calls that are not part of the loop although no span around them shows it, ordered by start. */
  readonly side: readonly TraceSpan[]
  /** The call that gave the answer, if the agent's own output shows it. */
  readonly answer: TraceSpan | undefined
  /** The answer that the agent's own output states, if no call gave it. */
  readonly stated: string | undefined
  /** What the spans do not decide: which call gave the answer, or also which one was asked the question. */
  readonly undecided: 'nothing' | 'answer' | 'question and answer'
}

/** How many calls before and after a call are compared with it. */
const MAX_COMPARED = 32

/**
 * Separates the loop of a run from calls that only served it: titles, query rewriting, checks in a callback. The first rule that decides
 * about a call wins, and a call that none decides about is part of the loop:
 *
 * 1. The agent's own recorded output shows which call gave the answer. The calls after it are not part of the loop.
 * 2. An agent inside another one that nobody asked for, and after which the outer one goes on, is a callback.
 * 3. If calls of an agent offer or request tools, its isolated calls are not part of the loop: those that neither offer nor request tools,
 * and share no messages with the others. One that follows the tools that the loop asked for last is the answer, if it is the only one.
 *
 * If nothing else shows which of several unrelated calls gave the answer, the run is undecided: the likelier one is not good enough.
 */
export function loopOf(laidOut: RunPlan): Loop {
  const plan = withoutReplayed(laidOut)
  const { models, root } = plan
  if (models.length === 0 || root.role === 'model')
    return { plan, side: [], answer: undefined, stated: undefined, undecided: 'nothing' }
  const rule = new LoopRule(plan)
  rule.apply()
  const { answer, stated, undecided } = rule
  const side = models.filter((model) => rule.side.has(model))
  return { plan: side.length === 0 ? plan : withoutSide(plan, rule.side), side, answer, stated, undecided }
}

/** The plan without model calls that a resumed run did not make: a tool that one of them asked for had run before. */
function withoutReplayed(plan: RunPlan): RunPlan {
  const { models, tools, root } = plan
  if (root.resumption === undefined) return plan
  const ended = new Map(tools.map((tool) => [idOf(tool), tool.span.endTimeMs]))
  const isReplayed = (model: TraceSpan): boolean =>
    callsOf(model).some(({ id }) => id !== undefined && (ended.get(id) ?? Infinity) <= model.span.startTimeMs)
  return models.some(isReplayed) ? { ...plan, models: models.filter((model) => !isReplayed(model)) } : plan
}

class LoopRule {
  readonly side = new Set<TraceSpan>()
  answer: TraceSpan | undefined
  stated: string | undefined
  undecided: Loop['undecided'] = 'nothing'
  readonly #plan: RunPlan
  readonly #continuity = new Continuity()
  readonly #places: ReadonlyMap<TraceSpan, number>

  constructor(plan: RunPlan) {
    this.#plan = plan
    this.#places = new Map(plan.models.map((model, place) => [model, place]))
  }

  apply(): void {
    const { models, root } = this.#plan
    const own = ownAnswerOf(this.#plan)
    const isStated = own !== undefined && this.#findStated(own)
    const { answer } = this
    if (answer !== undefined) for (const model of models.slice(this.#placeOf(answer) + 1)) this.side.add(model)
    this.#findCallbacks()
    const groups = [...Map.groupBy(this.#left, (model) => agentOf(model, root)).values()]
    const withTools = groups.filter(hasTools)
    for (const group of withTools) this.#findIsolated(group, answer)
    if (isStated || this.undecided !== 'nothing') return
    if (root.dialect.quirks?.returnsLastText === true) this.#findLastText()
    else if (groups.length > 1) this.#doubtLastAgent()
    else if (withTools.length === 0) this.#doubtLastCall()
  }

  /**
   * Finds the answer in what the agent's own span states: the text that a call gave, the field of a state that is the answer by its name, or the
   * only text in a state that a call gave. Returns whether the span states the answer, or which calls may have given it.
   */
  #findStated(text: string): boolean {
    const { models } = this.#plan
    this.answer = givenBy(text, models)
    if (this.answer !== undefined || this.#plan.root.hasFinalForm) return true
    const state = stateIn(text)
    const structured = state && models.findLast((model) => isSameObject(state, stateIn(answerIn(model))))
    const isWhole = state === undefined || structured !== undefined || outputToolOf(this.#plan) !== undefined
    const stated = isWhole ? text : answerInState(state)
    if (stated !== undefined) {
      this.answer = structured ?? (stated === text ? undefined : givenBy(stated, models))
      this.stated = stated
      return true
    }
    const texts = new Set(textsIn(state))
    const givers = models.filter((model) => texts.has(answerIn(model) ?? ''))
    if (new Set(givers.map((model) => answerIn(model))).size === 1) this.answer = givers.at(-1)
    else if (givers.length > 0) this.undecided = 'answer'
    return givers.length > 0
  }

  /** The calls that are part of the loop, as far as decided. */
  get #left(): readonly TraceSpan[] {
    return this.#plan.models.filter((model) => !this.side.has(model))
  }

  #placeOf(model: TraceSpan): number {
    return this.#places.get(model) ?? 0
  }

  #findCallbacks(): void {
    const { root, tools } = this.#plan
    const left = this.#left
    for (const [place, model] of left.entries()) {
      if (callsOf(model).length > 0 || tools.some(({ index }) => index < model.index)) return
      const agent = agentOf(model, root)
      const outer = agent === root || agent.role !== 'agent' ? undefined : agentAbove(agent)
      if (outer === undefined) continue
      const next = left.slice(place + 1).find((later) => agentOf(later, root) !== agent)
      if (next === undefined || (outer !== root && agentOf(next, root) !== outer) || !isDirectlyIn(next, outer))
        continue
      if (this.#isUnrelated(model)) this.side.add(model)
    }
  }

  #findIsolated(group: readonly TraceSpan[], answer: TraceSpan | undefined): void {
    const isolated = new Set(
      group.filter((model) => model !== answer && isWithoutTools(model) && this.#isUnrelated(model)),
    )
    if (isolated.size === 0) return
    if (answer === undefined && holdsUnparsed(this.#plan.root.span)) {
      this.undecided = 'answer'
      return
    }
    const lastOfLoop = group.findLast((model) => !isolated.has(model))
    // Tools ran, and then another call wrote the answer.
    const isOpenEnded = answer === undefined && lastOfLoop !== undefined && callsOf(lastOfLoop).length > 0
    const after = isOpenEnded ? group.slice(group.indexOf(lastOfLoop) + 1) : []
    if (after.length > 1) this.undecided = 'answer'
    for (const model of isolated) if (!after.includes(model)) this.side.add(model)
  }

  /** Whether the request is recorded, answers no tool, and shares nothing with the calls around it. */
  #isUnrelated(model: TraceSpan): boolean {
    const input = inputOf(model)
    if (input === undefined || input.some(isOfTools)) return false
    const { models } = this.#plan
    const place = this.#placeOf(model)
    const around = models.slice(Math.max(0, place - MAX_COMPARED), place + MAX_COMPARED + 1)
    return around.every((other) => {
      if (other === model) return true
      if (isSameRequest(model, other)) return false
      if (this.#placeOf(other) < place) return !this.#continuity.repeats(input, other)
      const later = inputOf(other)
      return later === undefined || !this.#continuity.repeats(later, model)
    })
  }

  /** The last text is the answer, unless another agent worked at the same time. */
  #findLastText(): void {
    const { root } = this.#plan
    const last = this.#left.findLast((model) => answerIn(model) !== undefined)
    if (last === undefined) return
    const agent = agentOf(last, root)
    const isBeside = (other: TraceSpan): boolean =>
      other !== agent &&
      other !== root &&
      !isBelow(agent, new Set([other])) &&
      !isBelow(other, new Set([agent])) &&
      other.span.startTimeMs < agent.span.endTimeMs &&
      other.span.endTimeMs > agent.span.startTimeMs
    if (this.#left.some((model) => isBeside(agentOf(model, root)))) this.undecided = 'answer'
    else if (agent !== root && last !== this.#left.at(-1)) this.stated = answerIn(last)
  }

  /** Agents follow one another, and nothing shows why: the last one may only check the answer of the one before. */
  #doubtLastAgent(): void {
    const { root, tools } = this.#plan
    const left = this.#left
    const last = left.at(-1)
    const agent = last && agentOf(last, root)
    if (last === undefined || agent === undefined || agent === root || agent.role !== 'agent') return
    const first = left.slice(left.findLastIndex((model) => agentOf(model, root) !== agent) + 1)[0]
    if (first === undefined) return
    const wasAskedFor =
      tools.some(({ index }) => index < first.index) ||
      left.some((model) => this.#placeOf(model) < this.#placeOf(first) && callsOf(model).length > 0)
    if (!wasAskedFor && this.#isUnrelated(first)) this.undecided = 'answer'
  }

  /** Without tools, nothing shows which of two calls with other instructions is the agent's. */
  #doubtLastCall(): void {
    const left = this.#left
    const last = left.at(-1)
    if (left.length < 2 || last === undefined || !this.#isUnrelated(last)) return
    if (left.some((model) => inputOf(model) === undefined)) return
    const instructions = systemOf(last)
    if (left.some((model) => systemOf(model) !== instructions)) this.undecided = 'question and answer'
  }
}

/** The answer that the agent's own span has, a span that it only wraps, or the only agent inside an entry. */
function ownAnswerOf({ root, inside }: RunPlan): string | undefined {
  const agents = root.role === 'entry' ? inside.filter(({ role }) => role === 'agent') : []
  const spans = [root, ...wrappersOf(root), ...(agents.length === 1 ? agents : [])]
  return spans.map((span) => assistantText(span.output)).find((text) => text !== undefined && text.trim() !== '')
}

/** The latest call that gave a text; one that gave all of it comes before one that gave its end. */
function givenBy(text: string, models: readonly TraceSpan[]): TraceSpan | undefined {
  const own = new ComparedText(text)
  let atEnd: TraceSpan | undefined
  for (const model of models.toReversed()) {
    const answer = answerIn(model)
    if (answer === undefined) continue
    const compared = new ComparedText(answer)
    if (own.equals(compared)) return model
    if (atEnd === undefined && own.endsWith(compared)) atEnd = model
  }
  return atEnd
}

/** Whether a call answered with an object that became the one stated: defaults were added, and some values converted. */
function isSameObject(
  state: Readonly<Record<string, unknown>>,
  answer: Readonly<Record<string, unknown>> | undefined,
): boolean {
  return (
    answer !== undefined && Object.keys(answer).some((key) => canonicalJson(answer[key]) === canonicalJson(state[key]))
  )
}

function hasTools(group: readonly TraceSpan[]): boolean {
  return group.length > 1 && (group.some((model) => callsOf(model).length > 0) || !group.every(isWithoutTools))
}

/** Whether a call neither offers nor requests tools, as far as recorded. */
function isWithoutTools(model: TraceSpan): boolean {
  return callsOf(model).length === 0 && (pick(model, (facts) => facts.toolDefinitions)?.length ?? 0) === 0
}

/** Whether a message is a tool call or a result: the request then continues a loop. */
function isOfTools({ role, parts }: Message): boolean {
  return role === 'tool' || parts.some(({ type }) => type === 'tool_call' || type === 'tool_call_response')
}

/** Whether two calls have the same request, as a retry does. */
function isSameRequest(left: TraceSpan, right: TraceSpan): boolean {
  const [given, other] = [lastOf(left), lastOf(right)]
  return given !== undefined && given === other && systemOf(left) === systemOf(right)
}

function lastOf(model: TraceSpan): string | undefined {
  return withoutSystem(inputOf(model))?.at(-1)?.text
}

function systemOf(model: TraceSpan): string | undefined {
  return pick(model, (facts) => facts.systemInstructions)
}

/** The nearest agent around an agent. */
function agentAbove(agent: TraceSpan): TraceSpan | undefined {
  let above = agent.parent
  while (above !== undefined && above.role !== 'agent') above = above.parent
  return above
}

/** Whether no other agent is between a call and the agent around it. */
function isDirectlyIn(model: TraceSpan, agent: TraceSpan): boolean {
  let above = model.parent
  while (above !== undefined && above.role !== 'agent') above = above.parent
  return above === agent
}

/** The plan without these calls, the agents that made nothing else, and the tools that they asked for. */
function withoutSide(plan: RunPlan, side: ReadonlySet<TraceSpan>): RunPlan {
  const models = plan.models.filter((model) => !side.has(model))
  const kept = new Set<TraceSpan>()
  for (const model of models)
    for (let at = model.parent; at !== undefined && !kept.has(at); at = at.parent) kept.add(at)
  const dropped = new Set<TraceSpan>()
  const asked = new Set<string>()
  for (const model of side) {
    for (let at = model.parent; at !== undefined && !kept.has(at); at = at.parent) dropped.add(at)
    for (const { id, name } of callsOf(model)) asked.add(id ?? name)
  }
  // Some libraries use the same ids in each call.
  for (const model of asked.size === 0 ? [] : models)
    for (const { id, name } of callsOf(model)) asked.delete(id ?? name)
  return {
    ...plan,
    models,
    inside: plan.inside.filter((span) => !dropped.has(span)),
    tools:
      asked.size === 0 && dropped.size === 0
        ? plan.tools
        : plan.tools.filter((tool) => !asked.has(idOf(tool) ?? nameOf(tool) ?? '') && !isBelow(tool, dropped)),
  }
}

function isBelow(span: TraceSpan, around: ReadonlySet<TraceSpan>): boolean {
  for (let at = span.parent; at !== undefined; at = at.parent) if (around.has(at)) return true
  return false
}
