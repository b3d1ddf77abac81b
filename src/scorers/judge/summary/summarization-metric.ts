import { Judge } from '../../../judge/judge.ts'
import type { JudgeSettings } from '../../../judge/settings.ts'
import type { JudgeModel } from '../../../judge/transport/judge-model.ts'
import { openSession } from '../../../judge/judging.ts'
import { nodeCrypto } from '../../../spans/node-crypto.ts'
import { formatValue } from '../../../scoring/format-value.ts'
import { keepProcessAlive } from '../../../scoring/keep-process-alive.ts'
import { judgeSettingKeys, shorten } from '../judge-scorer.ts'
import { expectOption, readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { checkScale, emptySummary } from './summarization.ts'
import { explainSummary, judgeSummary } from './judgement.ts'
import { twoDecimals } from '../../two-decimals.ts'

/** Options of `SummarizationMetric`. */
export interface SummarizationMetricOptions {
  /** The highest score: a positive number. @default 1 */
  readonly scale?: number
  /** Settings of the judge. */
  readonly judge?: JudgeSettings
  /** Maximum milliseconds for all judge calls of one measurement. @default 60000 */
  readonly timeoutMs?: number
}

const KNOWN: KeysOf<SummarizationMetricOptions> = { scale: true, judge: true, timeoutMs: true }

/** The result of `measure`. */
export interface SummarizationMetricResult {
  /** 0 to `scale`, two decimals. */
  readonly score: number
  /** The explanation, and the two scores, of which the lower one counts. */
  readonly info: {
    readonly reason: string
    /** 0 to 1, two decimals. */
    readonly alignmentScore: number
    /** 0 to 1, two decimals. */
    readonly coverageScore: number
  }
}

/**
 * Measures one summary against its source, like `createSummarizationScorer`, without a run.
 *
 * @example
 * ```ts
 * const metric = new SummarizationMetric('openai/gpt-5-mini')
 * const { score, info } = await metric.measure('The company was founded in 1995 in Seattle.', 'Founded in 1995.')
 * ```
 */
export class SummarizationMetric {
  readonly #judge: Judge
  readonly #scale: number
  readonly #timeoutMs: number

  /** @throws TypeError if the model or an option is invalid or unknown */
  constructor(model: JudgeModel, options: SummarizationMetricOptions = {}) {
    const subject = 'SummarizationMetric'
    const { scale = 1, judge, timeoutMs = 60_000 } = readOptions(subject, options, KNOWN)
    if (judge !== undefined) readOptions(`${subject} judge`, judge, judgeSettingKeys)
    checkScale(`${subject}: expected scale`, scale)
    const isTime = typeof timeoutMs === 'number' && timeoutMs > 0
    expectOption(isTime, subject, 'timeoutMs to be milliseconds above 0', timeoutMs)
    this.#judge = new Judge(model, judge, `${subject}: expected`)
    this.#scale = scale
    this.#timeoutMs = timeoutMs
  }

  /**
   * @param source the text that was summarized
   * @param summary the summary; an empty one scores 0
   * @throws Error if the source is empty, or the judge gave no valid answer; the message says why
   */
  async measure(source: string, summary: string): Promise<SummarizationMetricResult> {
    if (!isText(source) || source.trim() === '') throw new Error('Source text is required for summarization scoring')
    if (!isText(summary)) throw new TypeError(`Expected summary to be a string, got ${formatValue(summary)}.`)
    if (summary.trim() === '') {
      const { value, explanation } = emptySummary(this.#scale)
      return { score: value, info: { reason: explanation.text, alignmentScore: 0, coverageScore: 0 } }
    }
    const context = { signal: new AbortController().signal, timeoutMs: this.#timeoutMs }
    const judged = await keepProcessAlive(async () => {
      const session = await openSession(this.#judge, 'summarization', nodeCrypto().randomUUID(), context)
      return judgeSummary(session, source, summary, 10)
    })
    if (!judged.ok) throw new Error(judged.score.message)
    const { alignmentScore, coverageScore, score: share } = judged.value
    const score = twoDecimals(share * this.#scale)
    return {
      score,
      info: { reason: shorten(explainSummary(judged.value, score, this.#scale)).text, alignmentScore, coverageScore },
    }
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
