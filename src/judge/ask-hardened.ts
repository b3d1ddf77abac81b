import { askInquiry } from './ask-inquiry.ts'
import { compromised, hidden, isPraise } from './controls/compromised.ts'
import { hidesFault, NO_ITEM, noItemRule } from './controls/contradiction.ts'
import { Nonsense } from './controls/nonsense.ts'
import type { Answer, Answers, Inquiry, Item, ItemList, Question } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import { textsOf } from './prompt/section.ts'
import { boundSections } from './prompt/bound-sections.ts'
import type { Fragment, SectionDraft } from './prompt/section.ts'
import { countWords, toLine } from './prompt/segments.ts'
import { shuffled } from './randomness.ts'
import type { Randomness } from './randomness.ts'
import type { JudgeSession } from './session.ts'

/**
 * Asks in several calls, so that a judge that recognises controls finds nothing to recognise them by.
 *
 * Lists come first, without verdicts. Each question is asked twice: about the material, and about a copy whose varied section makes no
 * sense. Both versions are in both prompts, so that an instruction hidden in either one affects both calls. Verdicts on items come last, in
 * a prompt without the source text: items, sentences of the source text and nonsense items are one shuffled list of similar texts. A reply
 * that praises nonsense is void, and so is one that praises the items of a sentence it calls bad.
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
  const verified = listed === undefined ? { ok: true as const, value: none } : await verify(session, inquiry, listed)
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
  const { questions, vary } = inquiry
  const { randomness } = session.judge.world
  const whole = inquiry.sections.find(({ title }) => title === vary)
  const [varied] = boundSections(whole === undefined ? [] : [whole], session.judge.settings.maxPromptBytes)
  const sections = inquiry.sections.map((section) => (section === whole ? (varied ?? section) : section))
  if (varied === undefined || !questions.some(({ failsNonsense }) => failsNonsense)) {
    return askInquiry(session, inquiry, true)
  }
  const others = sections.filter((section) => section !== varied)
  const decoy = new Nonsense(textsOf([varied]), others, randomness).ofSection(varied)
  const about = (shown: SectionDraft, other: SectionDraft): Inquiry => ({
    ...withoutVary(inquiry),
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
    else if (questions.some((question) => praises(question, outcome.value.answers))) {
      return compromised(
        session.judge.name,
        'answered a control question wrongly, and praised a text that makes no sense',
      )
    }
  }
  if (own === undefined) throw new Error('expected the material to have been asked about')
  return own
}

function praises({ ids, verdicts, failsNonsense }: Question, answers: ReadonlyMap<string, Answer>): boolean {
  return failsNonsense === true && ids.some((id) => isPraise(verdicts, answers.get(id)?.verdict ?? ''))
}

/** Fewest decoys in a list. A judge that guesses which texts are decoys finds all of them in at most one of 32 tries. */
const LEAST_DECOYS = 5

interface Text {
  readonly name: string
  readonly text: string
}

/** Collects the items of every list, each with its answer if the list has a question. */
async function verify(
  session: JudgeSession,
  { sections, lists = [], ...inquiry }: Inquiry,
  listed: Answers,
): Promise<JudgeOutcome<ReadonlyMap<string, readonly Item[]>>> {
  const { randomness } = session.judge.world
  const toJudge = lists.filter(({ name, question }) => question !== undefined && listed.items.get(name)?.length)
  const sources = new Set(toJudge.map(({ from }) => from))
  const shown = sections.filter(({ title }) => !sources.has(title))
  const asked = lists.flatMap((list) => {
    const items = listed.items.get(list.name) ?? []
    if (list.question === undefined || items.length === 0) return []
    const sentences = list.coversAll === false ? [] : (listed.sentences.get(list.name) ?? [])
    const own: Text[] = [
      ...items.map(({ text }, index) => ({ name: itemName(list, index), text })),
      ...sentences.map((text, index) => ({ name: sentenceName(list, index), text })),
    ]
    const decoys = drawDecoys(groupsOf(items, sentences), shown, randomness).map((text, index): Text => ({
      name: decoyName(list, index),
      text,
    }))
    return [
      { list, question: list.question, items, sentences, decoys, texts: shuffled([...own, ...decoys], randomness) },
    ]
  })
  if (asked.length === 0) return { ok: true, value: listed.items }
  const outcome = await askInquiry(
    session,
    {
      ...withoutVary({ ...inquiry, sections: [], questions: [] }),
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
    const isBelieved = decoys.every(({ name }) => {
      const verdict = verdictOf(name)
      return verdict !== NO_ITEM && !isPraise(verdicts, verdict)
    })
    if (!isBelieved) {
      return compromised(
        session.judge.name,
        'answered a control question wrongly, and praised a text that makes no sense',
      )
    }
    const hidesSomething = sentences.some((_, index) => {
      const verdict = verdictOf(sentenceName(list, index))
      const own = items.flatMap(({ sentence }, at) => (sentence === index + 1 ? [verdictOf(itemName(list, at))] : []))
      return hidesFault(verdicts, verdict, own)
    })
    if (hidesSomething) {
      return hidden(session.judge.name, list.name)
    }
    verified.set(
      list.name,
      items.flatMap((item, index) => {
        const answer = answers.get(itemName(list, index))
        return answer === undefined || answer.verdict === NO_ITEM ? [] : [{ ...item, answer }]
      }),
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

/** Draws nonsense sentences and items for a list, in groups of one or two like the real ones. */
function drawDecoys(
  groups: readonly (readonly string[])[],
  elsewhere: readonly SectionDraft[],
  randomness: Randomness,
): string[] {
  const decoys: string[] = []
  while (decoys.length < LEAST_DECOYS) {
    const [first = '', ...rest] = groups[randomness.integer(groups.length)] ?? []
    const model = [first, ...shuffled(rest, randomness).slice(0, 1)]
    const others = groups[randomness.integer(groups.length)] ?? []
    decoys.push(...new Nonsense([...model, ...others], elsewhere, randomness).ofAll(model))
  }
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
