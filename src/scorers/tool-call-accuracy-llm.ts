import { ask } from '../judge/ask.ts'
import { fitSections } from '../judge/fit-sections.ts'
import type { SectionDraft } from '../judge/fit-sections.ts'
import type { Answer, Inquiry } from '../judge/inquiry.ts'
import { catalogueSection, historySection, toolCallSections, wholeSection } from '../judge/render-run.ts'
import type { AgentRun } from '../runs/agent-run.ts'
import type { Scorer } from '../scoring/scorer.ts'
import type { ToolDefinition } from '../spans/message.ts'
import { defineJudgeScorer, shorten, skipUnfinished, textOr } from './judge-scorer.ts'
import type { JudgeScorerOptions } from './judge-scorer.ts'
import { skip, skipWithoutFact } from './skip.ts'
import { twoDecimals } from './two-decimals.ts'

/** Options of `createToolCallAccuracyScorerLLM`. */
export interface ToolCallAccuracyLLMOptions extends JudgeScorerOptions {
  /** @default 'tool_call_accuracy_llm' */
  readonly id?: string
  /** The tools that the agent could have called. @default the run's own, as recorded */
  readonly availableTools?: readonly { readonly name: string; readonly description?: string }[]
  /** Whether tools that should have been called, and were not, lower the score. @default 'count' */
  readonly missingTools?: 'count' | 'report'
}

/** What the judge found of one call. */
export interface ToolCallEvaluation {
  readonly toolCalled: string
  readonly wasAppropriate: boolean
  readonly verdict: 'appropriate' | 'helpful' | 'inappropriate'
  readonly reasoning: string
  /** The tool that would have been right, where the verdict is `helpful`. */
  readonly betterTool?: string
}

/** What the judge found. */
export interface ToolCallAccuracyAnalysis {
  readonly evaluations: readonly ToolCallEvaluation[]
  /** Tools that should have been called, and were not. */
  readonly missingTools?: readonly string[]
}

const role =
  'You judge whether an agent called the right tools for what its user asked. Judge the choice of the tool, not the wording of the answer; a call that failed may still have been the right one.'
const callVerdicts = ['appropriate', 'helpful', 'inappropriate'] as const
const callQuestion = (position: number): string =>
  `Tool call ${position}: "appropriate" if this tool was right for the request; "helpful" if it was of some use, and another tool was better (name it); "inappropriate" if it was of no use.`
const missingQuestion =
  'Should other offered tools have been called as well, that were not? "some" only if the request cannot be served without them; a tool that you name as the better one for a call does not count.'
const noCallQuestion =
  'The agent called no tool. Was that right? "yes" if the request is too vague and the agent asked back, or can be answered without any of the tools; "no" if a tool should have been called (name those).'

/**
 * Tool call accuracy, by a judge: whether the tools that were called were right for what the user asked.
 *
 * Score: `(appropriate + 0.5 × helpful) / (calls + missing)`, two decimals, 0 to 1. With `missingTools: 'report'`, missing tools
 * are told of and not counted. Without a call: 1 if asking back or answering directly was right, else 0. Without any tools to
 * choose from: `skipped: not-applicable`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createToolCallAccuracyScorerLLM({
 *   model: 'openai/gpt-5-mini',
 *   availableTools: [
 *     { name: 'weather-tool', description: 'Get the current weather at a place' },
 *     { name: 'search-tool', description: 'Search the web' },
 *   ],
 * })
 * const { score, reason } = await scorer.run(run)
 * ```
 *
 * @throws TypeError where the model or an option is wrong
 */
export function createToolCallAccuracyScorerLLM(
  options: ToolCallAccuracyLLMOptions,
): Scorer<unknown, ToolCallAccuracyAnalysis> {
  const { id = 'tool_call_accuracy_llm', availableTools, missingTools = 'count' } = options
  if (missingTools !== 'count' && missingTools !== 'report') {
    throw new TypeError(`Scorer ${id}: expected missingTools to be 'count' or 'report', got ${String(missingTools)}.`)
  }
  const catalogue = (run: AgentRun): readonly ToolDefinition[] => distinct(availableTools ?? run.availableTools ?? [])
  return defineJudgeScorer<ToolCallAccuracyAnalysis>({
    id,
    description: 'Whether the tools that were called were right for the request.',
    options,
    calls: 1,
    identity: {
      availableTools,
      missingTools,
      prompts: [role, callVerdicts, callQuestion(1), missingQuestion, noCallQuestion],
    },
    needs: ['input', 'output', 'toolNames', 'toolArguments', 'toolResults', 'availableTools'],
    drafts: (run) => toDrafts(run, run.userInput ?? '', catalogue(run)),
    assess: async (run, session, context) => {
      const request = textOr(run, 'userInput', id)
      if (typeof request !== 'string') return request
      if (run.toolCalls.length === 0) {
        const unknown = skipUnfinished(run, context, id) ?? skipWithoutFact(run, 'toolCalls', id)
        if (unknown !== undefined) return unknown
      }
      const tools = catalogue(run)
      if (tools.length === 0) {
        const why =
          availableTools === undefined && run.availableTools === undefined
            ? 'it is not recorded which tools the agent was offered'
            : 'the agent was offered no tools'
        return skip('not-applicable', `${id}: ${why}. Pass availableTools.`)
      }
      if (run.toolCalls.length === 0) {
        // Without a call it is the answer that is judged: whether it asks back, or answers directly.
        const answer = textOr(run, 'output', id)
        if (typeof answer !== 'string') return answer
      }
      const sections = fitSections(toDrafts(run, request, tools), session.judge.settings.maxContentBytes)
      const asked = await ask(session, toInquiry(run, sections, tools))
      if (!asked.ok) return asked.score
      return run.toolCalls.length === 0
        ? scoreNoCall(asked.value.answers.get('no_call'), tools)
        : scoreCalls(run, asked.value.answers, tools, missingTools)
    },
  })
}

function toDrafts(run: AgentRun, request: string, tools: readonly ToolDefinition[]): SectionDraft[] {
  return [
    ...historySection(run, 10),
    wholeSection("the user's request", request),
    catalogueSection(tools),
    ...toolCallSections(run.toolCalls),
    ...(run.output === undefined ? [] : [wholeSection("the agent's answer", run.output)]),
  ]
}

function toInquiry(run: AgentRun, sections: Inquiry['sections'], tools: readonly ToolDefinition[]): Inquiry {
  const from = tools.map((_, index) => `t${index + 1}`)
  if (run.toolCalls.length === 0) {
    return {
      role,
      sections,
      questions: [
        {
          id: 'no_call',
          text: noCallQuestion,
          verdicts: ['yes', 'no'],
          picks: { name: 'tools', from, forbidden: ['yes'] },
        },
      ],
      control: { favourable: 'yes', unfavourable: 'no' },
    }
  }
  return {
    role,
    sections,
    questions: [
      ...run.toolCalls.map((_, index) => ({
        id: `call_${index + 1}`,
        text: callQuestion(index + 1),
        verdicts: callVerdicts,
        picks: { name: 'tools', from },
      })),
      {
        id: 'missing',
        text: missingQuestion,
        verdicts: ['none', 'some'],
        picks: { name: 'tools', from, required: ['some'], forbidden: ['none'] },
      },
    ],
    control: { favourable: 'appropriate', unfavourable: 'inappropriate' },
  }
}

function scoreCalls(
  run: AgentRun,
  answers: ReadonlyMap<string, Answer>,
  tools: readonly ToolDefinition[],
  missingTools: 'count' | 'report',
): { status: 'scored'; value: number; explanation: string; analyzeStepResult: ToolCallAccuracyAnalysis } {
  const evaluations = run.toolCalls.map(({ name }, index): ToolCallEvaluation => {
    const answer = answers.get(`call_${index + 1}`)
    const verdict = callVerdicts.find((known) => known === answer?.verdict) ?? 'inappropriate'
    const [betterTool] =
      verdict === 'helpful' ? toNames(answer?.picks ?? [], tools).filter((tool) => tool !== name) : []
    return {
      toolCalled: name,
      wasAppropriate: verdict === 'appropriate',
      verdict,
      reasoning: answer?.reasoning ?? '',
      ...(betterTool !== undefined && { betterTool }),
    }
  })
  const accountedFor = new Set(
    evaluations.flatMap(({ toolCalled, betterTool }) => [toolCalled, betterTool ?? toolCalled]),
  )
  const missing = toNames(answers.get('missing')?.picks ?? [], tools).filter((name) => !accountedFor.has(name))
  const count = (verdict: string): number => evaluations.filter((evaluation) => evaluation.verdict === verdict).length
  const expected = evaluations.length + (missingTools === 'count' ? missing.length : 0)
  return {
    status: 'scored',
    value: twoDecimals((count('appropriate') + 0.5 * count('helpful')) / expected),
    explanation: shorten(
      [
        `${count('appropriate')} of ${evaluations.length} tool calls appropriate${count('helpful') > 0 ? `, ${count('helpful')} helpful` : ''}.`,
        ...evaluations.map(
          ({ toolCalled, verdict, betterTool, reasoning }) =>
            `${toolCalled}: ${verdict}${betterTool === undefined ? '' : `, ${betterTool} was better`}${reasoning === '' ? '' : ` (${reasoning})`}.`,
        ),
        ...(missing.length > 0 ? [`Missing: ${missing.join(', ')}.`] : []),
      ].join(' '),
    ),
    analyzeStepResult: { evaluations, ...(missing.length > 0 && { missingTools: missing }) },
  }
}

function scoreNoCall(
  answer: Answer | undefined,
  tools: readonly ToolDefinition[],
): { status: 'scored'; value: number; explanation: string; analyzeStepResult: ToolCallAccuracyAnalysis } {
  const wasRight = answer?.verdict === 'yes'
  const missing = toNames(answer?.picks ?? [], tools)
  const said = answer?.reasoning ? ` ${answer.reasoning}` : ''
  return {
    status: 'scored',
    value: wasRight ? 1 : 0,
    explanation: shorten(
      `${wasRight ? 'No tool was called, which was right.' : 'No tool was called, where one should have been.'}${said}${missing.length > 0 ? ` Missing: ${missing.join(', ')}.` : ''}`,
    ),
    analyzeStepResult: { evaluations: [], ...(missing.length > 0 && { missingTools: missing }) },
  }
}

function toNames(picks: readonly string[], tools: readonly ToolDefinition[]): string[] {
  return picks.flatMap((pick) => tools[Number(pick.slice(1)) - 1]?.name ?? [])
}

/** A tool that is listed twice could be picked twice. */
function distinct(
  tools: readonly { readonly name: string; readonly description?: string }[],
): readonly ToolDefinition[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}
