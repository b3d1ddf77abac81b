import type { Inquiry, Question } from './inquiry.ts'

/** Answers that an inquiry asks for by id; items that the judge is yet to find are not among them. */
export function countAnswers({ questions }: Pick<Inquiry, 'questions'>): number {
  return questions.reduce((sum, { ids }) => sum + ids.length, 0)
}

/**
 * An inquiry in as few parts as can be, each of which asks for no more answers than fit into one reply. All of them show the
 * same material; lists and notes are asked for in the first.
 */
export function splitInquiry(inquiry: Inquiry, answersPerPart: number): readonly Inquiry[] {
  const total = countAnswers(inquiry)
  const parts = Math.ceil(total / answersPerPart)
  if (parts <= 1) return [inquiry]
  const size = Math.ceil(total / parts)
  const { lists, notes, ...shared } = inquiry
  return Array.from({ length: parts }, (_, index) => ({
    ...shared,
    questions: slice(inquiry.questions, index * size, (index + 1) * size),
    ...(index === 0 && lists !== undefined && { lists }),
    ...(index === 0 && notes !== undefined && { notes }),
  }))
}

/** The questions of the ids from `start` to `end`, counted over all questions. */
function slice(questions: readonly Question[], start: number, end: number): Question[] {
  let before = 0
  return questions.flatMap((question) => {
    const ids = question.ids.slice(Math.max(0, start - before), Math.max(0, end - before))
    before += question.ids.length
    return ids.length === 0 ? [] : [{ ...question, ids }]
  })
}
