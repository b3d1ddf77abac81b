import { contentFree } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import { skip } from '../../skip.ts'
import { inquire } from '../../../judge/judging.ts'
import type { Inquiry } from '../../../judge/inquiry.ts'
import {
  historySection,
  instructionsSection,
  mainSection,
  requestSection,
  toolCallsSection,
  withoutAnswer,
} from '../../../judge/prompt/render-run.ts'
import type { RunMaterial } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Skipped } from '../../../model/score.ts'
import type { Scorer, ScoringContext } from '../../../scoring/scorer.ts'
import { callEndingOf } from '../../../scoring/call-ending.ts'
import { formatValue } from '../../../scoring/format-value.ts'
import { shares, weights } from './analysis.ts'
import { alignmentNotes, alignmentQuestions, alignmentRole, requirementsList } from './questions.ts'
import type { AlignmentSide } from './questions.ts'
import { scoreAlignment, scoreEmpty } from './verdict.ts'
import type { PromptAlignmentAnalysis } from './verdict.ts'
import { defineJudgeScorer, judgeKeys, readJudgeOptions, skipUnjudgeable, textOr } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'

/** Options of prompt alignment. */
export interface PromptAlignmentOptions {
  /** The highest score: a positive number. @default 1 */
  readonly scale?: number
  /** Whether to judge by the user's prompt, the system's instructions, or both, 70 to 30. @default 'both' */
  readonly evaluationMode?: 'user' | 'system' | 'both'
  /**
   * Whether to show the judge the turns before the last user message as context: up to ten messages, or the given number.
   *
   * @default true
   */
  readonly includeConversationHistory?: boolean | number
}

/** Options of `createPromptAlignmentScorerLLM`. */
export interface PromptAlignmentScorerOptions extends JudgeScorerOptions {
  /** What to judge, and the scale. */
  readonly options?: PromptAlignmentOptions
}

const KNOWN: KeysOf<PromptAlignmentScorerOptions> = { ...judgeKeys, options: true }
const NESTED: KeysOf<PromptAlignmentOptions> = { scale: true, evaluationMode: true, includeConversationHistory: true }

const bothRequired = 'Both user prompt and agent response are required for prompt alignment scoring'
const systemRequired = 'System prompt is required for system prompt alignment scoring'

/**
 * Prompt alignment, by a judge: how well the response follows the user's prompt, the system's instructions, or both, in four weighted
 * dimensions.
 *
 * | | intent | requirements | completeness | appropriateness |
 * |---|---|---|---|---|
 * | user | .40 | .30 | .20 | .10 |
 * | system | .35 | .35 | .15 | .15 |
 * | both | 0.7 × user + 0.3 × system | | | |
 *
 * Requirements are listed one by one. Code computes fulfilled ÷ listed (a partly fulfilled one counts half; 1 if there are none), and the sum. Score: weighted × `scale`, two
 * decimals. An empty response scores 0 without asking, unless the run ended in a call that succeeded. `both` without system instructions is scored as `user`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createPromptAlignmentScorerLLM({ model: 'openai/gpt-5-mini', options: { scale: 10 } })
 * const { score, reason } = await scorer.run({
 *   input: [{ role: 'user', content: 'List three advantages of TypeScript as bullets.' }],
 *   output: { role: 'assistant', text: 'TypeScript has types, good editors and safer code.' },
 * })
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createPromptAlignmentScorerLLM(
  options: PromptAlignmentScorerOptions,
): Scorer<unknown, PromptAlignmentAnalysis> {
  const factory = 'createPromptAlignmentScorerLLM'
  const { id = 'prompt_alignment', options: given = {} } = readJudgeOptions(factory, options, KNOWN)
  const more = readOptions(`${factory} options`, given, NESTED)
  const { scale = 1, evaluationMode = 'both', includeConversationHistory = true } = more
  checkOptions(id, scale, evaluationMode, includeConversationHistory)
  const history = includeConversationHistory === true ? 10 : Number(includeConversationHistory)
  const sidesOf = (run: AgentRun): readonly AlignmentSide[] =>
    evaluationMode === 'both' ? (hasText(run.systemInstructions) ? ['user', 'system'] : ['user']) : [evaluationMode]
  return defineJudgeScorer<PromptAlignmentAnalysis>({
    id,
    description: 'How well the response does what the prompt asks for.',
    options,
    range: [0, scale],
    calls: 1,
    identity: {
      scale,
      evaluationMode,
      history,
      weights,
      shares,
      prompts: [
        alignmentRole,
        ...(['user', 'system'] as const).flatMap((side) => [alignmentQuestions(side), requirementsList(side)]),
        alignmentNotes(['user', 'system']),
      ],
    },
    readsHandOver: true,
    needs: ['input', 'output', 'systemInstructions', 'toolNames', 'toolArguments', 'toolResults'],
    drafts: (run) => toDrafts(run, history, {}),
    assess: async (run, session, context) => {
      const sides = sidesOf(run)
      const unfit = unscorable(run, sides, context, id)
      if (unfit !== undefined) return unfit
      // A run may end in a call because that is what was wanted.
      if (!hasText(run.output) && callEndingOf(run, context.handOver) === undefined)
        return scoreEmpty(run, sides, scale, evaluationMode)
      const asked = await inquire(session, toInquiry(run, sides, history, context))
      return asked.ok ? scoreAlignment(run, sides, asked.value, scale, evaluationMode) : asked.score
    },
  })
}

function checkOptions(id: string, scale: unknown, mode: unknown, history: unknown): void {
  if (typeof scale !== 'number' || !Number.isFinite(scale) || scale <= 0) {
    throw new TypeError(`Scorer ${id}: expected options.scale to be a positive number, got ${formatValue(scale)}.`)
  }
  if (mode !== 'user' && mode !== 'system' && mode !== 'both') {
    throw new TypeError(
      `Scorer ${id}: expected options.evaluationMode to be 'user', 'system' or 'both', got ${formatValue(mode)}.`,
    )
  }
  if (typeof history !== 'boolean' && !(Number.isInteger(history) && Number(history) >= 0)) {
    throw new TypeError(
      `Scorer ${id}: expected options.includeConversationHistory to be a boolean or a number of messages, got ${formatValue(history)}.`,
    )
  }
}

/** Why there is nothing to score. An empty response of a finished run can be scored. */
function unscorable(
  run: AgentRun,
  sides: readonly AlignmentSide[],
  context: ScoringContext,
  id: string,
): Skipped | undefined {
  const unfinished = skipUnjudgeable(run, context, id)
  if (unfinished !== undefined) return unfinished
  const given = context.given !== undefined
  const required = (message: string): Explanation => contentFree(`${id}: ${message}.`)
  if (sides.includes('user')) {
    const request = textOr(run, 'userInput', id)
    if (typeof request !== 'string') return given ? skip('no-content', required(bothRequired)) : request
  } else if (!hasText(run.systemInstructions)) {
    return skip('no-content', required(systemRequired))
  }
  if (given) return run.output === undefined ? skip('no-output', required(bothRequired)) : undefined
  const response = textOr(run, 'output', id)
  return typeof response !== 'string' && response.reason === 'no-content' ? response : undefined
}

const RESPONSE = "the agent's response"

function toDrafts(run: AgentRun, history: number, { handOver }: RunMaterial): SectionDraft[] {
  return [
    ...instructionsSection(run),
    ...historySection(run, { history }),
    ...requestSection(run),
    ...toolCallsSection(run, { handOver }),
    hasText(run.output)
      ? mainSection(RESPONSE, run.output)
      : { title: RESPONSE, fragments: [{ text: withoutAnswer(run, handOver) }] },
  ]
}

function toInquiry(run: AgentRun, sides: readonly AlignmentSide[], history: number, material: RunMaterial): Inquiry {
  return {
    role: alignmentRole,
    sections: toDrafts(run, history, material),
    questions: sides.flatMap(alignmentQuestions),
    lists: sides.map(requirementsList),
    notes: alignmentNotes(sides),
  }
}

/** Whether a text is not blank. */
function hasText(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}
