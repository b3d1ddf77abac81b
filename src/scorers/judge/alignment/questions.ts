import type { ItemList, Note, Question } from '../../../judge/inquiry.ts'

/** What a response is judged by. */
export type AlignmentSide = 'user' | 'system'

/** The role of the judge, and the meaning of its levels. */
export const alignmentRole =
  "You judge how well an agent's response is aligned with what it was asked: with the user's request, with the system instructions, or with each of the two on its own. Questions about the request, and about what the user needs or asked for, are about the request only; questions about the system instructions are about these only. Earlier turns are context: judge the response to the last request. What the agent did by tool calls that came out well counts as done. The levels mean: 1 = fully; 0.75 = with a slight lack; 0.5 = in part, with something noticeable missing or wrong; 0.25 = hardly; 0 = not at all, and where the response makes no sense."

/** The levels of a dimension, best first, with their values. */
export const alignmentLevels = ['1', '0.75', '0.5', '0.25', '0'] as const

/** The three dimensions of one side that have levels; ids are `<side>.<dimension>`. */
export function alignmentQuestions(side: AlignmentSide): Question[] {
  const ask = (dimension: string, text: string): Question => ({
    ids: [`${side}.${dimension}`],
    text,
    verdicts: alignmentLevels,
    raising: 3,
    failsNonsense: true,
  })
  return side === 'user'
    ? [
        ask(
          'intent',
          "How far does the response do what the user's request is at its core about? Where the request cannot be met without knowing more, asking for it does; a refusal does not.",
        ),
        ask('completeness', 'How much of what the user needs is there? Judge what is missing, not how it is put.'),
        ask(
          'appropriateness',
          'How well do the form (list, code, table, length, language) and the tone of the response fit what the user asked for?',
        ),
      ]
    : [
        ask('intent', 'How far does the response behave as the system instructions want the agent to behave?'),
        ask(
          'completeness',
          'How completely does the response keep the rules of the system instructions that apply here? Rules for other situations do not count.',
        ),
        ask(
          'appropriateness',
          'How well do the form and the tone of the response fit what the system instructions specify? "1" where they specify nothing.',
        ),
      ]
}

/** The requirements of one side, which are listed and judged one by one. */
export function requirementsList(side: AlignmentSide): ItemList {
  return {
    name: `${side}Requirements`,
    prefix: side === 'user' ? 'u' : 's',
    instruction:
      side === 'user'
        ? "Every single requirement that the user's last request states or clearly implies, one item each, none twice"
        : 'Every single constraint of the system instructions that applies to this response, one item each, none twice',
    question: { text: 'Does the response fulfil it? "no" where it does so only in part.', verdicts: ['yes', 'no'] },
    max: 20,
    from: side === 'user' ? "the user's request" : "the agent's system instructions",
  }
}

/** The judge's explanations, which do not count. */
export function alignmentNotes(sides: readonly AlignmentSide[]): Note[] {
  return sides.flatMap((side) => [
    {
      name: `${side}Intent`,
      instruction:
        side === 'user'
          ? 'what the user mainly wants, in a few words'
          : 'what the system instructions mainly want of the agent, in a few words',
    },
    {
      name: `${side}Missing`,
      instruction: 'what is missing from the response, a few words each; [] if nothing',
      list: true,
    },
    { name: `${side}Form`, instruction: '"yes" if the form of the response fits, else "no"' },
    { name: `${side}Tone`, instruction: '"yes" if the tone of the response fits, else "no"' },
    { name: `${side}Assessment`, instruction: 'the judgement in one or two sentences' },
  ])
}
