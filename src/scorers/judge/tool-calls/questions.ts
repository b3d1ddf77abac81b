import type { Inquiry, ToolChoice } from '../../../judge/inquiry.ts'
import { promptCallId } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { ToolDefinition } from '../../../model/message.ts'

/** The verdicts on a tool call, best first. */
export const callVerdicts = ['appropriate', 'helpful', 'inappropriate'] as const

/** The verdicts on a run without tool calls: three reasons why that was right, and one for all that is wrong. */
export const noCallVerdicts = ['asked_back', 'answered', 'no_tool_fits', 'wrong'] as const

/** All texts of the prompt, which are part of the version. */
export const toolCallPrompts = {
  role: 'You judge whether an agent called the right tools for what its user asked. Earlier turns are context: the request is the last one. Judge the choice of tools alone, neither the values of their arguments nor the wording of the answer; a call that failed may still have been the right one.',
  call: 'Was this tool call right? "appropriate" if its tool serves the request, or a step on the way, and no other offered tool would have served better; "helpful" if it was of some use, but another offered tool would have served better (name that one); "inappropriate" if it was of no use: a tool for something else, or a call that repeats another for no reason.',
  missing:
    'Should other offered tools have been called as well? "some" if the request cannot be served without them (name them); "none" if not, or if no offered tool could have helped. A tool that was called, or that you name as the better one for a call, does not count.',
  noCall:
    'The agent called no tool. "asked_back" if something is missing without which nobody could act on the request, and the agent asks for it; "answered" if the request can be answered well without a tool, and the agent does so; "no_tool_fits" if none of the offered tools can serve the request, and the agent says so; "wrong" in every other case: a tool should have been called (name it), or the agent claims to have done what only a tool can do, or makes up what only a tool could have told it.',
} as const

/** The questions about that many calls: one for each, and one for missing tools; without a call, whether that was right. */
export function toolCallInquiry(
  sections: readonly SectionDraft[],
  calls: number,
  tools: readonly ToolDefinition[],
): Inquiry {
  const { role, call, missing, noCall } = toolCallPrompts
  const choiceOf = (verdict: string): ToolChoice => ({
    ids: tools.map((_, index) => `t${index + 1}`),
    byName: new Map(tools.map(({ name }, index) => [name, `t${index + 1}`])),
    with: [verdict],
  })
  if (calls === 0) {
    return {
      role,
      sections,
      questions: [{ ids: ['no_call'], text: noCall, verdicts: noCallVerdicts, tools: choiceOf('wrong') }],
    }
  }
  return {
    role,
    sections,
    questions: [
      {
        ids: Array.from({ length: calls }, (_, index) => promptCallId(index)),
        text: call,
        verdicts: callVerdicts,
        tools: choiceOf('helpful'),
      },
      {
        ids: ['missing'],
        text: missing,
        verdicts: ['none', 'some'],
        tools: { ...choiceOf('some'), neededWith: ['some'] },
      },
    ],
  }
}
