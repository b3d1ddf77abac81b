import type { Inquiry, Question } from '../inquiry.ts'
import type { SectionDraft } from '../prompt/section.ts'
import { shuffled } from '../randomness.ts'
import type { Randomness } from '../randomness.ts'
import { Nonsense } from './nonsense.ts'

/** The versions of a section, one of which is real, and the ids that ask about each. */
export interface Versions {
  readonly title: string
  readonly idsByLetter: readonly (readonly [letter: string, ids: readonly string[]])[]
  /** The version that lists and notes are about; absent if there are none, so that nothing reveals which version is real. */
  readonly listsAbout?: string
}

/** The sections and questions of a call that shows versions. */
export interface WithVersions {
  readonly sections: readonly SectionDraft[]
  readonly questions: readonly Question[]
  readonly versions: Versions
}

/** With more questions than this, asking all of them about a decoy too would cost too much. */
const MOST_BALANCED = 10
/** With this few questions about a short text, a second decoy is affordable. */
const MOST_BALANCED_TWICE = 3
const LONGEST_TWICE = 800

/**
 * Adds decoys of the varied section. All questions are asked about each version, so that nothing reveals the real one. If lists or notes
 * reveal it anyway, or there are many questions, only one question is asked about one decoy.
 *
 * @param draw returns the id to show for a question that does not count
 * @returns `undefined` if no question is known to deserve the last verdict for a text without sense
 */
export function* drawVersions(
  inquiry: Inquiry,
  questions: readonly Question[],
  randomness: Randomness,
  draw: (id: string, question: Question) => string,
): Generator<undefined, WithVersions | undefined> {
  const { sections, vary, lists = [], notes = [] } = inquiry
  const varied = sections.find(({ title }) => title === vary)
  const known = questions.flatMap((question) => (question.failsNonsense === true ? question.ids : []))
  if (varied === undefined || known.length === 0) return undefined
  const asked = questions.reduce((sum, { ids }) => sum + ids.length, 0)
  const isOpen = lists.length > 0 || notes.length > 0
  const isBalanced = !isOpen && asked <= MOST_BALANCED
  const length = varied.fragments.reduce((sum, { text }) => sum + text.length, 0)
  const decoys = isBalanced && asked <= MOST_BALANCED_TWICE && length <= LONGEST_TWICE ? 2 : 1
  const single = known[randomness.integer(known.length)]
  const [real = 'A', ...others] = shuffled(['A', 'B', 'C'].slice(0, decoys + 1), randomness)
  const nonsense = yield* Nonsense.create(
    varied.fragments.map(({ text }) => text),
    sections.filter((section) => section !== varied),
    randomness,
  )
  const byLetter = new Map<string, { readonly section: SectionDraft; readonly ids: string[] }>([
    [real, { section: varied, ids: questions.flatMap(({ ids }) => ids) }],
  ])
  for (const letter of others) byLetter.set(letter, { section: yield* nonsense.ofSection(varied), ids: [] })
  const withDecoys = questions.map((question) => {
    const onDecoys = others.flatMap((letter) =>
      question.ids
        .filter((id) => isBalanced || id === single)
        .map((id) => {
          const shown = draw(id, question)
          byLetter.get(letter)?.ids.push(shown)
          return shown
        }),
    )
    return { ...question, ids: [...question.ids, ...onDecoys] }
  })
  const inOrder = [...byLetter].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return {
    sections: sections.flatMap((section) =>
      section === varied
        ? inOrder.map(([letter, version]) => ({ ...version.section, title: `${section.title}, version ${letter}` }))
        : [section],
    ),
    questions: withDecoys,
    versions: {
      title: varied.title,
      idsByLetter: inOrder.map(([letter, { ids }]) => [letter, shuffled(ids, randomness)]),
      ...(isOpen && { listsAbout: real }),
    },
  }
}
