import type { AgentRun } from '../model/agent-run.ts'
import type { Usage } from '../model/message.ts'
import { formatValue } from '../scoring/format-value.ts'
import type { ScorerJudge } from '../scoring/scorer.ts'
import { maxPromptBytes, resolveJudgeSettings } from './settings.ts'
import type { JudgeSettings, ResolvedJudgeSettings } from './settings.ts'
import { connect } from './transport/connection.ts'
import type { Connection } from './transport/connection.ts'
import { costUsd, priceOf } from './transport/cost.ts'
import { endpointOf } from './transport/endpoint.ts'
import type { Endpoint } from './transport/endpoint.ts'
import { toModelReference } from './transport/judge-model.ts'
import type { JudgeModel, LanguageModelInstance, ModelReference } from './transport/judge-model.ts'
import { likelyTokens } from './transport/token-budget.ts'
import { realWorld } from './world.ts'
import type { JudgeWorld } from './world.ts'

/** The work that one score takes. */
export interface Workload {
  /** Judge calls. */
  readonly calls: number
  /** UTF-8 bytes of the run that each call shows, before cutting. */
  readonly contentBytes: number
  /** Verdicts requested in all calls together. */
  readonly answers: number
}

/** A judge model: how to reach it, what it costs, and how to ask it. */
export class Judge {
  /** `<provider>/<model>`, as configured. */
  readonly name: string
  readonly settings: ResolvedJudgeSettings
  readonly world: JudgeWorld
  readonly #reference: ModelReference

  /**
   * @param expected the beginning of messages, which names the judge
   * @throws TypeError if the model or a setting is wrong: `expected … got …`
   */
  constructor(
    model: JudgeModel,
    settings: JudgeSettings = {},
    expected: string = 'Expected',
    world: JudgeWorld = realWorld,
  ) {
    this.#reference = toModelReference(model, expected)
    this.name = this.#reference.name
    this.world = world
    this.settings = resolveJudgeSettings(settings, expected)
    if (this.#reference.kind === 'instance') this.checkEffort(this.#reference.instance, expected)
  }

  /** @throws TypeError if `judge.effort` is set and the model is of a specification that does not have it */
  checkEffort({ specificationVersion }: LanguageModelInstance, expected = 'Expected'): void {
    if (this.settings.effort === undefined || specificationVersion === 'v4') return
    throw new TypeError(
      `${expected} a model of specification v4, as of AI SDK 7, because of judge.effort, got specification ${formatValue(specificationVersion)}. Leave judge.effort out, or set the effort by the model's own options.`,
    )
  }

  /** Decides how to reach the model, for each score: keys and packages may appear after the scorer was created. */
  connect(): Connection {
    return connect(this.#reference, this.world.environment)
  }

  endpoint(connection: Connection): Endpoint {
    return endpointOf(connection.endpointKey)
  }

  /** The cost of one call in US dollars; `undefined` if unknown. */
  costUsd(usage: Usage): number | undefined {
    return costUsd(this.settings.price ?? priceOf(this.name), usage)
  }

  /**
   * What the processor needs to know before it asks.
   *
   * @param workload the work of one score if nothing goes wrong
   */
  toScorerJudge(workload: (run: AgentRun) => Workload): ScorerJudge {
    const { settings } = this
    return {
      model: this.name,
      priced: (settings.price ?? priceOf(this.name)) !== undefined,
      estimate: (run) => {
        const { calls, contentBytes, answers } = workload(run)
        // Three bytes per token is a safe estimate for prose and JSON. Rules, questions and shape take at most 1,500 tokens.
        const inputTokens = calls * Math.ceil(Math.min(4500 + contentBytes, maxPromptBytes(settings)) / 3)
        const outputTokens = calls * likelyTokens(answers / calls, settings)
        const cost = this.costUsd({ inputTokens, outputTokens })
        return { calls, tokens: inputTokens + outputTokens, ...(cost !== undefined && { costUsd: cost }) }
      },
      unavailable: () => this.connect().unavailable(),
      trouble: () => this.endpoint(this.connect()).trouble,
      prepare: async () => {
        const connection = this.connect()
        if (connection.unavailable() !== undefined) return
        await connection.open()
        await Promise.all([import('./session.ts'), import('./ask-inquiry.ts')])
      },
    }
  }

  /** Everything about the judge that affects the meaning of a score; part of the scorer's version. */
  get identity(): object {
    const { temperature, maxPromptTokens, effort } = this.settings
    return { model: this.name, temperature, maxPromptTokens, ...(effort !== undefined && { effort }) }
  }
}
