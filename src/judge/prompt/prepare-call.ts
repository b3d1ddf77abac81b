import { createIdDraw } from '../controls/ids.ts'
import { drawGivenItems } from '../controls/given-items.ts'
import type { GivenItem } from '../controls/given-items.ts'
import { repeatedName } from '../controls/repetitions.ts'
import { drawVersions } from '../controls/versions.ts'
import type { Versions } from '../controls/versions.ts'
import { askForWord, drawAbsentWord } from '../controls/word-control.ts'
import type { Inquiry, ItemList, Note, Question } from '../inquiry.ts'
import { openDigest, shuffled } from '../randomness.ts'
import type { Randomness } from '../randomness.ts'
import { drawBoundary } from './boundary.ts'
import type { Boundary } from './boundary.ts'
import { textsOf } from './section.ts'
import type { SectionDraft } from './section.ts'

/** One call with everything random already drawn. */
export interface PreparedCall {
  readonly role: string
  readonly boundary: Boundary
  readonly sections: readonly SectionDraft[]
  /** Questions and controls under their shown ids, in random order. */
  readonly questions: readonly Question[]
  readonly lists: readonly ItemList[]
  readonly notes: readonly Note[]
  readonly versions?: Versions
  /** The names that the material uses for shown ids. */
  readonly labels: ReadonlyMap<string, string>
  /** Our own id for each shown id of a real question. */
  readonly names: ReadonlyMap<string, string>
  /** The controls by shown id. A verdict that praises one voids the reply. */
  readonly controls: ReadonlyMap<string, Question>
  /** The items that we put into each list. */
  readonly givenItems: ReadonlyMap<string, readonly GivenItem[]>
}

/**
 * Draws what differs in every call: the boundary, the ids, the order of the questions, and the controls. Long material takes several steps.
 *
 * @param withControls whether to draw decoys; if false, the caller verifies that the reply can be trusted
 */
export function* prepareCall(
  inquiry: Inquiry,
  randomness: Randomness,
  withControls: boolean,
): Generator<undefined, PreparedCall> {
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
      if (question.namesMaterial === true) labels.set(id, repeatedName(name))
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
  const given = yield* drawGivenItems(inquiry, randomness, (name, question, isDecoy) =>
    isDecoy ? control(name, question) : drawId(name, false),
  )
  const shown: Inquiry =
    given === undefined ? inquiry : { ...inquiry, sections: [...inquiry.sections, givenSection(given)] }
  const givenItems = new Map(given === undefined ? [] : [[given.list.name, given.items]])
  let decoys = 0
  const varied = yield* drawVersions(shown, questions, randomness, (of, question) => {
    const name = `decoy ${decoys++} of ${of}`
    // A question that says nothing about sense is only asked for balance.
    const id = question.failsNonsense === true ? control(name, question) : drawId(name, true)
    const label = labels.get(of)
    if (label !== undefined) labels.set(id, label)
    return id
  })
  if (varied !== undefined) return show(varied.sections, varied.questions, givenItems, varied.versions)
  const needsWord = given === undefined && questions.length > 0
  const extra = needsWord ? [wordQuestion(inquiry, texts, randomness, control)] : []
  return show(shown.sections, [...questions, ...extra], givenItems)
}

/** Shown as part of the material, because the items are made of its words. */
function givenSection({
  list,
  items,
}: {
  readonly list: ItemList
  readonly items: readonly GivenItem[]
}): SectionDraft {
  return {
    title: `items of "${list.name}" found before`,
    fragments: items.map(({ id, text }) => ({ text: `${id}: ${text}\n` })),
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
