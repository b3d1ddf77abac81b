import type { Inquiry, Picks } from '../../../judge/inquiry.ts'
import { promptCallId } from '../../../judge/prompt/render-run.ts'
import type { SectionDraft } from '../../../judge/prompt/section.ts'
import type { ToolDefinition } from '../../../model/message.ts'

/** The verdicts on a tool call, best first. */
export const callVerdicts = ['appropriate', 'helpful', 'inappropriate'] as const

/** All texts of the prompt, which are part of the version. */
export const toolCallPrompts = {
  role: 'You judge whether an agent called the right tools for what its user asked. Earlier turns are context: the request is the last one. Judge the choice of tools, not the wording of the answer; a call that failed may still have been the right one.',
  call: 'Was this tool call right? "appropriate" if its tool serves the request, or a step on the way, and no other offered tool would have served better; "helpful" if it was of some use, and another offered tool would have served better (name that one); "inappropriate" if it was of no use, such as a tool for something else, a call that repeats another for no reason, or any call where the request makes no sense.',
  missing:
    'Should other offered tools have been called as well, that were not? "some" only if the request cannot be served without them, else "none". A tool that was called, or that you name as the better one for a call, does not count.',
  noCall:
    'The agent called no tool. Was that right? "yes" if the request is too vague to act on and the agent asked back, or can be answered well without any of the tools; "no" if a tool should have been called (name it), also where the agent only says that it did something, or makes up what a tool would have told it, and where its answer makes no sense.',
} as const

/** The questions about that many calls: one for each, and one for missing tools; without a call, whether that was right. */
export function toolCallInquiry(
  sections: readonly SectionDraft[],
  calls: number,
  tools: readonly ToolDefinition[],
): Inquiry {
  const { role, call, missing, noCall } = toolCallPrompts
  const picks: Picks = {
    name: 'tools',
    from: tools.map((_, index) => `t${index + 1}`),
    byName: new Map(tools.map(({ name }, index) => [name, `t${index + 1}`])),
  }
  if (calls === 0) {
    return {
      role,
      sections,
      questions: [
        {
          ids: ['no_call'],
          text: noCall,
          verdicts: ['yes', 'no'],
          picks: { ...picks, forbidden: ['yes'] },
          failsNonsense: true,
        },
      ],
      vary: "the agent's answer",
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
        raising: 2,
        picks: { ...picks, wanted: ['helpful'] },
        namesMaterial: true,
        failsNonsense: true,
      },
      {
        ids: ['missing'],
        text: missing,
        verdicts: ['none', 'some'],
        picks: { ...picks, required: ['some'], forbidden: ['none'] },
      },
    ],
    vary: "the user's request",
  }
}
