import { isRecord } from '../../spans/json.ts'
import type { LogRecordProcessorLike } from '../deliver/log-capture.ts'
import { lookAt } from './look-at.ts'

/**
 * Lets a processor see the log records of the application's logger provider, in which some instrumentations write messages. It looks for the
 * provider until there is one, and never registers any.
 */
export class LogRecords {
  readonly #provider: () => object | undefined
  readonly #processor: LogRecordProcessorLike
  #forget: (() => void) | undefined
  #isStopped = false

  /** @param provider the logger provider, as soon as there is one */
  constructor(provider: () => object | undefined, processor: LogRecordProcessorLike) {
    this.#provider = provider
    this.#processor = processor
  }

  /** Must be called when a span of a run starts, before its messages are written. */
  find(): void {
    if (this.#forget !== undefined || this.#isStopped) return
    const provider = this.#provider()
    if (provider !== undefined) this.#forget = addLogProcessor(provider, this.#processor)
  }

  /** Restores the provider. */
  stop(): void {
    this.#isStopped = true
    this.#forget?.()
  }
}

/**
 * Adds a processor behind those of a logger provider of SDK 0.57, 2.x or 3.x, so that it sees what they leave in a record. Returns what
 * removes it again. Other providers are left as they are.
 *
 * The property is private. There is no public way to add a processor since SDK 2.0.
 */
function addLogProcessor(provider: object, processor: LogRecordProcessorLike): () => void {
  return lookAt(() => addTo(provider, processor)) ?? ignore
}

function addTo(provider: object, processor: LogRecordProcessorLike): (() => void) | undefined {
  const state: unknown = Reflect.get(provider, '_sharedState')
  if (!isRecord(state)) return undefined
  const { registeredLogRecordProcessors: registered, processors: enabling, activeProcessor: active } = state
  if (!Array.isArray(registered)) return undefined
  if (registered.length > 0) return addToList(registered, processor)
  // A provider without processors passes records to one that does nothing, and its loggers ask another list whether to make records.
  state['activeProcessor'] = processor
  const remove = Array.isArray(enabling) ? addToList(enabling, processor) : ignore
  return () => {
    if (state['activeProcessor'] === processor) state['activeProcessor'] = active
    remove()
  }
}

function addToList(list: unknown[], processor: LogRecordProcessorLike): () => void {
  // The application has added it itself.
  if (list.includes(processor)) return ignore
  list.push(processor)
  return () => {
    const index = list.indexOf(processor)
    if (index !== -1) list.splice(index, 1)
  }
}

function ignore(): void {}
