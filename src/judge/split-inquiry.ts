import type { Inquiry, Question } from './inquiry.ts'
import type { SectionDraft } from './prompt/section.ts'

/** The number of answers requested by id, without items that the judge is yet to find. */
export function countAnswers({ questions }: Pick<Inquiry, 'questions'>): number {
  return questions.reduce((sum, { ids }) => sum + ids.length, 0)
}

/**
 * Splits an inquiry into as few parts as possible. Each requests only as many answers as fit into one reply, and omits fragments about
 * other ids. Lists and notes go into the first part.
 */
export function splitInquiry(inquiry: Inquiry, answersPerPart: number): readonly Inquiry[] {
  const total = countAnswers(inquiry)
  const parts = Math.ceil(total / answersPerPart)
  if (parts <= 1) return [inquiry]
  const size = Math.ceil(total / parts)
  const { lists, notes, ...shared } = inquiry
  return Array.from({ length: parts }, (_, index) => {
    const questions = slice(inquiry.questions, index * size, (index + 1) * size)
    return {
      ...shared,
      sections: sectionsAbout(inquiry.sections, new Set(questions.flatMap(({ ids }) => ids))),
      questions,
      ...(index === 0 && lists !== undefined && { lists }),
      ...(index === 0 && notes !== undefined && { notes }),
    }
  })
}

/** Removes fragments about other ids, and says so in the titles. */
function sectionsAbout(sections: readonly SectionDraft[], ids: ReadonlySet<string>): SectionDraft[] {
  return sections.map((section) => {
    const fragments = section.fragments.filter(({ about }) => about === undefined || ids.has(about))
    return fragments.length === section.fragments.length
      ? section
      : { title: `${section.title}; details of those that are not asked about are left out`, fragments }
  })
}

/** The questions about the ids from `start` to `end`, counted over all questions. */
function slice(questions: readonly Question[], start: number, end: number): Question[] {
  let before = 0
  return questions.flatMap((question) => {
    const ids = question.ids.slice(Math.max(0, start - before), Math.max(0, end - before))
    before += question.ids.length
    return ids.length === 0 ? [] : [{ ...question, ids }]
  })
}
