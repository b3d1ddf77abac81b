import { contentFree } from '../../../model/explanation.ts'
import { inquire } from '../../../judge/judging.ts'
import { catalogueSection, historySection, mainSection, toolCallsSection } from '../../../judge/prompt/render-run.ts'
import type { RunMaterial } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Scorer } from '../../../scoring/scorer.ts'
import { isRecord } from '../../../spans/json.ts'
import type { ToolDefinition } from '../../../model/message.ts'
import { defineJudgeScorer, judgeKeys, readJudgeOptions, skipUnjudgeable, textOr } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { expectOption, isTextOrNone } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { skipWithoutChoices, skipWithoutFact } from '../../../scoring/absence.ts'
import { skip } from '../../skip.ts'
import { callVerdicts, noCallVerdicts, toolCallInquiry, toolCallPrompts } from './questions.ts'
import { scoreCalls, scoreNoCall } from './verdicts.ts'
import type { ToolCallAccuracyAnalysis } from './verdicts.ts'

/** Options of `createToolCallAccuracyScorerLLM`. */
export interface ToolCallAccuracyLLMOptions extends JudgeScorerOptions {
  /** The tools that the agent could call. @default the run's own, as recorded */
  readonly availableTools?: readonly { readonly name: string; readonly description?: string }[]
  /** Whether tools that should have been called lower the score. @default 'count' */
  readonly missingTools?: 'count' | 'report'
}

const KNOWN: KeysOf<ToolCallAccuracyLLMOptions> = { ...judgeKeys, availableTools: true, missingTools: true }

/**
 * Tool call accuracy, by a judge: whether the called tools were right for the user's request.
 *
 * Score: `(appropriate + 0.5 × helpful) / (calls + missing)`, two decimals, 0 to 1. With `missingTools: 'report'`, missing tools are
 * reported but not counted. Without a call: 1 if asking back, answering directly, or saying that no tool fits was right,
 * otherwise 0. Without any tools to choose from
 * `skipped: not-applicable`. One judge call, and one more for every 120 calls of the run.
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
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createToolCallAccuracyScorerLLM(
  options: ToolCallAccuracyLLMOptions,
): Scorer<unknown, ToolCallAccuracyAnalysis> {
  const factory = 'createToolCallAccuracyScorerLLM'
  const { id = 'tool_call_accuracy_llm', ...more } = readJudgeOptions(factory, options, KNOWN)
  const { availableTools, missingTools = 'count' } = more
  const isKnown = missingTools === 'count' || missingTools === 'report'
  expectOption(isKnown, factory, "missingTools to be 'count' or 'report'", missingTools)
  const areTools = availableTools === undefined || isCatalogue(availableTools)
  expectOption(areTools, factory, 'availableTools to be a list of { name, description? }', availableTools)
  const catalogue = (run: AgentRun): readonly ToolDefinition[] => distinct(availableTools ?? run.availableTools ?? [])
  return defineJudgeScorer<ToolCallAccuracyAnalysis>({
    id,
    description: 'Whether the tools that were called were right for the request.',
    options,
    calls: 1,
    answers: (run) => run.toolCalls.length + 1,
    identity: {
      availableTools,
      missingTools,
      prompts: [toolCallPrompts, callVerdicts, noCallVerdicts],
    },
    readsHandOver: true,
    needs: ['input', 'output', 'toolNames', 'toolArguments', 'toolResults', 'availableTools'],
    drafts: (run) => toDrafts(run, run.userInput ?? '', catalogue(run), {}),
    assess: async (run, session, context) => {
      const request = textOr(run, 'userInput', id)
      if (typeof request !== 'string') return request
      const failed = skipWithoutChoices(run, id)
      if (failed !== undefined) return failed
      if (run.toolCalls.length === 0) {
        const unknown = skipUnjudgeable(run, context, id) ?? skipWithoutFact(run, 'toolCalls', id)
        if (unknown !== undefined) return unknown
      }
      const tools = catalogue(run)
      if (tools.length === 0) {
        const why =
          availableTools === undefined && run.availableTools === undefined
            ? 'it is not recorded which tools the agent was offered'
            : 'the agent was offered no tools'
        return skip('not-applicable', contentFree(`${id}: ${why}. Pass availableTools.`))
      }
      if (run.toolCalls.length === 0) {
        // Without a call, the answer is judged: whether it asks back or answers directly.
        const answer = textOr(run, 'output', id)
        if (typeof answer !== 'string') return answer
      }
      const called = run.toolCalls.map(({ name }) => name)
      const asked = await inquire(
        session,
        toolCallInquiry(toDrafts(run, request, tools, context), called.length, tools),
      )
      if (!asked.ok) return asked.score
      const { answers } = asked.value
      return called.length === 0
        ? scoreNoCall(answers.get('no_call'), tools)
        : scoreCalls(called, answers, tools, missingTools)
    },
  })
}

function toDrafts(
  run: AgentRun,
  request: string,
  tools: readonly ToolDefinition[],
  { handOver }: RunMaterial,
): SectionDraft[] {
  return [
    ...historySection(run, { history: 10 }),
    mainSection("the user's request", request),
    catalogueSection(tools),
    ...toolCallsSection(run, { handOver, isSplit: true }),
    ...(run.output === undefined ? [] : [mainSection("the agent's answer", run.output)]),
  ]
}

/** Tools may have additional properties, so that an agent's tools can be passed unchanged. */
function isCatalogue(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((tool) => isRecord(tool) && typeof tool.name === 'string' && isTextOrNone(tool.description))
  )
}

/** Removes duplicate tools, which could be picked twice. */
function distinct(
  tools: readonly { readonly name: string; readonly description?: string }[],
): readonly ToolDefinition[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}
