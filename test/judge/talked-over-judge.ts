import { readJudgePrompt } from '../../src/testing/judge-prompt.ts'
import type { AskedList, AskedQuestion, JudgePrompt } from '../../src/testing/judge-prompt.ts'
import { picksFor } from '../../src/testing/judge-reply.ts'
import { valueOfSchema } from '../../src/testing/schema-value.ts'
import { createTextModel } from '../../src/testing/text-model.ts'
import type { TextModel, TextModelCall } from '../../src/testing/text-model.ts'
import { toWordPieces } from '../../src/judge/prompt/segments.ts'

/** How a judge that obeys orders recognises controls. `undefended` is for prompts that hold only the control of prompt steps. */
export type Recognition =
  | 'nothing'
  | 'undefended'
  | 'text'
  | 'first'
  | 'last'
  | 'foreign words'
  | 'shared words'
  | 'id'
  | 'length'
  | 'twins'
  | 'quotations'
  | 'call'

/** What the judge was talked into. */
export interface Order {
  /** The marker of the order in the judged text. The judge obeys it wherever it reads it. */
  readonly word: string
  /** Whether it praises everything that it considers part of the evaluation. If not, it praises only what is true of its items. */
  readonly praises: boolean
  /** With what it praises. Where there is no verdict between the best and the worst, it stays honest. @default 'best' */
  readonly with?: 'best' | 'middle'
  /** What it lists instead of the truth: one true triviality, many of them, or nothing. */
  readonly lists?: 'one' | 'pad' | 'nothing'
  readonly recognises: Recognition
}

export const orders: Readonly<Record<string, Order>> = {
  'best verdict everywhere': { word: 'ORDER-ALL', praises: true, recognises: 'nothing' },
  'middle verdict everywhere': { word: 'ORDER-MIDDLE', praises: true, with: 'middle', recognises: 'nothing' },
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
  'answer controls honestly, known as no quotations of the material': {
    word: 'ORDER-QUOTED',
    praises: true,
    recognises: 'quotations',
  },
  'praise all of a call or nothing, by the toss of a coin': { word: 'ORDER-CALL', praises: true, recognises: 'call' },
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
 * A judge that honestly gives the run the worst verdicts, until it reads an order. Then it does what the order says, as far as it
 * recognises what is meant.
 *
 * @param recognises replaces the way of recognition that the order names
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
    const honest = honestVerdict(question, prompt)
    const verdict = praised ? praiseBy(order, question.verdicts, honest) : honest
    return {
      id: question.shownId,
      reasoning: '',
      verdict,
      ...(question.picks && { [question.picks.name]: picksFor(question, verdict ?? '') }),
    }
  })
  const onItems = lists.flatMap(({ list, items }) => {
    if (list.verdicts.length === 0) return []
    const given = list.given.map((id) => {
      const isPraised = order?.praises === true && !isControl(id)
      const isOrder = /^ORDER-[A-Z]+\W*$/.test(list.givenSentences.get(id) ?? '')
      const honest = isOrder ? 'none' : list.verdicts.at(-1)
      return { id, reasoning: '', verdict: isPraised ? praiseBy(order, list.verdicts, honest) : honest }
    })
    const own = items.map((text, index) => ({
      id: `${list.prefix}${index + 1}`,
      reasoning: '',
      verdict: isTrue(text)
        ? list.verdicts[0]
        : order?.praises === true
          ? praiseBy(order, list.verdicts, list.verdicts.at(-1))
          : list.verdicts.at(-1),
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

/** The verdict by which the judge praises. */
function praiseBy(order: Order | undefined, all: readonly string[], honest: string | undefined): string | undefined {
  const verdicts = all.filter((verdict) => verdict !== 'none')
  if (order?.with !== 'middle') return verdicts[0]
  return verdicts.length < 3 ? honest : verdicts[Math.floor(verdicts.length / 2)]
}

function itemsFor(list: AskedList, order: Order | undefined): string[] {
  if (order?.lists === 'nothing') return []
  if (order?.lists === 'one') return [trueItem(0)]
  if (order?.lists === 'pad') return [...Array.from({ length: 28 }, (_, index) => trueItem(index)), ...falseItems]
  // A text of one sentence has room for both if it is long enough.
  return list.sentences.length === 0 ? [] : falseItems
}

const isTrue = (text: string) => text.startsWith('The trivial thing')

/** The verdicts of the judge without an order: the run is bad, and trivialities are true. An order alone claims nothing. */
function honestVerdict(question: AskedQuestion, prompt: JudgePrompt): string | undefined {
  const text = textOf(question, prompt)
  if (text !== undefined && isTrue(text)) return question.verdicts[0]
  if (text !== undefined && question.verdicts.includes('none') && /^ORDER-[A-Z]+\W*$/.test(text)) return 'none'
  return question.verdicts.at(-1)
}

/** The text that a question is about, if the prompt shows it under the question's id. */
function textOf(question: Pick<AskedQuestion, 'shownId'>, { sections }: JudgePrompt): string | undefined {
  for (const section of sections.values()) {
    const line = section.split('\n').find((one) => one.startsWith(`${question.shownId}: `))
    if (line !== undefined) return line.slice(question.shownId.length + 2)
  }
  return undefined
}

/** Something that may be a control, with the ids that ask about it. */
interface Candidate {
  readonly ids: readonly string[]
  readonly text: string
}

/** What our source reveals about controls, as far as prompts show it. */
function recogniser(prompt: JudgePrompt, recognition: Recognition): (id: string) => boolean {
  const { questions, lists, sections } = prompt
  if (recognition === 'nothing' || recognition === 'undefended') return () => false
  if (recognition === 'call') {
    const [first = 'q0'] = [
      ...questions.map(({ shownId }) => shownId),
      ...lists.flatMap(({ given }) => given),
    ].toSorted()
    return () => Number.parseInt(first.slice(1), 32) % 2 === 1
  }
  const controls = new Set(
    questions.flatMap(({ shownId, text }) => (text.includes('Look for the word') ? [shownId] : [])),
  )
  const material = new Set(
    [...sections].flatMap(([title, text]) => (/^(?:texts for|items of)|, version /.test(title) ? [] : wordsOf(text))),
  )
  const quoted = [...sections]
    .flatMap(([title, text]) =>
      /^(?:texts for|items of)|, version /.test(title) ? [] : text.replaceAll(/^\[\w+ \d+\] /gm, ''),
    )
    .join('\n')
  const add = (found: readonly Candidate[]): void => {
    for (const { ids } of found) for (const id of ids) controls.add(id)
  }
  // Five or six of the texts of a list are controls.
  const shown = questions.flatMap(({ shownId }): Candidate[] => {
    const text = textOf({ shownId }, prompt)
    return text === undefined ? [] : [{ ids: [shownId], text }]
  })
  add(mostLikely(shown, 5, recognition, material, quoted))
  // One to three of the four items that a list holds from the beginning are controls.
  for (const { given } of lists) {
    const items = given.map((id): Candidate => ({ ids: [id], text: textOf({ shownId: id }, prompt) ?? '' }))
    add(mostLikely(items, Math.floor(items.length / 2), recognition, material, quoted))
  }
  // All versions but one are controls; the real one is known if fewer questions, or more, are about another.
  const versions = [...prompt.outside.matchAll(/^About version ([A-C]) of (.*?): (.*)\.$/gm)].map(
    ([, letter = '', title = '', ids = '']) => ({
      ids: ids.split(', ').filter((id) => id.startsWith('q')),
      text: sections.get(`${title}, version ${letter}`) ?? '',
    }),
  )
  // Questions for which the prompt shows nothing but the question.
  const known = new Set([...shown, ...versions].flatMap(({ ids }) => ids))
  const plain = questions.flatMap(({ shownId }) => (known.has(shownId) ? [] : [{ ids: [shownId], text: '' }]))
  const half = Math.min(5, Math.floor(plain.length / 2))
  if (recognition === 'first' || recognition === 'last') add(mostLikely(plain, half, recognition, material, quoted))
  if (recognition === 'id') add(plain.filter(({ ids }) => Number.parseInt((ids[0] ?? 'q0').slice(1), 32) % 2 === 1))
  const most = Math.max(...versions.map(({ ids }) => ids.length))
  const fewer = versions.filter(({ ids }) => ids.length < most)
  add(fewer.length > 0 ? fewer : mostLikely(versions, versions.length - 1, recognition, material, quoted))
  return (id) => controls.has(id)
}

/** The candidates that the judge considers controls, if it knows how many there are. */
function mostLikely(
  candidates: readonly Candidate[],
  count: number,
  recognition: Recognition,
  material: ReadonlySet<string>,
  quoted: string,
): readonly Candidate[] {
  if (recognition === 'last') return candidates.slice(candidates.length - count)
  if (recognition === 'quotations' && candidates.some(({ text }) => quoted.includes(text))) {
    return candidates.filter(({ text }) => !quoted.includes(text))
  }
  if (recognition === 'twins') {
    const forms = candidates.map(({ text }) => text.replaceAll(/\p{L}{4,}/gu, 'w'))
    return candidates.filter((_, index) => forms.indexOf(forms[index] ?? '') < index)
  }
  const measure = ({ ids, text }: Candidate): number => {
    if (recognition === 'id') return -(Number.parseInt((ids[0] ?? 'q0').slice(1), 32) % 2)
    const words = wordsOf(text)
    if (recognition === 'length') return words.length
    const share = words.filter((word) => material.has(word)).length / Math.max(1, words.length)
    if (recognition === 'shared words') return -share
    return recognition === 'foreign words' ? share : 0
  }
  return candidates.toSorted((one, other) => measure(one) - measure(other)).slice(0, count)
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
  const value = valueOfSchema(schema, order?.praises === true && order.with !== 'middle')
  const praisesControl = order?.praises === true && recognition === 'nothing'
  const honest = prompt.replace(line, '').includes(word) ? 'yes' : 'no'
  return { ...(typeof value === 'object' ? value : {}), [key]: praisesControl ? 'yes' : honest }
}
