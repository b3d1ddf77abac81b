import { Judge } from '../../judge/judge.ts'
import type { JudgeSettings } from '../../judge/settings.ts'
import type { JudgeModel } from '../../judge/transport/judge-model.ts'
import { writeInSteps } from '../../judge/prompt/render-run.ts'
import { promptScaffold } from '../../judge/prompt/prompt-scaffold.ts'
import { answersPerCall } from '../../judge/transport/token-budget.ts'
import { bytesOf } from '../../judge/prompt/section.ts'
import type { SectionDraft } from '../../judge/prompt/section.ts'
import { JudgeSession } from '../../judge/session.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { inSlices } from '../../scoring/in-slices.ts'
import { defineScorer } from '../../scoring/define-scorer.ts'
import type { ScorerDefinition } from '../../scoring/define-scorer.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer, ScoringContext, Verdict } from '../../scoring/scorer.ts'
import { readOptions } from '../read-options.ts'
import type { KeysOf } from '../read-options.ts'
import { scorerKeys } from '../scorer-options.ts'
import type { ScorerOptions } from '../scorer-options.ts'
import { skip } from '../skip.ts'
import { contentFree, contentOnly, explain } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'

/** What every judge scorer takes. */
export interface JudgeScorerOptions extends ScorerOptions {
  /** The model that judges. */
  readonly model: JudgeModel
  /** How it is asked. */
  readonly judge?: JudgeSettings
}

/** The names of these options. */
export const judgeKeys: KeysOf<JudgeScorerOptions> = { ...scorerKeys, model: true, judge: true }

/** The names of the settings of a judge. */
export const judgeSettingKeys: KeysOf<JudgeSettings> = {
  maxCallsPerScore: true,
  maxOutputTokens: true,
  temperature: true,
  maxPromptBytes: true,
  hardening: true,
  price: true,
}

/**
 * `readOptions`, for the settings of the judge too.
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

/** A judge scorer: what is shown to the judge, and what is made of its answers. */
export interface JudgeScorerDefinition<Analyzed> extends Omit<
  ScorerDefinition<unknown, Analyzed>,
  'kind' | 'inline' | 'judge' | 'assess' | 'passAt'
> {
  readonly options: JudgeScorerOptions
  /** Judge calls of one score when nothing goes wrong, and the verdicts fit into one reply. */
  readonly calls: 1 | 2
  /** Verdicts that are asked for by id; items that the judge is yet to find are not among them. @default 0 */
  readonly answers?: (run: AgentRun) => number
  /** What of the run is shown to the judge: for the estimate of what a score takes. */
  readonly drafts: (run: AgentRun) => readonly SectionDraft[]
  /** Says what it thinks of the run; the report of the judge's calls is added to it. */
  readonly assess: (run: AgentRun, session: JudgeSession, context: ScoringContext) => Promise<JudgeVerdict<Analyzed>>
}

/** A verdict whose explanation says which of its parts may quote the run: everything that the judge wrote does. */
export type JudgeVerdict<Analyzed> =
  | (Omit<Extract<Verdict<unknown, Analyzed>, { readonly status: 'scored' }>, 'explanation'> & {
      readonly explanation: Explanation
    })
  | Extract<Verdict<unknown, Analyzed>, { readonly status: 'skipped' | 'failed' }>

/** Makes a scorer that asks a judge. */
export function defineJudgeScorer<Analyzed>(definition: JudgeScorerDefinition<Analyzed>): Scorer<unknown, Analyzed> {
  const { options, calls, answers: countAnswers, drafts, assess, ...rest } = definition
  const judge = new Judge(options.model, options.judge, `Scorer ${definition.id}: expected`)
  return defineScorer<unknown, Analyzed>({
    ...rest,
    kind: 'judge',
    passAt: options.passAt,
    identity: { judge: judge.identity, frame: promptScaffold(), calls, scorer: definition.identity },
    judge: judge.toScorerJudge((run) => {
      const answers = countAnswers?.(run) ?? 0
      const parts = Math.max(1, Math.ceil(answers / answersPerCall(judge.settings)))
      return { calls: calls - 1 + parts, contentBytes: bytesOf(drafts(run), judge.settings.maxPromptBytes), answers }
    }),
    assess: async (run, context) => {
      await inSlices(writeInSteps(run.toolCalls))
      const session = new JudgeSession(judge, definition.id, run.id, context)
      const verdict = withWhatWasCut(await assess(run, session, context), session.cutBytes)
      const report = session.report()
      return report === undefined ? verdict : { ...verdict, judge: report }
    },
  })
}

/** A score that rests on a part of the run says so. */
function withWhatWasCut<Analyzed>(verdict: JudgeVerdict<Analyzed>, cutBytes: number): JudgeVerdict<Analyzed> {
  if (verdict.status !== 'scored' || cutBytes === 0) return verdict
  const note = `The judge was not shown ${cutBytes} bytes of the run: see judge.maxPromptBytes.`
  const explanation = shorten(verdict.explanation, LONGEST_EXPLANATION - note.length - 1)
  return { ...verdict, explanation: explain`${explanation} ${contentFree(note)}` }
}

/**
 * Why the answer of a live run cannot be judged: the run failed, or waits for somebody (a client's tool, an approval) and has
 * not answered yet. What `.run()` was given in messages is taken to be finished.
 */
export function skipUnfinished(run: AgentRun, context: ScoringContext, id: string): Skipped | undefined {
  if (context.given !== undefined) return undefined
  if (run.status === 'error' || run.status === 'aborted') {
    const why = run.error?.message === undefined ? '' : ` (${run.error.message.slice(0, 200)})`
    return skip(
      'run-failed',
      explain`${contentFree(id)}: the run ${contentFree(run.status === 'error' ? 'failed' : 'was aborted')}${contentOnly(why)}, so it has no answer to judge.`,
    )
  }
  const asked = run.steps.at(-1)?.toolCallIds ?? []
  const waiting = run.toolCalls.find(
    (call) => call.status === 'not-executed' && call.id !== undefined && asked.includes(call.id),
  )
  if (waiting === undefined) return undefined
  return skip(
    'not-finished',
    explain`${contentFree(id)}: the run waits for ${waiting.name}, which was asked for and not executed here.`,
  )
}

/** A fact that the run must hold, or why it does not. */
export function textOr(run: AgentRun, fact: 'userInput' | 'output', id: string): string | Skipped {
  const text = run[fact]
  if (text !== undefined && text.trim() !== '') return text
  const name = fact === 'output' ? 'output' : 'input'
  const missing = run.missing.find(({ what }) => what === name)
  if (missing !== undefined || run.content === 'none') {
    const cure =
      missing?.switch === undefined ? 'Turn on content recording in the instrumentation' : `Turn on ${missing.switch}`
    return skip(
      'no-content',
      contentFree(`${id}: the spans do not hold the ${name} of the run (${missing?.why ?? 'not-captured'}). ${cure}.`),
    )
  }
  return fact === 'output'
    ? skip('no-output', contentFree(`${id}: the run has no answer to judge.`))
    : skip('no-content', contentFree(`${id}: the run has no user message to judge by.`))
}

/** Characters of an explanation: no judge's eloquence fills an attribute. */
const LONGEST_EXPLANATION = 1000

/** Both forms of an explanation on one line, of at most so many characters. */
export function shorten(explanation: Explanation, maxLength: number = LONGEST_EXPLANATION): Explanation {
  const { text, withoutContent } = explanation
  return { text: shortenText(text, maxLength), withoutContent: shortenText(withoutContent, maxLength) }
}

function shortenText(text: string, maxLength: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`
}
