import type { Price } from './transport/price.ts'

/** How a judge is asked. Every judge scorer takes these as `judge`. */
export interface JudgeSettings {
  /**
   * Maximum calls for one score, including retries, repairs and repeated questions. 1 to 20.
   *
   * @default 4; 10 with `hardening: 'strong'`
   */
  readonly maxCallsPerScore?: number
  /**
   * Maximum tokens of a reply. Many verdicts may take up to twice as many, and a reply that was cut off is requested again with four times as
   * many. A long run's verdicts are split over several calls, 120 in each at the default.
   *
   * @default 4096
   */
  readonly maxOutputTokens?: number
  /** Sampling temperature, if the model has one. @default 0 */
  readonly temperature?: number
  /**
   * Maximum UTF-8 bytes of a whole prompt, including rules and questions. The run is cut to fit: payloads first, in the middle. At least 8192.
   *
   * @default 49152
   */
  readonly maxPromptBytes?: number
  /**
   * Protection against text that tries to influence the judge. `basic` asks about a decoy beside the run, in the same call. `strong` asks
   * in several calls, in which decoys and real questions look the same, and costs two to four times as many tokens.
   *
   * @default 'basic'
   */
  readonly hardening?: 'basic' | 'strong'
  /**
   * The price of the model in US dollars per million tokens. Set it for models that are not in the price list, and for your own prices.
   * `budget.usdPerDay` and the cost of scores use it.
   *
   * @default the list price of the model, if known
   */
  readonly price?: Price
}

/** Settings with all defaults filled in. Only the price may be missing. */
export type ResolvedJudgeSettings = Required<Omit<JudgeSettings, 'price'>> & Pick<JudgeSettings, 'price'>
