import type { Price } from './transport/price.ts'

/** How a judge is asked. Every judge scorer takes these as `judge`. */
export interface JudgeSettings {
  /**
   * Calls for one score at most, whatever happens: retries, repairs and re-asking included. 1 to 20.
   *
   * @default 4; 10 with `hardening: 'strong'`
   */
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
  /**
   * What is done against text that talks to the judge. `basic` asks about a decoy beside the run, in the same call. `strong` asks in
   * several calls, in which decoys and real questions look the same, and costs two to four times as many tokens.
   *
   * @default 'basic'
   */
  readonly hardening?: 'basic' | 'strong'
  /**
   * What the model costs, in US dollars for a million tokens: for models that the list of prices does not hold, and for prices of
   * your own. `budget.usdPerDay` and the cost of scores follow it.
   *
   * @default the list price of the model, where it is known
   */
  readonly price?: Price
}

/** Settings with nothing left out but the price. */
export type ResolvedJudgeSettings = Required<Omit<JudgeSettings, 'price'>> & Pick<JudgeSettings, 'price'>
