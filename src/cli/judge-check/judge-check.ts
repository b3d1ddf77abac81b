import { keepProcessAlive } from '../../scoring/keep-process-alive.ts'
import type { JudgeScorerOptions } from '../../scorers/judge/judge-scorer.ts'
import type { CommandContext, ExitCode } from '../command.ts'
import { createPaint, write } from '../output.ts'
import { createProgress } from '../progress.ts'
import { safeJson, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { checkJudge, estimateCheck } from './check-judge.ts'
import type { CheckedCase, CheckEstimate } from './check-judge.ts'
import { toCheckVerdict } from './check-verdict.ts'
import { labelledCases, scorerOf } from './labelled-case.ts'
import type { LabelledCase } from './labelled-case.ts'
import { countByScorer, renderReport } from './report.ts'

/** The command-line options of `spanscore judge-check`. */
export interface JudgeCheckOptions {
  /** `<provider>/<model>`. */
  readonly model: string
  /** The base URL of an OpenAI-compatible API. */
  readonly url?: string
  /** Ids of the judge scorers to check; all if absent. */
  readonly scorer?: readonly string[]
  /** US dollars. */
  readonly maxUsd: string
  /** Seconds for one score. */
  readonly timeout: string
  /** Whether to print the result as JSON. */
  readonly json?: boolean
}

/** Asks a judge about the labelled cases of the package, and reports how often it is right. */
export async function judgeCheck(options: JudgeCheckOptions, context: CommandContext): Promise<ExitCode> {
  const cases = chooseCases(options.scorer)
  const model: JudgeScorerOptions['model'] = {
    id: options.model,
    ...(options.url !== undefined && { url: options.url }),
  }
  const maxCostUsd = toPositive('--max-usd', options.maxUsd, 'US dollars')
  const timeoutMs = toPositive('--timeout', options.timeout, 'seconds') * 1000
  const judge: JudgeScorerOptions = { model }
  const estimate = prepare(cases, judge)
  context.stderr.write(`spanscore: ${announce(cases.length, estimate, maxCostUsd, options.model)}\n`)
  return keepProcessAlive(async () => {
    const progress = createProgress({ stream: context.stderr, totalBytes: undefined })
    const checked = await checkJudge(cases, judge, {
      maxCostUsd,
      timeoutMs,
      concurrency: CONCURRENCY,
      onCase: (done) => progress.show(() => `asked ${done} of ${cases.length}`),
    })
    progress.clear()
    const verdict = toCheckVerdict(checked)
    const text =
      options.json === true
        ? safeJson(
            `${JSON.stringify({ verdict, scorers: countByScorer(checked), cases: checked.map(toJson) }, undefined, 2)}\n`,
          )
        : renderReport(checked, verdict, createPaint(context.stdout, context.environment))
    await write(context.stdout, text)
    return verdict.kind === 'reliable' ? 0 : 1
  })
}

/** Cases that are asked at the same time: few enough for the rate limits of new accounts and for a model on the own machine. */
const CONCURRENCY = 4

function chooseCases(scorers: readonly string[] | undefined): readonly LabelledCase[] {
  if (scorers === undefined) return labelledCases
  const known = [...new Set(labelledCases.map(({ scorer }) => scorer))]
  const unknown = scorers.find((scorer) => !known.includes(scorer))
  if (unknown !== undefined) {
    throw new UsageError(`--scorer: expected a prebuilt judge scorer (${known.join(', ')}), got ${unknown}`)
  }
  return labelledCases.filter(({ scorer }) => scorers.includes(scorer))
}

function toPositive(option: string, text: string, unit: string): number {
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new UsageError(`${option}: expected ${unit} above 0, got ${text}`)
}

/** @throws UsageError if the judge cannot be asked: a wrong model id, a missing key or package. */
function prepare(cases: readonly LabelledCase[], judge: JudgeScorerOptions): CheckEstimate {
  try {
    const [first] = cases
    const missing = first && scorerOf(first, judge).judge?.unavailable()
    if (missing !== undefined) throw new UsageError(missing)
    return estimateCheck(cases, judge)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

function announce(count: number, { calls, tokens, costUsd }: CheckEstimate, maxCostUsd: number, model: string): string {
  const work = `${count} cases, about ${calls} calls, at most ${tokens.toLocaleString('en')} tokens`
  const cost =
    costUsd === undefined
      ? `the price of ${safeLine(model)} is not known, so --max-usd cannot end it`
      : `at most ${costUsd.toFixed(2)} USD; no further case is asked after ${maxCostUsd} USD (--max-usd)`
  return `${work}; ${cost}`
}

function toJson({ case: { id, scorer, expect, why }, outcome, evaluation }: CheckedCase): unknown {
  return { id, scorer, expect, why, outcome, score: evaluation?.score, judge: evaluation?.judge }
}
