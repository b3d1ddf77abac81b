import { createIdDraw } from '../controls/ids.ts'
import { Nonsense } from '../controls/nonsense.ts'
import { askForWord, drawAbsentWord } from '../controls/word-control.ts'
import type { Inquiry, ItemList, Note, Question } from '../inquiry.ts'
import { openDigest, shuffled } from '../randomness.ts'
import type { Randomness } from '../randomness.ts'
import { drawBoundary } from './boundary.ts'
import type { Boundary } from './boundary.ts'
import { textsOf } from './section.ts'
import type { SectionDraft } from './section.ts'
import { toSentences } from './segments.ts'

/** Two versions of a section, and which ids ask about which. */
export interface Versions {
  readonly title: string
  readonly idsByLetter: readonly (readonly [letter: string, ids: readonly string[]])[]
}

/** One call as the judge is to see it: everything that is drawn for it is drawn. */
export interface PreparedCall {
  readonly role: string
  readonly boundary: Boundary
  readonly sections: readonly SectionDraft[]
  /** Questions under the ids that the judge is shown, controls among them, in a random order. */
  readonly questions: readonly Question[]
  readonly lists: readonly ItemList[]
  readonly notes: readonly Note[]
  readonly versions?: Versions
  /** What the shown ids name in the material as well. */
  readonly labels: ReadonlyMap<string, string>
  /** Our name of each shown id of a question that counts. */
  readonly names: ReadonlyMap<string, string>
  /** The controls by shown id: a verdict that praises one voids the reply. */
  readonly controls: ReadonlyMap<string, Question>
  /** Items that a list holds from the beginning, by list. */
  readonly givenItems: ReadonlyMap<string, readonly string[]>
}

/**
 * Draws what is different in every call: the boundary, the ids, the order of the questions, and the controls.
 *
 * @param withControls whether decoys are to be drawn; without, the caller sees to it that the reply can be believed
 */
export function prepareCall(inquiry: Inquiry, randomness: Randomness, withControls: boolean): PreparedCall {
  const texts = textsOf(inquiry.sections)
  const boundary = drawBoundary(texts, randomness)
  const drawId = createIdDraw(boundary, withControls ? openDigest : randomness)
  const names = new Map<string, string>()
  const shownIds = new Map<string, string>()
  const labels = new Map<string, string>()
  const controls = new Map<string, Question>()
  const questions = inquiry.questions.map((question): Question => {
    const ids = question.ids.map((name) => {
      const id = drawId(name, inquiry.decoys?.has(name) === true)
      names.set(id, name)
      shownIds.set(name, id)
      if (question.namesMaterial === true) labels.set(id, name)
      return id
    })
    return { ...question, ids }
  })
  const base = { role: inquiry.role, boundary, labels, names, controls, notes: inquiry.notes ?? [] }
  const lists = inquiry.lists ?? []
  const show = (
    sections: readonly SectionDraft[],
    shown: readonly Question[],
    givenItems: PreparedCall['givenItems'],
    versions?: Versions,
  ): PreparedCall => ({
    ...base,
    sections: sections.map((section) => ({
      ...section,
      fragments: section.fragments.map((fragment) =>
        fragment.idOf === undefined
          ? fragment
          : { ...fragment, text: `${shownIds.get(fragment.idOf) ?? fragment.idOf}: ` },
      ),
    })),
    questions: shuffled(
      shown.map((question) => ({ ...question, ids: shuffled(question.ids, randomness) })),
      randomness,
    ),
    lists,
    givenItems,
    ...(versions !== undefined && { versions }),
  })
  if (!withControls) return show(inquiry.sections, questions, new Map())

  const control = (name: string, question: Question): string => {
    const id = drawId(name, true)
    controls.set(id, question)
    return id
  }
  const given = drawGivenItem(inquiry, randomness, (question) => control('item', question))
  const sections = [...inquiry.sections, ...given.sections]
  const varied = inquiry.sections.find(({ title }) => title === inquiry.vary)
  const candidates = questions.flatMap((question, index) =>
    question.failsNonsense === true ? question.ids.map((id) => ({ index, id })) : [],
  )
  const asked = varied === undefined ? [] : shuffled(candidates, randomness).slice(0, 1)
  if (varied === undefined || asked.length === 0) {
    const needsWord = given.sections.length === 0 && questions.length > 0
    const extra = needsWord ? [wordQuestion(inquiry, texts, randomness, control)] : []
    return show(sections, [...questions, ...extra], given.items)
  }
  const onDecoy = asked.map(({ index, id }) => {
    const question = questions[index] ?? { ids: [], text: '', verdicts: [] }
    const own = control(`decoy of ${names.get(id) ?? id}`, question)
    const label = labels.get(id)
    if (label !== undefined) labels.set(own, label)
    return { index, id: own }
  })
  const letters = shuffled(['A', 'B'], randomness)
  const [real = 'A', decoy = 'B'] = letters
  const withDecoy = sections.flatMap((section) => {
    if (section !== varied) return [section]
    const versions = [
      { letter: real, section },
      {
        letter: decoy,
        section: new Nonsense(
          textsOf([section]),
          inquiry.sections.filter((other) => other !== section),
          randomness,
        ).ofSection(section),
      },
    ]
    return versions
      .toSorted((one, other) => (one.letter < other.letter ? -1 : 1))
      .map(({ letter, section: version }) => ({ ...version, title: `${section.title}, version ${letter}` }))
  })
  const idsByLetter: [string, readonly string[]][] = [
    [real, questions.flatMap(({ ids, failsNonsense }) => (failsNonsense === true ? ids : []))],
    [decoy, onDecoy.map(({ id }) => id)],
  ]
  return show(
    withDecoy,
    questions.map((question, index) => ({
      ...question,
      ids: [...question.ids, ...onDecoy.filter((one) => one.index === index).map(({ id }) => id)],
    })),
    given.items,
    { title: varied.title, idsByLetter: idsByLetter.toSorted(([one], [other]) => (one < other ? -1 : 1)) },
  )
}

/** An item without sense that a list holds from the beginning, shown among what is judged because it is made of its words. */
function drawGivenItem(
  inquiry: Inquiry,
  randomness: Randomness,
  control: (question: Question) => string,
): { readonly sections: readonly SectionDraft[]; readonly items: ReadonlyMap<string, readonly string[]> } {
  const list = inquiry.lists?.find(({ question }) => question !== undefined)
  const text = inquiry.sections
    .find(({ title }) => title === list?.from)
    ?.fragments.map((fragment) => fragment.text)
    .join('')
  if (list?.question === undefined || text === undefined) return { sections: [], items: new Map() }
  const sentences = toSentences(text.slice(0, 4000), 40)
  const sentence = sentences[randomness.integer(Math.max(1, sentences.length))] ?? text
  const id = control({ ids: [], ...list.question })
  const others = inquiry.sections.filter(({ title }) => title !== list.from)
  const nonsense = new Nonsense([text], others, randomness).of(sentence.slice(0, 200))
  return {
    sections: [{ title: `an item of "${list.name}" found before`, fragments: [{ text: `${id}: ${nonsense}\n` }] }],
    items: new Map([[list.name, [id]]]),
  }
}

function wordQuestion(
  inquiry: Inquiry,
  texts: readonly string[],
  randomness: Randomness,
  control: (name: string, question: Question) => string,
): Question {
  const [first] = inquiry.questions
  const [favourable = 'yes', unfavourable = 'no'] = [first?.verdicts[0], first?.verdicts.at(-1)]
  const text = askForWord(drawAbsentWord(texts, randomness), favourable, unfavourable)
  const question: Question = { ids: [], text, verdicts: [favourable, unfavourable] }
  return { ...question, ids: [control('word', question)] }
}
