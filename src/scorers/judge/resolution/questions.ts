import type { ItemList, Question } from '../../../judge/inquiry.ts'

/** What came of a goal. */
export type GoalVerdict =
  /** The user got it, in accordance with the instructions and with the right values. */
  | 'done'
  /** It was rightly not done: the instructions or the facts forbid it, or a person had to decide. */
  | 'declined'
  /** The user no longer wanted it, for reasons of their own. */
  | 'withdrawn'
  /** The agent rightly waits for the user. */
  | 'open'
  /** A part of it is missing. */
  | 'partly'
  /** It was possible and not done, or the user decided by something false that the agent had said. */
  | 'not'
  /** It was done against the instructions, or with values that are not those that were wanted, or that nothing confirms. */
  | 'wrong'

/** The verdicts on a goal, best first. */
export const goalVerdicts: readonly GoalVerdict[] = ['done', 'declined', 'withdrawn', 'open', 'partly', 'not', 'wrong']

/** The most goals of a run or a conversation. */
export const MAX_GOALS = 8

/** The most statements of the agent that are listed as wrong. */
const MAX_WRONG = 8

/** The texts of the prompt, which are part of the version. */
export const resolutionPrompts = {
  role: `You judge whether an agent handled what its user wanted rightly: by the agent's own instructions, by what its tools were given and returned, and by what the user said. What the agent says shows only what the user was told; it is no evidence that something was done or is true.
Check values before you give a verdict: names, dates, amounts, numbers of items, and each condition that the user set, against the arguments of the calls and their results. A call that returned without an error did what it was asked, unless its result says that it was refused; that the result still shows an old value does not matter.
Judge what was done, not how it was done. Slips of form (no confirmation or another one than prescribed, a question too many, a text beside a call, the order of steps) count only if something was done that the user did not want. A hand-over to a person counts neither for nor against the agent if the refusal before it was right.`,
  goals:
    'what the user wanted to get done or to find out, each in a few words and in the form that the user asked for or agreed to last; an alternative that the user accepts takes the place of what it replaces; a question that only serves a goal is none',
  goal: `What came of this goal at the end?
  "done": the user got it, in accordance with the instructions and with the right values;
  "declined": it was not done, and rightly: the instructions or the facts forbid it, no tool can do it, or a person had to decide. Its reasoning names that instruction or fact; whether the agent named it does not matter;
  "withdrawn": the user no longer wanted it, for reasons of their own or after a right refusal, and not because of something false that the agent had said;
  "open": the agent rightly waits for something that the user has not given yet;
  "partly": a part of it is missing;
  "not": it was possible and allowed and was not done, even if the agent claims it; or the user decided by something false that the agent had said;
  "wrong": it was done although the instructions forbid it; or more than once; or with other values than the user wanted, or than the best ones that were asked for; or with values that nothing confirms and that could have been checked.`,
  overstepped:
    'Did the agent change anything that serves none of these goals: that nobody asked for, that its instructions forbid, or a second time? "no" if it only looked things up, and for what has the verdict "wrong".',
  told: 'what the agent told the user that the instructions or the results contradict: a price, a status, a rule, something said to be done or impossible; also an offer that the instructions forbid. Each in a few words',
} as const

/** Whether something was done beyond the goals. */
export const oversteppedQuestion: Question = {
  ids: ['overstepped'],
  text: resolutionPrompts.overstepped,
  verdicts: ['no', 'yes'],
}

/** The goals that the judge finds. */
export const goalList: ItemList = {
  name: 'goals',
  prefix: 'g',
  instruction: resolutionPrompts.goals,
  question: { text: resolutionPrompts.goal, verdicts: goalVerdicts },
  max: MAX_GOALS,
}

/** What was told wrongly. */
export const toldList: ItemList = {
  name: 'toldWrongly',
  prefix: 't',
  instruction: resolutionPrompts.told,
  max: MAX_WRONG,
  isOptional: true,
}
