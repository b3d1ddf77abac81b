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

  constructor(models: readonly TraceSpan[], transcript: () => readonly Message[] | undefined) {
    this.#models = models
    this.#transcript = transcript
  }

  /**
   * The result of a call.
   *
   * @param position how many calls of the run were requested before it, for messages without ids
   */
  find(call: JoinedCall, position: number): ToolCallResponsePart | undefined {
    const id = call.asked?.id ?? call.tool?.tool?.id
    const found = id === undefined ? undefined : (this.#index().get(id) ?? this.#atStep(call.step, id))
    if (found !== undefined || (this.#byId?.size ?? 0) > 0) return found
    return this.#withoutIds()[position]
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

  #add(messages: readonly Message[] | undefined): void {
    for (const response of responsesIn(messages)) {
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
