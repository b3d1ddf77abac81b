import { keepProcessAlive } from '../../../src/scoring/keep-process-alive.ts'
import type { JudgeScorerOptions } from '../../../src/scorers/judge/judge-scorer.ts'
import type { ResolvedOptions } from '../../../src/engine/config/options.ts'
import type { CommandContext, ExitCode } from '../command.ts'
import { createPaint, write } from '../output.ts'
import { createProgress } from '../progress.ts'
import { loadConfig } from '../score/load-config.ts'
import { safeJson, safeLine } from '../text.ts'
import { UsageError } from '../usage-error.ts'
import { checkJudge, estimateCheck } from './check-judge.ts'
import type { CheckedCase, CheckEstimate, CheckSettings } from './check-judge.ts'
import { toCheckVerdict } from './check-verdict.ts'
import type { CheckVerdict } from './check-verdict.ts'
import { labelledCases, scorerOf } from './labelled-case.ts'
import type { LabelledCase } from './labelled-case.ts'
import { countByScorer, renderReport } from './report.ts'
import type { ScorerCheck } from './report.ts'

/** The command-line options of `spanscore judge-check`. */
export interface JudgeCheckOptions {
  /** `<provider>/<model>`; either this or `config`. */
  readonly model?: string
  /** A configuration file, whose judges are checked. */
  readonly config?: string
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

/** Asks judges about the labelled cases of the package, and reports how often each is right. */
export async function judgeCheck(options: JudgeCheckOptions, context: CommandContext): Promise<ExitCode> {
  const cases = chooseCases(options.scorer)
  const settings: CheckSettings = {
    maxCostUsd: toPositive('--max-usd', options.maxUsd, 'US dollars'),
    timeoutMs: toPositive('--timeout', options.timeout, 'seconds') * 1000,
    concurrency: CONCURRENCY,
  }
  const judges = chooseJudges(options, context)
  const casesOf = ({ scorers }: NamedJudge): readonly LabelledCase[] =>
    options.scorer === undefined && scorers !== undefined ? chooseCases(scorers) : cases
  const estimates = judges.map((each) => prepare(casesOf(each), each.judge))
  return keepProcessAlive(async () => {
    const reports: JudgeCheckReport[] = []
    for (const [index, each] of judges.entries()) {
      const { name, judge } = each
      const asked = casesOf(each)
      const estimate = estimates[index]
      if (estimate === undefined) continue
      context.stderr.write(`spanscore: ${safeLine(name)}: ${announce(asked.length, estimate, settings.maxCostUsd)}\n`)
      const progress = createProgress({ stream: context.stderr, totalBytes: undefined })
      const onCase = (done: number): void => progress.show(() => `asked ${done} of ${asked.length}`)
      const checked = await checkJudge(asked, judge, { ...settings, onCase })
      progress.clear()
      const verdict = toCheckVerdict(checked)
      reports.push({ model: name, verdict, scorers: countByScorer(checked), cases: checked.map(toJson) })
      if (options.json === true) continue
      await write(
        context.stdout,
        renderReport(name, checked, verdict, {
          columns: context.stdout.columns,
          paint: createPaint(context.stdout, context.environment),
        }),
      )
    }
    if (options.json === true) await write(context.stdout, safeJson(`${JSON.stringify(reports, undefined, 2)}\n`))
    return reports.every(({ verdict }) => verdict.kind === 'reliable') ? 0 : 1
  })
}

/** What is printed of one judge as JSON. */
interface JudgeCheckReport {
  readonly model: string
  readonly verdict: CheckVerdict
  readonly scorers: readonly ScorerCheck[]
  readonly cases: readonly unknown[]
}

interface NamedJudge {
  readonly name: string
  readonly judge: JudgeScorerOptions
  /** The scorers that it is for; absent if it is for any, or one of them has an id of its own. */
  readonly scorers?: readonly string[]
}

/** The judge of the command line, or the judges of the configuration, each model once. */
function chooseJudges({ model, url, config }: JudgeCheckOptions, context: CommandContext): readonly NamedJudge[] {
  if (model !== undefined) {
    if (config !== undefined) throw new UsageError('expected either --model or --config, got both')
    return [{ name: model, judge: { model: { id: model, ...(url !== undefined && { url }) } } }]
  }
  if (url !== undefined) throw new UsageError('--url: expected --model beside it, got none')
  const judges = new Map<string, NamedJudge>()
  for (const { scorer } of judgesOf(config, context)) {
    if (scorer.judge?.options === undefined) continue
    const { model: name, options } = scorer.judge
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a factory has checked them when the scorer was created
    const { judge, scorers } = judges.get(name) ?? { judge: options as JudgeScorerOptions, scorers: [] }
    const isKnown = labelledCases.some((each) => each.scorer === scorer.id)
    judges.set(name, { name, judge, ...(scorers && isKnown && { scorers: [...scorers, scorer.id] }) })
  }
  if (judges.size > 0) return [...judges.values()]
  throw new UsageError('expected --model, or a configuration with a prebuilt judge scorer, got neither')
}

function judgesOf(config: string | undefined, context: CommandContext): ResolvedOptions['scorers'] {
  try {
    return loadConfig(config, context).scorers
  } catch (error) {
    if (config !== undefined || !(error instanceof UsageError)) throw error
    throw new UsageError(`expected --model, such as openai/gpt-5-mini, or a configuration. ${error.message}`)
  }
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

function announce(count: number, { calls, tokens, costUsd }: CheckEstimate, maxCostUsd: number): string {
  const work = `${count} cases, about ${calls} calls, at most ${tokens.toLocaleString('en')} tokens`
  const cost =
    costUsd === undefined
      ? 'its price is not known, so --max-usd cannot end it'
      : `at most ${costUsd.toFixed(2)} USD; no further case is asked after ${maxCostUsd} USD (--max-usd)`
  return `${work}; ${cost}`
}

function toJson({ case: { id, scorer, expect, why }, outcome, evaluation }: CheckedCase): unknown {
  return { id, scorer, expect, why, outcome, score: evaluation?.score, judge: evaluation?.judge }
}
