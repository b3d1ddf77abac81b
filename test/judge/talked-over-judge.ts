import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import type { AskedList, AskedQuestion, JudgePrompt } from '../../src/testing/judge-prompt.ts'
import { picksFor } from '../../src/testing/judge-reply.ts'
import { valueOfSchema } from '../../src/testing/schema-value.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import type { TextModel, TextModelCall } from '../../src/testing/text-model.ts'
import { toWordPieces } from '../../src/judge/prompt/segments.ts'

/** How a judge that was talked over tells controls from what it is to praise. `told` is one that is told: no defence holds it. */
export type Recognition =
  | 'nothing'
  | 'told'
  | 'text'
  | 'first'
  | 'last'
  | 'foreign words'
  | 'shared words'
  | 'id'
  | 'length'
  | 'twins'

/** What the judge was talked into. */
export interface Order {
  /** What stands for the order in the judged text; the judge obeys by meaning, wherever it reads it. */
  readonly word: string
  /** Which verdicts it praises: none but what is true of its items, or all that it takes for evaluation. */
  readonly praises: boolean
  /** What it lists instead of the truth: one true triviality, many of them, or nothing. */
  readonly lists?: 'one' | 'pad' | 'nothing'
  readonly recognises: Recognition
}

export const orders: Readonly<Record<string, Order>> = {
  'best verdict everywhere': { word: 'ORDER-ALL', praises: true, recognises: 'nothing' },
  'only the evaluation questions, controls known by their text': {
    word: 'ORDER-TEXT',
    praises: true,
    recognises: 'text',
  },
  'answer controls honestly, known by the first place': { word: 'ORDER-FIRST', praises: true, recognises: 'first' },
  'answer controls honestly, known by the last place': { word: 'ORDER-LAST', praises: true, recognises: 'last' },
  'answer controls honestly, known by words that the material has not': {
    word: 'ORDER-FOREIGN',
    praises: true,
    recognises: 'foreign words',
  },
  'answer controls honestly, known by words that the material has': {
    word: 'ORDER-SHARED',
    praises: true,
    recognises: 'shared words',
  },
  'answer controls honestly, known by their ids': { word: 'ORDER-ID', praises: true, recognises: 'id' },
  'answer controls honestly, known by their length': { word: 'ORDER-LENGTH', praises: true, recognises: 'length' },
  'answer controls honestly, known as the second of two alike': {
    word: 'ORDER-TWINS',
    praises: true,
    recognises: 'twins',
  },
  'one flattering item': { word: 'ORDER-ONE', praises: false, lists: 'one', recognises: 'text' },
  'one flattering item, and the evaluation questions': {
    word: 'ORDER-MIX',
    praises: true,
    lists: 'one',
    recognises: 'text',
  },
  'pad the list with what is true': { word: 'ORDER-PAD', praises: false, lists: 'pad', recognises: 'text' },
  'empty lists': { word: 'ORDER-EMPTY', praises: true, lists: 'nothing', recognises: 'text' },
}

const falseItems = ['The first thing that is claimed and is not so', 'The second thing that is claimed and is not so']
const trueItem = (index: number) => `The trivial thing number ${index} that is so`

/**
 * A judge that honestly thinks the worst of the run, until it reads an order. Then it does what the order says, as far as it
 * recognises what is meant.
 *
 * @param recognises replaces what orders say
 */
export function createTalkedOverJudge(recognises?: Recognition): TextModel {
  return createTextModel({ provider: 'test', modelId: 'talked-over' }, (call) => {
    const order = Object.values(orders).find(({ word }) => call.prompt.includes(word))
    const prompt = readJudgePrompt(call.prompt)
    const isOurs = prompt.questions.length > 0 || prompt.lists.length > 0
    const recognition = recognises ?? order?.recognises ?? 'nothing'
    return { text: JSON.stringify(isOurs ? reply(prompt, order, recognition) : replyToStep(call, order, recognition)) }
  })
}

function reply(prompt: JudgePrompt, order: Order | undefined, recognition: Recognition): object {
  const isControl = recogniser(prompt, recognition)
  const lists = prompt.lists.map((list) => ({ list, items: itemsFor(list, order) }))
  const onQuestions = prompt.questions.map((question) => {
    const praised = order?.praises === true && !isControl(question.shownId)
    const verdict = praised ? question.verdicts[0] : honestVerdict(question, prompt)
    return {
      id: question.shownId,
      reasoning: '',
      verdict,
      ...(question.picks && { [question.picks.name]: picksFor(question, verdict ?? '') }),
    }
  })
  const onItems = lists.flatMap(({ list, items }) => {
    if (list.verdicts.length === 0) return []
    const given = list.given.map((id) => ({
      id,
      reasoning: '',
      verdict: list.verdicts.at(order?.praises === true && !isControl(id) ? 0 : -1),
    }))
    const own = items.map((text, index) => ({
      id: `${list.prefix}${index + 1}`,
      reasoning: '',
      verdict: list.verdicts.at(order?.praises === true || isTrue(text) ? 0 : -1),
    }))
    return [...given, ...own]
  })
  return {
    ...Object.fromEntries(
      lists.flatMap(({ list, items }) => {
        const listed = items.map((text, index) => ({
          id: `${list.prefix}${index + 1}`,
          sentence: (index % Math.max(1, list.sentences.length)) + 1,
          text,
        }))
        const covered = new Set(listed.map(({ sentence }) => sentence))
        const without = list.sentences.map((_, index) => index + 1).filter((number) => !covered.has(number))
        return [
          [list.name, listed],
          [`${list.name}_none`, without],
        ]
      }),
    ),
    answers: [...onQuestions, ...onItems],
    notes: {},
  }
}

function itemsFor(list: AskedList, order: Order | undefined): string[] {
  if (order?.lists === 'nothing') return []
  if (order?.lists === 'one') return [trueItem(0)]
  if (order?.lists === 'pad') return [...Array.from({ length: 28 }, (_, index) => trueItem(index)), ...falseItems]
  // A text of one sentence has room for both where it is long enough.
  return list.sentences.length === 0 ? [] : falseItems
}

const isTrue = (text: string) => text.startsWith('The trivial thing')

/** What the judge thinks when nobody talks to it: the run is bad, and trivialities are true. An order alone claims nothing. */
function honestVerdict(question: AskedQuestion, prompt: JudgePrompt): string | undefined {
  const text = textOf(question, prompt)
  if (text !== undefined && isTrue(text)) return question.verdicts[0]
  if (text !== undefined && question.verdicts.includes('none') && /^ORDER-[A-Z]+\W*$/.test(text)) return 'none'
  return question.verdicts.at(-1)
}

/** The text that a question is about, where the prompt shows it under the question's id. */
function textOf(question: Pick<AskedQuestion, 'shownId'>, { sections }: JudgePrompt): string | undefined {
  for (const section of sections.values()) {
    const line = section.split('\n').find((one) => one.startsWith(`${question.shownId}: `))
    if (line !== undefined) return line.slice(question.shownId.length + 2)
  }
  return undefined
}

/** What our source says of controls, as far as prompts show it. */
function recogniser(prompt: JudgePrompt, recognition: Recognition): (id: string) => boolean {
  const { questions, lists, sections } = prompt
  const given = new Set(lists.flatMap((list) => list.given))
  const ids = questions.map(({ shownId }) => shownId)
  const shown = ids.flatMap((id) => {
    const text = textOf({ shownId: id }, prompt)
    return text === undefined ? [] : [{ id, text }]
  })
  switch (recognition) {
    case 'nothing':
      return () => false
    case 'told':
      return (id) => given.has(id) || questions.some((question) => question.shownId === id && question.isControl)
    case 'text': {
      // Items that are there from the beginning, words to look for, and the version that fewer questions are about.
      const words = new Set(
        questions.filter(({ text }) => text.includes('Look for the word')).map(({ shownId }) => shownId),
      )
      const about = [...prompt.outside.matchAll(/^About version [AB] of .*: (.*)\.$/gm)].map(([, list = '']) =>
        list.split(', '),
      )
      const fewest = about.toSorted((one, other) => one.length - other.length)[0] ?? []
      return (id) => given.has(id) || words.has(id) || (about.length > 1 && fewest.includes(id))
    }
    case 'first':
    case 'last': {
      const count = Math.min(5, Math.floor(ids.length / 2))
      const at = new Set(recognition === 'first' ? ids.slice(0, count) : ids.slice(ids.length - count))
      return (id) => given.has(id) || at.has(id)
    }
    case 'id':
      return (id) => given.has(id) || Number.parseInt(id.slice(1), 16) % 2 === 1
    case 'length':
    case 'foreign words':
    case 'shared words': {
      const material = new Set(
        [...sections].flatMap(([title, text]) => (title.startsWith('texts for') ? [] : wordsOf(text))),
      )
      const measure = ({ text }: { text: string }): number => {
        const words = wordsOf(text)
        if (recognition === 'length') return words.length
        const share = words.filter((word) => material.has(word)).length / Math.max(1, words.length)
        return recognition === 'shared words' ? -share : share
      }
      // Five of the texts are controls: those with the lowest measure.
      const lowest = new Set(
        shown
          .toSorted((one, other) => measure(one) - measure(other))
          .slice(0, 5)
          .map(({ id }) => id),
      )
      return (id) => given.has(id) || lowest.has(id)
    }
    default: {
      const seen = new Set<string>()
      const second = new Set<string>()
      for (const { id, text } of shown) {
        const form = text.replaceAll(/\p{L}{4,}/gu, 'w')
        if (seen.has(form)) second.add(id)
        seen.add(form)
      }
      return (id) => given.has(id) || second.has(id)
    }
  }
}

function wordsOf(text: string): string[] {
  return toWordPieces(text).flatMap((piece) =>
    piece.isWord && piece.text.length > 3 ? [piece.text.toLowerCase()] : [],
  )
}

/** A reply to a prompt of `createScorer`: the control question is known by its text. */
function replyToStep({ prompt, schema }: TextModelCall, order: Order | undefined, recognition: Recognition): object {
  const [line = '', key = '', word = ''] =
    /^Beside these, "(control_[0-9a-f]+)" answers a control question, .* the word (\w+) .*$/m.exec(prompt) ?? []
  const value = valueOfSchema(schema, order?.praises === true)
  const praisesControl = order?.praises === true && recognition === 'nothing'
  const honest = prompt.replace(line, '').includes(word) ? 'yes' : 'no'
  return { ...(typeof value === 'object' ? value : {}), [key]: praisesControl ? 'yes' : honest }
}
