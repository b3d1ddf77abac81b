import type { Answer, Question } from '../inquiry.ts'

/** A judge that guesses which questions are about a decoy is right about this many in one of 16 tries. */
const LEAST_DECOYS = 4

/** The name of a question that is asked again under another id; 0 is the question itself. */
export function repetitionName(name: string, repetition: number): string {
  return repetition === 0 ? name : `${name} again ${repetition}`
}

/** The name of the question that a name repeats, or the name itself. */
export function repeatedName(name: string): string {
  return name.replace(/ again \d+$/, '')
}

/** Asks each question that nonsense must fail under several ids if there are only few of them. */
export function repeatQuestions(questions: readonly Question[]): Question[] {
  const few = questions.flatMap(({ ids, failsNonsense }) => (failsNonsense === true ? ids : []))
  const times = Math.max(1, Math.ceil(LEAST_DECOYS / few.length))
  return questions.map((question) =>
    question.failsNonsense !== true
      ? question
      : {
          ...question,
          ids: question.ids.flatMap((name) => Array.from({ length: times }, (_, index) => repetitionName(name, index))),
        },
  )
}

/** One answer to each question: the one in the middle, or the less favourable of two. */
export function settleRepetitions(
  questions: readonly Question[],
  answers: ReadonlyMap<string, Answer>,
): ReadonlyMap<string, Answer> {
  const settled = new Map<string, Answer>()
  for (const { ids, verdicts } of questions) {
    for (const [name, repetitions] of Map.groupBy(ids, repeatedName)) {
      const given = repetitions.flatMap((id) => answers.get(id) ?? [])
      const inOrder = given.toSorted((one, other) => verdicts.indexOf(one.verdict) - verdicts.indexOf(other.verdict))
      const middle = inOrder[Math.floor(inOrder.length / 2)]
      if (middle !== undefined) settled.set(name, middle)
    }
  }
  return settled
}
