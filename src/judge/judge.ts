import type { AgentRun } from '../model/agent-run.ts'
import type { Usage } from '../model/message.ts'
import type { ScorerJudge } from '../scoring/scorer.ts'
import { resolveJudgeSettings } from './resolve-settings.ts'
import type { JudgeSettings, ResolvedJudgeSettings } from './settings.ts'
import { connect } from './transport/connection.ts'
import type { Connection } from './transport/connection.ts'
import { costUsd, priceOf } from './transport/cost.ts'
import { endpointOf } from './transport/endpoint.ts'
import type { Endpoint } from './transport/endpoint.ts'
import { toModelReference } from './transport/judge-model.ts'
import type { JudgeModel, ModelReference } from './transport/judge-model.ts'
import { likelyTokens } from './transport/token-budget.ts'
import { realWorld } from './world.ts'
import type { JudgeWorld } from './world.ts'

/** What one score takes of a judge. */
export interface Workload {
  /** Judge calls. */
  readonly calls: number
  /** How much of the run is shown in each call, uncut. */
  readonly contentBytes: number
  /** Verdicts that are asked for, in all calls together. */
  readonly answers: number
}

/** Calls of a hardened score for each call of one that is not: with lists and questions it takes four. */
const CALLS_WHEN_STRONG = 3

/** A model that judges: how it is reached, what it costs, and how it is asked. */
export class Judge {
  /** `<provider>/<model>`, as configured. */
  readonly name: string
  readonly settings: ResolvedJudgeSettings
  readonly world: JudgeWorld
  readonly #reference: ModelReference

  /**
   * @param expected how messages begin, which is where they say whose judge it is
   * @throws TypeError where the model or a setting is wrong: `expected … got …`
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
  }

  /** How the model is reached. Decided at each score: keys and packages may come after the scorer was made. */
  connect(): Connection {
    return connect(this.#reference, this.world.environment)
  }

  endpoint(connection: Connection): Endpoint {
    return endpointOf(connection.endpointKey)
  }

  /** What the tokens of one call cost, in US dollars; `undefined` where that is unknown. */
  costUsd(usage: Usage): number | undefined {
    return costUsd(this.settings.price ?? priceOf(this.name), usage)
  }

  /**
   * What the processor must know before it asks.
   *
   * @param workload what one score of a run takes when nothing goes wrong
   */
  toScorerJudge(workload: (run: AgentRun) => Workload): ScorerJudge {
    const { settings } = this
    return {
      model: this.name,
      priced: (settings.price ?? priceOf(this.name)) !== undefined,
      estimate: (run) => {
        const given = workload(run)
        const calls = given.calls * (settings.hardening === 'strong' ? CALLS_WHEN_STRONG : 1)
        // Three bytes a token is on the safe side for prose and for JSON; rules, questions and shape take 1,500 tokens at most.
        const inputTokens = calls * Math.ceil(Math.min(4500 + given.contentBytes, settings.maxPromptBytes) / 3)
        const outputTokens = calls * likelyTokens(given.answers / given.calls, settings)
        const cost = this.costUsd({ inputTokens, outputTokens })
        return { calls, tokens: inputTokens + outputTokens, ...(cost !== undefined && { costUsd: cost }) }
      },
      unavailable: () => this.connect().unavailable(),
    }
  }

  /** What of the judge gives a score its meaning: part of a scorer's version. */
  get identity(): object {
    const { temperature, maxPromptBytes, hardening } = this.settings
    return { model: this.name, temperature, maxPromptBytes, hardening }
  }
}
