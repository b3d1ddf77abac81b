import type { AgentRun } from '../model/agent-run.ts'
import type { ScorerJudge, ScoringContext } from '../scoring/scorer.ts'
import { show } from '../scoring/format-value.ts'
import { connect } from './transport/connection.ts'
import type { Connection, Environment } from './transport/connection.ts'
import { secureRandomness } from './prompt/control-question.ts'
import type { Randomness } from './prompt/control-question.ts'
import { costUsd, priceOf } from './transport/cost.ts'
import { endpointOf } from './transport/endpoint.ts'
import type { Endpoint } from './transport/endpoint.ts'
import { toModelReference } from './transport/judge-model.ts'
import type { JudgeModel, ModelReference } from './transport/judge-model.ts'
import { likelyTokens } from './transport/token-budget.ts'
import { JudgeSession } from './session.ts'

/** How a judge is asked. Every judge scorer takes these as `judge`. */
export interface JudgeSettings {
  /** Calls for one score at most, whatever happens: retries, repairs and re-asking included. 1 to 20. @default 4 */
  readonly maxCallsPerScore?: number
  /**
   * Tokens that a reply may take; up to twice as many where it takes more verdicts, four times as many where one was cut off. The
   * verdicts on a long run are asked for in several calls: 120 in each at the default.
   *
   * @default 4096
   */
  readonly maxOutputTokens?: number
  /** Sampling temperature, where the model has one. @default 0 */
  readonly temperature?: number
  /**
   * UTF-8 bytes of a whole prompt, rules and questions included. What is judged is cut to fit: payloads first, head and tail. At
   * least 8192.
   *
   * @default 49152
   */
  readonly maxPromptBytes?: number
}

/** What a judge takes from its surroundings; replaced in tests. */
export interface JudgeWorld {
  readonly environment: Environment
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Resolves after that many milliseconds, or as soon as the signal aborts. Keeps no process alive. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly randomness: Randomness
}

const realWorld: JudgeWorld = {
  // Read when asked, not when loaded: `.env` files are read after imports.
  get environment() {
    return process.env
  },
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const finish = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, ms).unref()
      signal.addEventListener('abort', finish)
    }),
  randomness: secureRandomness,
}

/** What one score takes of a judge. */
export interface Workload {
  /** Judge calls. */
  readonly calls: number
  /** How much of the run is shown in each call, uncut. */
  readonly contentBytes: number
  /** Verdicts that are asked for, in all calls together. */
  readonly answers: number
}

/** A model that judges: how it is reached, what it costs, and how it is asked. */
export class Judge {
  /** `<provider>/<model>`, as configured. */
  readonly name: string
  readonly settings: Required<JudgeSettings>
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
    const { maxCallsPerScore = 4, maxOutputTokens = 4096, temperature = 0, maxPromptBytes = 49_152 } = settings
    this.#reference = toModelReference(model, expected)
    this.name = this.#reference.name
    this.world = world
    this.settings = {
      maxCallsPerScore: countIn(`${expected} judge.maxCallsPerScore`, maxCallsPerScore, 1, 20),
      maxOutputTokens: countIn(`${expected} judge.maxOutputTokens`, maxOutputTokens, 64, 1_000_000),
      temperature: numberIn(`${expected} judge.temperature to be a number`, temperature, 0, 2),
      maxPromptBytes: countIn(`${expected} judge.maxPromptBytes`, maxPromptBytes, 8192, 10_000_000),
    }
  }

  /** How the model is reached. Decided at each score: keys and packages may come after the scorer was made. */
  connect(): Connection {
    return connect(this.#reference, this.world.environment)
  }

  endpoint(connection: Connection): Endpoint {
    return endpointOf(connection.endpointKey)
  }

  /** All judge calls of one score. */
  session(scorerId: string, run: Pick<AgentRun, 'id'>, context: ScoringContext): JudgeSession {
    return new JudgeSession(this, scorerId, run.id, context)
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
      priced: priceOf(this.name) !== undefined,
      estimate: (run) => {
        const { calls, contentBytes, answers } = workload(run)
        // Three bytes a token is on the safe side for prose and for JSON; rules, questions and shape take 1,500 tokens at most.
        const inputTokens = calls * Math.ceil(Math.min(4500 + contentBytes, settings.maxPromptBytes) / 3)
        const outputTokens = calls * likelyTokens(answers / calls, settings)
        const cost = costUsd(this.name, { inputTokens, outputTokens })
        return { calls, tokens: inputTokens + outputTokens, ...(cost !== undefined && { costUsd: cost }) }
      },
      unavailable: () => this.connect().unavailable(),
    }
  }

  /** What of the judge gives a score its meaning: part of a scorer's version. */
  get identity(): object {
    const { temperature, maxPromptBytes } = this.settings
    return { model: this.name, temperature, maxPromptBytes }
  }
}

function countIn(subject: string, value: unknown, low: number, high: number): number {
  const expected = `${subject} to be a whole number`
  if (Number.isInteger(value)) return numberIn(expected, value, low, high)
  throw outside(expected, value, low, high)
}

function numberIn(expected: string, value: unknown, low: number, high: number): number {
  if (typeof value === 'number' && value >= low && value <= high) return value
  throw outside(expected, value, low, high)
}

function outside(expected: string, value: unknown, low: number, high: number): TypeError {
  return new TypeError(`${expected} from ${low} to ${high}, got ${show(value)}.`)
}
