import { inSlices } from '../scoring/in-slices.ts'
import { askInquiry } from './ask-inquiry.ts'
import { compromised, praisesNonsense } from './controls/compromised.ts'
import type { ControlAnswer } from './controls/compromised.ts'
import { Nonsense } from './controls/nonsense.ts'
import { repeatQuestions, settleRepetitions } from './controls/repetitions.ts'
import type { Answer, Answers, Inquiry, Item, Question } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import { textsOf } from './prompt/section.ts'
import { boundSections } from './prompt/bound-sections.ts'
import type { SectionDraft } from './prompt/section.ts'
import { shuffled } from './randomness.ts'
import type { Randomness } from './randomness.ts'
import type { JudgeSession } from './session.ts'
import { verifyItems } from './verify-items.ts'

/**
 * Asks in several calls, so that a judge that recognises controls finds nothing to recognise them by.
 *
 * Lists come first, without verdicts. Each question is asked twice: about the material, and about a copy whose varied section makes no
 * sense. Both versions are in both prompts, so that an instruction hidden in either one affects both calls. A single question is asked under
 * several ids, so that guessing does not pay. Verdicts on items come last, in
 * a prompt without the source text: items, sentences of the source text and nonsense items are one shuffled list of similar texts. A reply
 * that praises nonsense is void. Items that contradict a sentence do not count, but the sentences do.
 */
export async function askHardened(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<Answers>> {
  const { questions, lists = [], notes = [], ...material } = inquiry
  const answers = new Map<string, Answer>()
  const texts = new Map<string, readonly string[]>()
  let listed: Answers | undefined
  if (lists.length > 0) {
    const bare = lists.map((list) => ({ ...list, question: undefined }))
    const outcome = await askInquiry(
      session,
      withoutVary({ ...material, questions: [], lists: bare, notes: questions.length > 0 ? [] : notes }),
      false,
    )
    if (!outcome.ok) return outcome
    listed = outcome.value
    for (const [name, text] of listed.notes) texts.set(name, text)
  }
  if (questions.length > 0) {
    const outcome = await askOfBoth(session, { ...material, questions, notes })
    if (!outcome.ok) return outcome
    for (const [id, answer] of outcome.value.answers) answers.set(id, answer)
    for (const [name, text] of outcome.value.notes) texts.set(name, text)
  }
  const none = new Map<string, readonly Item[]>()
  const verified =
    listed === undefined ? { ok: true as const, value: none } : await verifyItems(session, inquiry, listed)
  if (!verified.ok) return verified
  return {
    ok: true,
    value: {
      answers,
      items: verified.value,
      sentences: listed?.sentences ?? new Map<string, readonly string[]>(),
      notes: texts,
    },
  }
}

function withoutVary(inquiry: Inquiry): Inquiry {
  return { ...inquiry, vary: undefined }
}

/** Asks the questions about the material and about its decoy, in random order. */
async function askOfBoth(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<Answers>> {
  const { vary } = inquiry
  const { randomness } = session.judge.world
  const whole = inquiry.sections.find(({ title }) => title === vary)
  const [varied] = boundSections(whole === undefined ? [] : [whole], session.judge.settings.maxPromptBytes)
  const sections = inquiry.sections.map((section) => (section === whole ? (varied ?? section) : section))
  if (varied === undefined || !inquiry.questions.some(({ failsNonsense }) => failsNonsense)) {
    return askInquiry(session, inquiry, true)
  }
  const questions = repeatQuestions(inquiry.questions)
  const others = sections.filter((section) => section !== varied)
  const decoy = await inSlices(decoyOf(varied, others, randomness))
  const about = (shown: SectionDraft, other: SectionDraft): Inquiry => ({
    ...withoutVary(inquiry),
    questions,
    sections: [
      ...sections.map((section) => (section === varied ? shown : section)),
      { title: 'another text, which is not judged', fragments: other.fragments },
    ],
  })
  const ofDecoy: Inquiry = { ...about(decoy, varied), decoys: new Set(questions.flatMap(({ ids }) => ids)) }
  let own: JudgeOutcome<Answers> | undefined
  for (const asked of shuffled([about(varied, decoy), ofDecoy], randomness)) {
    const outcome = await askInquiry(session, asked, false)
    if (!outcome.ok) return outcome
    if (asked !== ofDecoy) own = outcome
    else if (praisesNonsense(questions.flatMap((question) => controlsOf(question, outcome.value.answers)))) {
      return compromised(
        session.judge.name,
        'answered a control question wrongly, and praised a text that makes no sense',
      )
    }
  }
  if (own === undefined) throw new Error('expected the material to have been asked about')
  return own.ok ? { ok: true, value: { ...own.value, answers: settleRepetitions(questions, own.value.answers) } } : own
}

function* decoyOf(
  varied: SectionDraft,
  others: readonly SectionDraft[],
  randomness: Randomness,
): Generator<undefined, SectionDraft> {
  const nonsense = yield* Nonsense.create(textsOf([varied]), others, randomness)
  return yield* nonsense.ofSection(varied)
}

function controlsOf(question: Question, answers: ReadonlyMap<string, Answer>): ControlAnswer[] {
  if (question.failsNonsense !== true) return []
  return question.ids.map((id) => ({ question, verdict: answers.get(id)?.verdict ?? '' }))
}
