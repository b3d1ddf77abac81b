import { Judge } from '../../judge/judge.ts'
import { maxPromptBytes } from '../../judge/settings.ts'
import type { JudgeSettings } from '../../judge/settings.ts'
import type { JudgeModel } from '../../judge/transport/judge-model.ts'
import { writePayloads } from '../../judge/prompt/render-call.ts'
import { promptScaffold } from '../../judge/prompt/build-prompt.ts'
import { answersPerCall } from '../../judge/transport/token-budget.ts'
import { bytesOf } from '../../judge/prompt/section.ts'
import type { SectionDraft } from '../../judge/prompt/section.ts'
import { openSession } from '../../judge/judging.ts'
import type { JudgeSession } from '../../judge/session.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { findingLine } from '../../model/finding.ts'
import type { Finding } from '../../model/finding.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { ScorerDefinition } from '../../scoring/define-scorer.ts'
import { RUN_FACTS, skipUnfinished, skipWithoutFact } from '../../scoring/absence.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer, ScoringContext, Verdict } from '../../scoring/scorer.ts'
import { readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'
import { contentFree, contentOnly, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'

/** The options of every judge scorer. */
export interface JudgeScorerOptions extends ScorerOptions {
  /** The judge's model. */
  readonly model: JudgeModel
  /** Settings of the judge. */
  readonly judge?: JudgeSettings
}

/** The names of these options. */
export const judgeKeys: KeysOf<JudgeScorerOptions> = { ...scorerKeys, model: true, judge: true }

/** The names of the settings of a judge. */
export const judgeSettingKeys: KeysOf<JudgeSettings> = {
  maxCallsPerScore: true,
  maxOutputTokens: true,
  temperature: true,
  effort: true,
  maxPromptTokens: true,
  price: true,
}

/**
 * Like `readOptions`, but also checks the judge's settings.
 *
 * @throws TypeError if there are no options, or one is unknown
 */
export function readJudgeOptions<Options extends JudgeScorerOptions>(
  factory: string,
  options: Options,
  known: KeysOf<NoInfer<Options>>,
): Options {
  const { judge } = readOptions(factory, options, known)
  if (judge !== undefined) readOptions(`${factory} judge`, judge, judgeSettingKeys)
  return options
}

/** A judge scorer: what it shows the judge, and what it makes of the answers. */
export interface JudgeScorerDefinition<Analyzed> extends Omit<
  ScorerDefinition<unknown, Analyzed>,
  'kind' | 'inline' | 'judge' | 'assess' | 'passAt'
> {
  readonly options: JudgeScorerOptions
  /** Judge calls of one score if nothing goes wrong and the verdicts fit into one reply. */
  readonly calls: 1 | 2
  /** Verdicts requested by id, without items that the judge is yet to find. @default 0 */
  readonly answers?: (run: AgentRun) => number
  /** The parts of the run that the judge sees, to estimate the cost of a score. */
  readonly drafts: (run: AgentRun) => readonly SectionDraft[]
  /** Judges the run. The report of the judge's calls is added to the result. */
  readonly assess: (run: AgentRun, session: JudgeSession, context: ScoringContext) => Promise<JudgeVerdict<Analyzed>>
}

/** A verdict whose explanation marks the parts that may quote the run, which includes everything from the judge. */
export type JudgeVerdict<Analyzed> =
  | (Omit<Extract<Verdict<unknown, Analyzed>, { readonly status: 'scored' }>, 'explanation'> & {
      readonly explanation: Explanation
    })
  | Extract<Verdict<unknown, Analyzed>, { readonly status: 'skipped' | 'failed' | 'calls' }>

/** Creates a judge scorer. */
export function defineJudgeScorer<Analyzed>(definition: JudgeScorerDefinition<Analyzed>): Scorer<unknown, Analyzed> {
  const { options, calls, answers: countAnswers, drafts, assess, ...rest } = definition
  const judge = new Judge(options.model, options.judge, `Scorer ${definition.id}: expected`)
  return defineScorer<unknown, Analyzed>({
    ...rest,
    kind: 'judge',
    passAt: options.passAt,
    identity: { judge: judge.identity, frame: promptScaffold(), calls, scorer: definition.identity },
    judge: {
      ...judge.toScorerJudge((run) => {
        const answers = countAnswers?.(run) ?? 0
        const parts = Math.max(1, Math.ceil(answers / answersPerCall(judge.settings)))
        return { calls: calls - 1 + parts, contentBytes: bytesOf(drafts(run), maxPromptBytes(judge.settings)), answers }
      }),
      options: { model: options.model, ...(options.judge !== undefined && { judge: options.judge }) },
    },
    // It looks itself at what the run lacks, because it shows the judge everything that there is.
    mayLack: RUN_FACTS,
    assess: async (_view, context, { run }) => {
      await writePayloads(run.toolCalls)
      const session = await openSession(judge, definition.id, run.id, context)
      const verdict = withoutLabel(
        withWhatWasCut(await assess(run, session, context), session.cutBytes),
        options.passAt,
      )
      const report = session.report()
      return report === undefined ? verdict : { ...verdict, judge: report }
    },
  })
}

/** The rating of a verdict that counts as that share of what would be best. */
export function ratingOf(share: number): Finding['rating'] {
  return share >= 1 ? 'good' : share <= 0 ? 'bad' : 'open'
}

/** The first findings that are not as they should be, as the end of an explanation. */
export function explainFindings(findings: readonly Finding[]): Explanation {
  const others = findings.filter(({ rating }) => rating !== 'good').slice(0, MAX_NAMED)
  return contentOnly(others.length === 0 ? '' : ` ${others.map(findingLine).join('; ')}.`)
}

/** Findings that an explanation names. */
const MAX_NAMED = 5

/** A pass mark among the scorer's own options decides by value, like one of its entry. */
function withoutLabel<Analyzed>(
  verdict: JudgeVerdict<Analyzed>,
  passAt: JudgeScorerOptions['passAt'],
): JudgeVerdict<Analyzed> {
  // Verdicts on calls have no labels of their own.
  if (verdict.status !== 'scored' || passAt === undefined) return verdict
  const { label: _label, ...byValue } = verdict
  return byValue
}

/** Adds a note if the score is based on a part of the run. */
function withWhatWasCut<Analyzed>(verdict: JudgeVerdict<Analyzed>, cutBytes: number): JudgeVerdict<Analyzed> {
  if (verdict.status !== 'scored' || cutBytes === 0) return verdict
  const note = `The judge was not shown ${cutBytes} bytes of the run: see judge.maxPromptTokens.`
  const explanation = shorten(verdict.explanation, LONGEST_EXPLANATION - note.length - 1)
  return { ...verdict, explanation: explain`${explanation} ${contentFree(note)}` }
}

/** Why the answer of a live run cannot be judged. Messages that were passed to `.run()` count as finished. */
export function skipUnjudgeable(run: AgentRun, context: ScoringContext, id: string): Skipped | undefined {
  return context.given === undefined ? skipUnfinished(run, id) : undefined
}

/** A required text of the run, or why it is missing. */
export function textOr(run: AgentRun, fact: 'userInput' | 'output', id: string): string | Skipped {
  const text = run[fact]
  if (text !== undefined && text.trim() !== '') return text
  return (
    skipWithoutFact(run, fact === 'output' ? 'output' : 'input', id) ??
    (fact === 'output'
      ? skip('no-output', contentFree(`${id}: the run has no answer to judge.`))
      : skip('no-content', contentFree(`${id}: the run has no user message to judge by.`)))
  )
}

/** Maximum characters of an explanation, so that a wordy judge cannot fill an attribute. */
const LONGEST_EXPLANATION = 1000

/** Shortens both forms of an explanation to one line of at most that many characters. */
export function shorten(explanation: Explanation, maxLength: number = LONGEST_EXPLANATION): Explanation {
  const { text, withoutContent } = explanation
  return { text: shortenText(text, maxLength), withoutContent: shortenText(withoutContent, maxLength) }
}

function shortenText(text: string, maxLength: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`
}
