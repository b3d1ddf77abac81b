import { MODEL_CALL_FACTS, plain, SIDE_CALL_FACTS } from '../../model/facts.ts'
import type { WithAll } from '../../model/facts.ts'
import type { Message, RunError, Usage } from '../../model/message.ts'
import type { ModelCall, SideCall } from '../../model/agent-run.ts'
import { callsOf, inputOf, outputOf, pick } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { frozen } from './frozen.ts'
import { printAsJson } from './print-as-json.ts'

/** A model call whose messages are read at first access. */
export class ReconstructedModelCall implements WithAll<ModelCall> {
  static {
    printAsJson(this.prototype)
  }

  readonly toolCallIds: readonly string[]
  readonly #model: TraceSpan
  readonly #keepsInput: boolean

  constructor(model: TraceSpan, toolCallIds: readonly string[], keepsInput: boolean) {
    this.#model = model
    this.toolCallIds = frozen(toolCallIds)
    this.#keepsInput = keepsInput
    if (new.target === ReconstructedModelCall) Object.freeze(this)
  }

  get spanId(): string {
    return this.#model.span.spanId
  }

  get model(): string | undefined {
    return pick(this.#model, (facts) => facts.model?.model)
  }

  get responseId(): string | undefined {
    return pick(this.#model, (facts) => facts.model?.responseId)
  }

  get finishReasons(): readonly string[] {
    return frozen(pick(this.#model, (facts) => facts.model?.finishReasons) ?? [])
  }

  get input(): readonly Message[] | undefined {
    return this.#keepsInput ? frozen(inputOf(this.#model)) : undefined
  }

  get output(): readonly Message[] | undefined {
    return frozen(outputOf(this.#model))
  }

  get usage(): Usage {
    return frozen(usageOf(this.#model))
  }

  get status(): ModelCall['status'] {
    const { status } = this.#model.outcome
    return status === 'waiting' ? 'unknown' : status
  }

  get error(): RunError | undefined {
    return frozen(this.#model.outcome.error)
  }

  toJSON(): ModelCall {
    return plain<ModelCall, keyof ModelCall>(this, MODEL_CALL_FACTS)
  }
}

/** A side call, whose messages are read at first access. */
export class ReconstructedSideCall extends ReconstructedModelCall implements WithAll<SideCall> {
  static {
    printAsJson(this.prototype)
  }

  readonly kind: SideCall['kind']
  readonly name: string | undefined

  constructor(model: TraceSpan, kind: SideCall['kind'], name: string | undefined) {
    super(model, idsOf(model), true)
    this.kind = kind
    this.name = name
    Object.freeze(this)
  }

  override toJSON(): SideCall {
    return plain<SideCall, keyof SideCall>(this, SIDE_CALL_FACTS)
  }
}

function idsOf(model: TraceSpan): readonly string[] {
  return callsOf(model).flatMap(({ id }) => id ?? [])
}

/** The tokens of one call, counted once however many spans record it. */
function usageOf(model: TraceSpan): Usage {
  return pick(model, ({ usage }) => (Object.keys(usage).length === 0 ? undefined : usage)) ?? {}
}

/** The tokens of several calls together. */
export function usageOfAll(models: readonly TraceSpan[]): Usage {
  const sum: Record<string, number> = {}
  for (const model of models) {
    for (const [key, value] of Object.entries(usageOf(model))) sum[key] = (sum[key] ?? 0) + Number(value)
  }
  return sum
}

/** A fact from the first span that has it. */
export function firstOf<T>(nodes: readonly TraceSpan[], read: (span: TraceSpan) => T | undefined): T | undefined {
  for (const node of nodes) {
    const value = read(node)
    if (value !== undefined) return value
  }
  return undefined
}
