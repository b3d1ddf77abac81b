import type { Message, ToolCallResponsePart } from '../../model/message.ts'
import { ownTurns } from './asked-calls.ts'
import { responsesIn, type JoinedCall } from './join-tool-calls.ts'
import { inputOf, outputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'

/**
 * Tool results from messages, for calls whose spans have none: from the inputs of later model calls, from a model's own output (tools that
 * its provider runs), or from the transcript.
 */
export class Responses {
  readonly #models: readonly TraceSpan[]
  readonly #transcript: () => readonly Message[] | undefined
  #byId: Map<string, ToolCallResponsePart> | undefined
  /** Model calls whose input is indexed. Each is read once, however many results are missing. */
  readonly #readInputs = new Set<TraceSpan>()
  #inOrder: readonly ToolCallResponsePart[] | undefined
  readonly #calls: readonly JoinedCall[]
  #rounds: Rounds | undefined

  /** @param calls all calls of the run, in order */
  constructor(
    models: readonly TraceSpan[],
    transcript: () => readonly Message[] | undefined,
    calls: readonly JoinedCall[] = [],
  ) {
    this.#models = models
    this.#transcript = transcript
    this.#calls = calls
  }

  /**
   * The result of a call.
   *
   * @param position how many calls of the run were requested before it, for messages without ids
   */
  find(call: JoinedCall, position: number): ToolCallResponsePart | undefined {
    const id = call.asked?.id ?? call.tool?.tool?.id
    const rounds = id === undefined ? undefined : (this.#rounds ??= roundsOf(this.#calls)).get(id)
    if (id !== undefined && rounds !== undefined) return this.#ofRound(id, call, rounds)
    const found = id === undefined ? this.#besideCall(call) : (this.#index().get(id) ?? this.#atStep(call.step, id))
    if (found !== undefined || (this.#byId?.size ?? 0) > 0) return found
    return this.#withoutIds()[position]
  }

  /**
   * The result of a call whose id was given to other calls as well: some models number their calls anew in each round. The next model call
   * was sent the results of this round last.
   *
   * @param rounds the calls with this id
   */
  #ofRound(id: string, call: JoinedCall, rounds: readonly JoinedCall[]): ToolCallResponsePart | undefined {
    const ofStep = rounds.filter(({ step }) => step === call.step)
    const next = this.#models[call.step + 1]
    const own = responsesIn(this.#outputAt(call.step))
    const sent = [...responsesIn(next && inputOf(next)), ...own].filter((response) => response.id === id)
    if (sent.length > 0) return sent[Math.max(0, sent.length - ofStep.length) + ofStep.indexOf(call)]
    const listed = responsesIn(ownTurns(this.#transcript())).filter((response) => response.id === id)
    return listed[rounds.indexOf(call)]
  }

  #outputAt(step: number): readonly Message[] | undefined {
    const model = this.#models[step]
    return model && outputOf(model)
  }

  /** The result of a call without an id that the provider ran: it follows in the same output. */
  #besideCall({ asked, step }: JoinedCall): ToolCallResponsePart | undefined {
    if (asked?.providerExecuted !== true) return undefined
    const parts = (this.#outputAt(step) ?? []).flatMap((message) => message.parts)
    const after = parts.slice(parts.indexOf(asked) + 1)
    const next = after.find(({ type }) => type === 'tool_call' || type === 'tool_call_response')
    return next?.type === 'tool_call_response' && next.id === undefined ? next : undefined
  }

  /** Indexes the last call's input, which repeats the history, and the outputs, which have the results of the provider's tools. */
  #index(): ReadonlyMap<string, ToolCallResponsePart> {
    if (this.#byId === undefined) {
      this.#byId = new Map()
      this.#add(this.#transcript())
      const last = this.#models.at(-1)
      this.#add(last && inputOf(last))
      for (const node of this.#models) this.#add(outputOf(node))
    }
    return this.#byId
  }

  /** If inputs only have what is new: the result in the next call's input. */
  #atStep(step: number, id: string): ToolCallResponsePart | undefined {
    const next = this.#models[step + 1]
    if (next === undefined || this.#readInputs.has(next)) return undefined
    this.#readInputs.add(next)
    this.#add(inputOf(next))
    return this.#byId?.get(id)
  }

  /** Of several results with one id, the last one counts: earlier ones belong to the history, whose rounds may have the same ids. */
  #add(messages: readonly Message[] | undefined): void {
    for (const response of responsesIn(messages).toReversed()) {
      if (response.id !== undefined && this.#byId?.has(response.id) === false) this.#byId.set(response.id, response)
    }
  }

  /** The results of this run, without those in the history that it was given. */
  #withoutIds(): readonly ToolCallResponsePart[] {
    if (this.#inOrder === undefined) {
      const [first] = this.#models
      const latestCall = this.#models.at(-1)
      const before = first && inputOf(first)
      const last = (latestCall && inputOf(latestCall)) ?? this.#transcript()
      const latest = responsesIn(last?.slice(before?.length ?? 0))
      const own = latest.length > 0 ? latest : responsesIn(ownTurns(this.#transcript()))
      this.#inOrder = own.filter((response) => response.id === undefined)
    }
    return this.#inOrder
  }
}

/** The calls of each id that several calls have. */
type Rounds = ReadonlyMap<string, readonly JoinedCall[]>

function roundsOf(calls: readonly JoinedCall[]): Rounds {
  const byId = Map.groupBy(calls, (call) => call.asked?.id ?? '')
  byId.delete('')
  for (const [id, ofId] of byId) if (ofId.length === 1) byId.delete(id)
  return byId
}
