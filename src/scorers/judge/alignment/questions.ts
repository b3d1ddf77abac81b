import type { ItemList, Note, Question } from '../../../judge/inquiry.ts'

/** What a response is judged by. */
export type AlignmentSide = 'user' | 'system'

/** The role of the judge, and the meaning of its levels. */
export const alignmentRole =
  'You judge how well an agent\'s response does what it was asked to do: by the user\'s last request (ids that begin with "user"), by the system instructions ("system"), each on its own. Earlier turns are context. What tool calls did successfully counts as done; what the response claims to have done without a call that did it counts as not done. First make out exactly what was asked. A response to a similar but different request, words about a task in place of its result, and a wrong result are not what was asked, however well they are written; where a result can be checked (a calculation, a translation, code, a count), check it. Levels: 1 = fully, nothing lacking or wrong; 0.75 = with a slight lack; 0.5 = in part, or with a noticeable mistake; 0.25 = hardly, such as something related in place of what was asked, or the main point wrong; 0 = not at all.'

/** The levels of a dimension, best first, with their values. */
export const alignmentLevels = ['1', '0.75', '0.5', '0.25', '0'] as const

/** The three dimensions of one side that have levels; ids are `<side>.<dimension>`. */
export function alignmentQuestions(side: AlignmentSide): Question[] {
  const ask = (dimension: string, text: string): Question => ({
    ids: [`${side}.${dimension}`],
    text,
    verdicts: alignmentLevels,
  })
  return side === 'user'
    ? [
        ask(
          'intent',
          'How far does the response do, and get right, what the request is at its core about? Where the request cannot be met without knowing more, asking for it does fully; where no tool and no words could meet it, saying so openly does fully; a needless refusal does not at all.',
        ),
        ask(
          'completeness',
          'How much of what the user needs is there? Judge what is missing, not how it is put. A lack counts once: where the task itself is not done, that counts in the intent, and only what else is missing counts here.',
        ),
        ask(
          'appropriateness',
          'How well do form (list, code, table, length, language) and tone fit what the user asked for, without additions that get in the way? Judge the form alone, also where the content is wrong or missing.',
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
          'How well do form and tone fit what the system instructions specify? "1" where they specify nothing.',
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
        ? "every requirement that the user's last request states or clearly implies: each task with what it is about, and each form, count or length that the user would check by itself. Sentences that require nothing (data, context, a greeting) are no requirements"
        : 'every constraint of the system instructions that applies to this response. Sentences that require nothing are no constraints',
    question: {
      text: '"yes" if the response fulfils it, correctly and in full; "partly" if a part or a detail of it is lacking or wrong; "no" if not, or if something else was done in its place.',
      verdicts: ['yes', 'partly', 'no'],
    },
    max: 20,
  }
}

/** The judge's explanations, which do not count. */
export function alignmentNotes(sides: readonly AlignmentSide[]): Note[] {
  return sides.flatMap((side) => [
    {
      name: `${side}Intent`,
      instruction:
        side === 'user'
          ? 'what exactly the user wants, in a few words'
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
