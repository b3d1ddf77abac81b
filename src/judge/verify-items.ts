import { inSlices } from '../scoring/in-slices.ts'
import { askInquiry } from './ask-inquiry.ts'
import { compromised, hidden, praisesNonsense } from './controls/compromised.ts'
import { hidesFault, NO_ITEM, noItemRule } from './controls/contradiction.ts'
import { Nonsense } from './controls/nonsense.ts'
import type { Answers, Inquiry, Item, ItemList } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import type { Fragment, SectionDraft } from './prompt/section.ts'
import { countWords, toLine } from './prompt/segments.ts'
import { shuffled } from './randomness.ts'
import type { Randomness } from './randomness.ts'
import type { JudgeSession } from './session.ts'

/** Fewest decoys in a list. A judge that guesses which texts are decoys finds all of them in at most one of 32 tries. */
const LEAST_DECOYS = 5
/** With so many decoys, no other group of texts gets one: a reply has a verdict on every text, and its length is limited. */
const ENOUGH_DECOYS = 24

interface Text {
  readonly name: string
  readonly text: string
}

/** What is asked about one list. */
interface Asked {
  readonly list: ItemList
  readonly question: NonNullable<ItemList['question']>
  readonly items: readonly Item[]
  readonly sentences: readonly string[]
  readonly decoys: readonly Text[]
  /** Everything of the list in random order. */
  readonly texts: readonly Text[]
}

/**
 * Collects the items of every list, each with its answer if the list has a question. The judge is asked about them in a prompt without
 * their source text: items, sentences of that text and nonsense items are one shuffled list.
 *
 * The sentences take the place of the items if the judge finds one of them bad, and none of its items, or lists none. An honest judge that
 * errs on one of these texts is scored, and one that was talked into flattering items, or into many true ones, gains nothing.
 */
export async function verifyItems(
  session: JudgeSession,
  { sections, lists = [], ...inquiry }: Inquiry,
  listed: Answers,
): Promise<JudgeOutcome<ReadonlyMap<string, readonly Item[]>>> {
  const { randomness } = session.judge.world
  const toJudge = lists.filter(({ name, question }) => question !== undefined && listed.items.get(name)?.length)
  const sources = new Set(toJudge.map(({ from }) => from))
  const shown = sections.filter(({ title }) => !sources.has(title))
  const asked: Asked[] = []
  for (const list of lists) {
    const items = listed.items.get(list.name) ?? []
    if (list.question === undefined || items.length === 0) continue
    const sentences = list.coversAll === false ? [] : (listed.sentences.get(list.name) ?? [])
    const own: Text[] = [
      ...items.map(({ text }, index) => ({ name: itemName(list, index), text })),
      ...sentences.map((text, index) => ({ name: sentenceName(list, index), text })),
    ]
    const listedTexts = own.map(({ text }) => text)
    const drawn = await inSlices(drawDecoys(listedTexts, groupsOf(items, sentences), shown, randomness))
    const decoys = drawn.map((text, index): Text => ({ name: decoyName(list, index), text }))
    const texts = shuffled([...own, ...decoys], randomness)
    asked.push({ list, question: list.question, items, sentences, decoys, texts })
  }
  if (asked.length === 0) return { ok: true, value: listed.items }
  const outcome = await askInquiry(
    session,
    {
      ...inquiry,
      vary: undefined,
      sections: [...shown, ...asked.map(({ list, texts }) => textsSection(list, texts))],
      questions: asked.map(({ list, question, texts }) => ({
        ids: texts.map(({ name }) => name),
        text: `The text with this id in "${titleOf(list)}". ${question.text} ${noItemRule}`,
        verdicts: [...question.verdicts.slice(0, -1), NO_ITEM, ...question.verdicts.slice(-1)],
      })),
      lists: [],
      notes: [],
      decoys: new Set(asked.flatMap(({ decoys }) => decoys.map(({ name }) => name))),
    },
    false,
  )
  if (!outcome.ok) return outcome
  const { answers } = outcome.value
  const verdictOf = (name: string): string => answers.get(name)?.verdict ?? ''
  const verified = new Map(listed.items)
  for (const { list, question, items, sentences, decoys } of asked) {
    const { verdicts } = question
    const controls = decoys.map(({ name }) => ({ question, verdict: verdictOf(name) }))
    if (controls.some(({ verdict }) => verdict === NO_ITEM) || praisesNonsense(controls)) {
      return compromised(
        session.judge.name,
        'answered a control question wrongly, and praised a text that makes no sense',
      )
    }
    const verdictsOn = (number: number): string[] =>
      items.flatMap(({ sentence }, at) => (sentence === number ? [verdictOf(itemName(list, at))] : []))
    const ofSentences = sentences.map((text, index) => ({ text, answer: answers.get(sentenceName(list, index)) }))
    const hiding = ofSentences.filter(({ answer }, index) =>
      hidesFault(verdicts, answer?.verdict ?? '', verdictsOn(index + 1)),
    )
    if (hiding.some(({ answer }) => answer?.verdict !== verdicts.at(-1))) return hidden(session.judge.name, list.name)
    const ofItems = items.map((item, index) => ({ ...item, answer: answers.get(itemName(list, index)) }))
    const believed =
      hiding.length === 0
        ? ofItems
        : ofSentences.map((each, index) => ({ ...each, id: `${list.prefix}${index + 1}`, sentence: index + 1 }))
    verified.set(
      list.name,
      believed.flatMap(({ answer, ...item }) =>
        answer === undefined || answer.verdict === NO_ITEM ? [] : [{ ...item, answer }],
      ),
    )
  }
  return { ok: true, value: verified }
}

/** A text with fewer words may make sense by chance. */
const LEAST_WORDS_OF_A_MODEL = 4

/** Texts for decoys to copy: each sentence is grouped with its items, because they share most of their words. */
function groupsOf(items: readonly Item[], sentences: readonly string[]): readonly (readonly string[])[] {
  const groups =
    sentences.length === 0
      ? items.map(({ text }) => [text])
      : sentences.flatMap((sentence, index) => {
          const own = items.filter((item) => item.sentence === index + 1)
          return own.length === 0 ? [] : [[sentence, ...own.map(({ text }) => text)]]
        })
  const long = groups.filter((texts) => texts.some((text) => countWords(text) >= LEAST_WORDS_OF_A_MODEL))
  return long.length > 0 ? long : groups
}

/**
 * Draws nonsense for a list: of all groups together, with the same exchange of words. So a word of any text is in as many other texts as a
 * word of its decoy, which a part of the texts would not achieve.
 */
function* drawDecoys(
  listed: readonly string[],
  groups: readonly (readonly string[])[],
  elsewhere: readonly SectionDraft[],
  randomness: Randomness,
): Generator<undefined, string[]> {
  const nonsense = yield* Nonsense.create(listed, elsewhere, randomness)
  const models: string[] = []
  for (const group of shuffled(groups, randomness)) if (models.length < ENOUGH_DECOYS) models.push(...group)
  const decoys: string[] = []
  while (decoys.length < LEAST_DECOYS) decoys.push(...(yield* nonsense.ofAll(models)))
  return decoys
}

function itemName(list: ItemList, index: number): string {
  return `${list.prefix}${index + 1}`
}

function sentenceName(list: ItemList, index: number): string {
  return `${list.name}.sentence.${index + 1}`
}

function decoyName(list: ItemList, index: number): string {
  return `${list.name}.decoy.${index + 1}`
}

function titleOf(list: ItemList): string {
  return `texts for "${list.name}"`.replaceAll('"', '')
}

function textsSection(list: ItemList, texts: readonly Text[]): SectionDraft {
  return {
    title: titleOf(list),
    fragments: texts.flatMap(({ name, text }): Fragment[] => [
      { text: '', idOf: name },
      { text: toLine(text), cut: 'last' },
      { text: '\n' },
    ]),
  }
}
