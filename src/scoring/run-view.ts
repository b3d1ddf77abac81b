import type { AgentRun, ModelCall, Retrieval, ToolCall } from '../model/agent-run.ts'
import type { Skipped } from '../model/score.ts'
import { printAsJson } from '../runs/view/print-as-json.ts'
import { withOwnFacts } from '../runs/view/with-own-facts.ts'
import { skipWithoutAllCalls, skipWithoutAnswer, skipWithoutFact, skipWithoutMessages } from './absence.ts'
import type { Reads } from './reads.ts'

/**
 * The run as a scorer sees it.
 *
 * @param isCopied whether the scorer may copy a run whose facts can be copied, as those of `.run()` can
 */
export function scorerView(reads: Reads, isCopied: boolean): AgentRun {
  return copyable(new RunView(reads.run, reads), reads, isCopied)
}

/** A call of the run as a scorer of calls sees it, which may copy it too; `undefined` if there is none. */
export function callView(
  reads: Reads,
  level: 'tool-call' | 'retrieval',
  index: number,
): ToolCall | Retrieval | undefined {
  const { run } = reads
  if (level === 'tool-call') {
    const call = run.toolCalls[index]
    return call && copyable(new ToolCallView(call, index, run, reads), reads, true)
  }
  const retrieval = run.retrievals[index]
  return retrieval && copyable(new RetrievalView(retrieval, index, run, reads), reads, true)
}

function copyable<View extends object>(view: View, reads: Reads, isCopied: boolean): View {
  return isCopied && Object.hasOwn(reads.run, 'output')
    ? withOwnFacts(view, (value, facts) => reads.watch(value, facts))
    : view
}

/**
 * A run as a scorer sees it: the same facts, and a note of those that were read although the run lacks them. No read throws. Writing the
 * whole run as JSON reads nothing.
 */
class RunView implements AgentRun {
  static {
    printAsJson(this.prototype)
  }

  readonly #run: AgentRun
  readonly #reads: Reads
  #toolCalls: readonly ToolCall[] | undefined
  #retrievals: AgentRun['retrievals'] | undefined
  #steps: readonly ModelCall[] | undefined
  #children: readonly AgentRun[] | undefined
  /** Why not all calls are known, once it was asked: that takes longer than any other fact. */
  #unknownCalls: readonly [Skipped | undefined] | undefined

  constructor(run: AgentRun, reads: Reads) {
    this.#run = run
    this.#reads = reads
    Object.freeze(this)
  }

  get input(): AgentRun['input'] {
    const { input } = this.#run
    if (input.length === 0) this.#lacks('input')
    return input
  }

  get userInput(): string | undefined {
    const { userInput } = this.#run
    if (userInput === undefined) this.#lacks('input')
    return userInput
  }

  get output(): string | undefined {
    const { output } = this.#run
    if (output === undefined) this.#reads.note('output', () => skipWithoutAnswer(this.#run, this.#reads.scorerId))
    return output
  }

  get systemInstructions(): string | undefined {
    const { systemInstructions } = this.#run
    if (systemInstructions === undefined) this.#lacks('systemInstructions')
    return systemInstructions
  }

  get availableTools(): AgentRun['availableTools'] {
    const { availableTools } = this.#run
    if (availableTools === undefined) this.#lacks('availableTools')
    return availableTools
  }

  get toolCalls(): readonly ToolCall[] {
    this.#reads.note(
      'toolCalls',
      () => (this.#unknownCalls ??= [skipWithoutAllCalls(this.#run, this.#reads.scorerId)])[0],
    )
    this.#toolCalls ??= Object.freeze(
      this.#run.toolCalls.map((call, index) => new ToolCallView(call, index, this.#run, this.#reads)),
    )
    return this.#toolCalls
  }

  get children(): readonly AgentRun[] {
    this.#children ??= Object.freeze(this.#run.children.map((child) => new RunView(child, this.#reads)))
    return this.#children
  }

  get id(): string {
    return this.#run.id
  }

  get traceId(): string {
    return this.#run.traceId
  }

  get spanId(): string {
    return this.#run.spanId
  }

  get dialect(): string {
    return this.#run.dialect
  }

  get agent(): AgentRun['agent'] {
    return this.#run.agent
  }

  get conversationId(): string | undefined {
    return this.#run.conversationId
  }

  get userId(): string | undefined {
    return this.#run.userId
  }

  get steps(): AgentRun['steps'] {
    this.#steps ??= Object.freeze(
      this.#run.steps.map((step, index) => new ModelCallView(step, index, this.#run, this.#reads)),
    )
    return this.#steps
  }

  get sideCalls(): AgentRun['sideCalls'] {
    return this.#run.sideCalls
  }

  get retrievals(): AgentRun['retrievals'] {
    const { retrievals } = this.#run
    if (retrievals.length === 0) return retrievals
    this.#retrievals ??= Object.freeze(
      retrievals.map((retrieval, index) => new RetrievalView(retrieval, index, this.#run, this.#reads)),
    )
    return this.#retrievals
  }

  get parent(): AgentRun['parent'] {
    return this.#run.parent
  }

  get models(): readonly string[] {
    return this.#run.models
  }

  get usage(): AgentRun['usage'] {
    return this.#run.usage
  }

  get status(): AgentRun['status'] {
    return this.#run.status
  }

  get error(): AgentRun['error'] {
    return this.#run.error
  }

  get startTimeMs(): number {
    return this.#run.startTimeMs
  }

  get endTimeMs(): number {
    return this.#run.endTimeMs
  }

  get content(): AgentRun['content'] {
    return this.#run.content
  }

  get missing(): AgentRun['missing'] {
    return this.#run.missing
  }

  get complete(): boolean {
    return this.#run.complete
  }

  get revision(): number {
    return this.#run.revision
  }

  get attributes(): AgentRun['attributes'] {
    return this.#run.attributes
  }

  get resource(): AgentRun['resource'] {
    return this.#run.resource
  }

  get scope(): AgentRun['scope'] {
    return this.#run.scope
  }

  toJSON(): AgentRun {
    return jsonOf(this.#run)
  }

  #lacks(fact: 'input' | 'systemInstructions' | 'availableTools'): void {
    this.#reads.note(fact, () => skipWithoutFact(this.#run, fact, this.#reads.scorerId))
  }
}

/** A tool call as a scorer sees it. */
class ToolCallView implements ToolCall {
  static {
    printAsJson(this.prototype)
  }

  readonly #call: ToolCall
  readonly #index: number
  readonly #run: AgentRun
  readonly #reads: Reads

  constructor(call: ToolCall, index: number, run: AgentRun, reads: Reads) {
    this.#call = call
    this.#index = index
    this.#run = run
    this.#reads = reads
    Object.freeze(this)
  }

  get arguments(): unknown {
    const given = this.#call.arguments
    if (given === undefined) this.#lacks('arguments')
    return given
  }

  get result(): unknown {
    const { result } = this.#call
    if (result === undefined) this.#lacks('result')
    return result
  }

  get id(): string | undefined {
    return this.#call.id
  }

  get name(): string {
    return this.#call.name
  }

  get error(): ToolCall['error'] {
    return this.#call.error
  }

  get status(): ToolCall['status'] {
    return this.#call.status
  }

  get step(): number {
    return this.#call.step
  }

  get spanId(): string | undefined {
    return this.#call.spanId
  }

  get traceId(): string | undefined {
    return this.#call.traceId
  }

  get agentName(): string | undefined {
    return this.#call.agentName
  }

  get providerExecuted(): boolean {
    return this.#call.providerExecuted
  }

  get childRunId(): string | undefined {
    return this.#call.childRunId
  }

  toJSON(): ToolCall {
    return jsonOf(this.#call)
  }

  #lacks(fact: 'arguments' | 'result'): void {
    this.#reads.note(fact, () => skipWithoutFact(this.#run, `toolCalls[${this.#index}].${fact}`, this.#reads.scorerId))
  }
}

/** A model call as a scorer sees it. */
class ModelCallView implements ModelCall {
  static {
    printAsJson(this.prototype)
  }

  readonly #call: ModelCall
  readonly #index: number
  readonly #run: AgentRun
  readonly #reads: Reads

  constructor(call: ModelCall, index: number, run: AgentRun, reads: Reads) {
    this.#call = call
    this.#index = index
    this.#run = run
    this.#reads = reads
    Object.freeze(this)
  }

  get input(): ModelCall['input'] {
    const { input } = this.#call
    // Those between the first and the last one are not kept.
    const isKept = this.#index === 0 || this.#index === this.#run.steps.length - 1
    if (input === undefined && isKept) this.#lacks('input')
    return input
  }

  get output(): ModelCall['output'] {
    const { output, status } = this.#call
    if (output === undefined && status !== 'error' && status !== 'aborted') this.#lacks('output')
    return output
  }

  get spanId(): string | undefined {
    return this.#call.spanId
  }

  get model(): string | undefined {
    return this.#call.model
  }

  get responseId(): string | undefined {
    return this.#call.responseId
  }

  get toolCallIds(): readonly string[] {
    return this.#call.toolCallIds
  }

  get usage(): ModelCall['usage'] {
    return this.#call.usage
  }

  get finishReasons(): readonly string[] {
    return this.#call.finishReasons
  }

  get status(): ModelCall['status'] {
    return this.#call.status
  }

  get error(): ModelCall['error'] {
    return this.#call.error
  }

  toJSON(): ModelCall {
    return jsonOf(this.#call)
  }

  #lacks(fact: 'input' | 'output'): void {
    this.#reads.note(fact, () => skipWithoutMessages(this.#run, `steps[${this.#index}]`, fact, this.#reads.scorerId))
  }
}

/** `JSON.stringify` does not convert what `toJSON` returns. */
function jsonOf<Value extends object>(value: Value & { readonly toJSON?: () => Value }): Value {
  return value.toJSON?.() ?? value
}

/** A retrieval as a scorer sees it. */
class RetrievalView implements Retrieval {
  static {
    printAsJson(this.prototype)
  }

  readonly #retrieval: Retrieval
  readonly #index: number
  readonly #run: AgentRun
  readonly #reads: Reads

  constructor(retrieval: Retrieval, index: number, run: AgentRun, reads: Reads) {
    this.#retrieval = retrieval
    this.#index = index
    this.#run = run
    this.#reads = reads
    Object.freeze(this)
  }

  get documents(): Retrieval['documents'] {
    const { documents } = this.#retrieval
    const isRead = documents?.length === 0 || documents?.some(({ content }) => content !== undefined) === true
    const fact = `retrievals[${this.#index}].documents`
    if (!isRead) this.#reads.note('documents', () => skipWithoutFact(this.#run, fact, this.#reads.scorerId))
    return documents
  }

  get kind(): Retrieval['kind'] {
    return this.#retrieval.kind
  }

  get query(): string | undefined {
    return this.#retrieval.query
  }

  get source(): string | undefined {
    return this.#retrieval.source
  }

  get spanId(): string | undefined {
    return this.#retrieval.spanId
  }

  get status(): Retrieval['status'] {
    return this.#retrieval.status
  }

  get error(): Retrieval['error'] {
    return this.#retrieval.error
  }

  get toolCall(): number | undefined {
    return this.#retrieval.toolCall
  }

  toJSON(): Retrieval {
    return jsonOf(this.#retrieval)
  }
}
