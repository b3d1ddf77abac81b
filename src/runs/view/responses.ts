import type { Message, ToolCallResponsePart } from '../../model/message.ts'
import { ownTurns } from './asked-calls.ts'
import { responsesIn, type JoinedCall } from './join-tool-calls.ts'
import type { TraceSpan } from '../trace-span.ts'

/**
 * What the messages say that tools gave back, for calls whose spans do not: the answers in the inputs of later model
 * calls, in a model's own output (tools that its provider runs), in the transcript.
 */
export class Responses {
  readonly #models: readonly TraceSpan[]
  readonly #transcript: () => readonly Message[] | undefined
  #byId: Map<string, ToolCallResponsePart> | undefined
  /** Model calls whose input is in the index, so that each is read once however many answers are missing. */
  readonly #readInputs = new Set<TraceSpan>()
  #inOrder: readonly ToolCallResponsePart[] | undefined

  constructor(models: readonly TraceSpan[], transcript: () => readonly Message[] | undefined) {
    this.#models = models
    this.#transcript = transcript
  }

  /**
   * The answer to a call.
   *
   * @param position How many calls of the run were asked for before it: for messages without ids.
   */
  find(call: JoinedCall, position: number): ToolCallResponsePart | undefined {
    const id = call.asked?.id ?? call.tool?.tool?.id
    const found = id === undefined ? undefined : (this.#index().get(id) ?? this.#atStep(call.step, id))
    if (found !== undefined || (this.#byId?.size ?? 0) > 0) return found
    return this.#withoutIds()[position]
  }

  /** The last call's input repeats the history; providers' tools are answered in the output itself. */
  #index(): ReadonlyMap<string, ToolCallResponsePart> {
    if (this.#byId === undefined) {
      this.#byId = new Map()
      this.#add(this.#transcript())
      this.#add(this.#models.at(-1)?.input)
      for (const node of this.#models) this.#add(node.output)
    }
    return this.#byId
  }

  /** Where inputs hold only what is new: that of the next call. */
  #atStep(step: number, id: string): ToolCallResponsePart | undefined {
    const next = this.#models[step + 1]
    if (next === undefined || this.#readInputs.has(next)) return undefined
    this.#readInputs.add(next)
    this.#add(next.input)
    return this.#byId?.get(id)
  }

  #add(messages: readonly Message[] | undefined): void {
    for (const response of responsesIn(messages)) {
      if (response.id !== undefined && this.#byId?.has(response.id) === false) this.#byId.set(response.id, response)
    }
  }

  /** The answers of this run, that is after those in the history that it was given. */
  #withoutIds(): readonly ToolCallResponsePart[] {
    if (this.#inOrder === undefined) {
      const first = this.#models[0]?.input
      const last = this.#models.at(-1)?.input ?? this.#transcript()
      const latest = responsesIn(last?.slice(first?.length ?? 0))
      const own = latest.length > 0 ? latest : responsesIn(ownTurns(this.#transcript()))
      this.#inOrder = own.filter((response) => response.id === undefined)
    }
    return this.#inOrder
  }
}
