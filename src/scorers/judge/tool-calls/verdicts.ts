import type { Finding } from '../../../model/finding.ts'
import type { Answer } from '../../../judge/inquiry.ts'
import { promptCallId } from '../../../judge/prompt/render-run.ts'
import type { ToolDefinition } from '../../../model/message.ts'
import { contentFree, contentOnly, explain } from '../../../model/explanation.ts'
import type { Explanation } from '../../../model/explanation.ts'
import { shorten } from '../judge-scorer.ts'
import { callVerdicts } from './questions.ts'
import { twoDecimals } from '../../two-decimals.ts'

/** The judge's finding about one call. */
export interface ToolCallEvaluation {
  /** The tool. */
  readonly toolCalled: string
  /** Whether the verdict is `appropriate`. */
  readonly wasAppropriate: boolean
  /** `appropriate`: the right call; `helpful`: another one would have been better; `inappropriate`: wrong. */
  readonly verdict: 'appropriate' | 'helpful' | 'inappropriate'
  /** The judge's reasoning. */
  readonly reasoning: string
  /** The better tool, if the verdict is `helpful` and the judge named one. */
  readonly betterTool?: string
}

/** The judge's findings. */
export interface ToolCallAccuracyAnalysis {
  /** Every call, with its verdict. */
  readonly evaluations: readonly ToolCallEvaluation[]
  /** Tools that should have been called. */
  readonly missingTools?: readonly string[]
}

/** The score computed from the judge's answers. */
interface ToolCallScore {
  readonly status: 'scored'
  readonly value: number
  readonly label?: 'fail'
  readonly explanation: Explanation
  readonly findings: readonly Finding[]
  readonly analyzeStepResult: ToolCallAccuracyAnalysis
}

/**
 * The score of the calls. A missing tool counts once, unless it was called, or is already the better tool of a helpful call.
 */
export function scoreCalls(
  called: readonly string[],
  answers: ReadonlyMap<string, Answer>,
  tools: readonly ToolDefinition[],
  missingTools: 'count' | 'report',
): ToolCallScore {
  const evaluations = called.map((name, index) => toEvaluation(name, answers.get(promptCallId(index)), tools))
  const accountedFor = new Set(
    evaluations.flatMap(({ toolCalled, betterTool }) => [toolCalled, betterTool ?? toolCalled]),
  )
  const missing = toNames(answers.get('missing'), tools).filter((name) => !accountedFor.has(name))
  const count = (verdict: string): number => evaluations.filter((evaluation) => evaluation.verdict === verdict).length
  const expected = evaluations.length + (missingTools === 'count' ? missing.length : 0)
  return {
    status: 'scored',
    value: twoDecimals((count('appropriate') + 0.5 * count('helpful')) / expected),
    // Without the tool, the request cannot be served.
    ...(missingTools === 'count' && missing.length > 0 && { label: 'fail' as const }),
    explanation: explainCalls(evaluations, missing),
    findings: [
      ...evaluations.map(({ toolCalled, verdict, reasoning }, index): Finding => ({
        about: 'call',
        verdict,
        rating: verdict === 'appropriate' ? 'good' : verdict === 'helpful' ? 'open' : 'bad',
        text: toolCalled,
        reason: reasoning,
        places: [{ in: 'call', index }],
      })),
      ...missing.map(toMissing),
    ],
    analyzeStepResult: { evaluations, ...(missing.length > 0 && { missingTools: missing }) },
  }
}

/** Why it was right to call no tool, by verdict. */
const noCallReasons: Readonly<Record<string, string>> = {
  asked_back: 'the agent asked for what was missing',
  answered: 'the request needed none',
  no_tool_fits: 'none of the offered tools fits, and the agent says so',
}

/** The score of a run without calls. */
export function scoreNoCall(answer: Answer | undefined, tools: readonly ToolDefinition[]): ToolCallScore {
  const why = noCallReasons[answer?.verdict ?? 'wrong']
  const missing = toNames(answer, tools)
  const said = `No tool was called, which was ${why === undefined ? 'wrong' : `right: ${why}`}.`
  const reasoning = answer?.reasoning ? ` ${answer.reasoning}` : ''
  return {
    status: 'scored',
    value: why === undefined ? 0 : 1,
    explanation: shorten(explain`${contentFree(said)}${contentOnly(reasoning)}${explainMissing(missing)}`),
    findings: missing.map(toMissing),
    analyzeStepResult: { evaluations: [], ...(missing.length > 0 && { missingTools: missing }) },
  }
}

function explainCalls(evaluations: readonly ToolCallEvaluation[], missing: readonly string[]): Explanation {
  const count = (verdict: string): number => evaluations.filter((evaluation) => evaluation.verdict === verdict).length
  const helpful = count('helpful') > 0 ? `, ${count('helpful')} helpful` : ''
  // Readers look for what lowers the score, and a long run has no room for everything.
  const calls = evaluations
    .toSorted((one, other) => Number(one.wasAppropriate) - Number(other.wasAppropriate))
    .map(({ toolCalled, verdict, betterTool, reasoning }) => {
      const better = betterTool === undefined ? '' : `, ${betterTool} was better`
      return ` ${toolCalled}: ${verdict}${better}${reasoning === '' ? '' : ` (${reasoning})`}.`
    })
  return shorten(
    explain`${count('appropriate')} of ${evaluations.length} tool calls appropriate${contentFree(helpful)}.${explainMissing(missing)}${contentOnly(calls.join(''))}`,
  )
}

function toMissing(name: string): Finding {
  return { about: 'tool', verdict: 'missing', rating: 'bad', text: name }
}

/** Tool names may be content of the run; their number is not. */
function explainMissing(missing: readonly string[]): Explanation {
  if (missing.length === 0) return contentFree('')
  return { text: ` Missing: ${missing.join(', ')}.`, withoutContent: ` Missing tools: ${missing.length}.` }
}

function toEvaluation(
  toolCalled: string,
  answer: Answer | undefined,
  tools: readonly ToolDefinition[],
): ToolCallEvaluation {
  const verdict = callVerdicts.find((known) => known === answer?.verdict) ?? 'inappropriate'
  const [betterTool] = verdict === 'helpful' ? toNames(answer, tools).filter((tool) => tool !== toolCalled) : []
  return {
    toolCalled,
    wasAppropriate: verdict === 'appropriate',
    verdict,
    reasoning: answer?.reasoning ?? '',
    ...(betterTool !== undefined && { betterTool }),
  }
}

function toNames(answer: Answer | undefined, tools: readonly ToolDefinition[]): string[] {
  return (answer?.tools ?? []).flatMap((id) => tools[Number(id.slice(1)) - 1]?.name ?? [])
}
