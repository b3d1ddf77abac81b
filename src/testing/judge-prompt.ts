import { idCandidates, isControlId } from '../judge/controls/ids.ts'
import { repetitionName } from '../judge/controls/repetitions.ts'
import type { Randomness } from '../judge/randomness.ts'
import { digestOf } from './judge-key.ts'

/** A question as a judge's prompt shows it. */
export interface AskedQuestion {
  /**
   * The name of the question if it is known: `user.intent`, or the label that the material gives to the subject of the question,
   * such as `call_3`. Otherwise the id that the prompt shows.
   */
  readonly id: string
  /** A random id for this call, which the answer must repeat. */
  readonly shownId: string
  /** Whether it is a control question: about a meaningless text, or about a word that does not occur. */
  readonly isControl: boolean
  /** From the most favourable to the least. */
  readonly verdicts: readonly string[]
  /** The question itself. */
  readonly text: string
  /** The answer's property that picks ids, and the ids to pick from. */
  readonly picks?: { readonly name: string; readonly from: readonly string[] }
}

/** A list of items that a judge's prompt asks for. */
export interface AskedList {
  /** The property of the reply that holds the items. */
  readonly name: string
  /** The prefix of the ids of its items. */
  readonly prefix: string
  /** The question about each item; empty if there is none. */
  readonly verdicts: readonly string[]
  /** The numbered sentences that the items come from. */
  readonly sentences: readonly string[]
  /** Whether the numbers of sentences without an item are asked for, as `<name>_none`. */
  readonly coversAll: boolean
  /** Ids of items that the list holds from the beginning: controls, and sentences of the text that its items come from. */
  readonly given: readonly string[]
  /** The given items that are sentences, by id. */
  readonly givenSentences: ReadonlyMap<string, string>
}

/** A parsed judge prompt. */
export interface JudgePrompt {
  /** The material to judge, by title: everything between the lines with the mark. */
  readonly sections: ReadonlyMap<string, string>
  /** Everything else. */
  readonly outside: string
  /** In the order of the prompt. */
  readonly questions: readonly AskedQuestion[]
  /** In the order of the prompt. */
  readonly lists: readonly AskedList[]
  /** The texts that the prompt asks for. `list` is true if it asks for a list of them. */
  readonly notes: readonly { readonly name: string; readonly list: boolean }[]
  /**
   * Finds a question by name: `user.intent`, the id of a criterion, or the label of its subject. Works for prompts that were
   * created while `spanscore/testing` was loaded. Control questions have no name.
   */
  find(name: string): AskedQuestion | undefined
  /** Like `find`, for prompts that ask the same question under several ids. */
  findAll(name: string): readonly AskedQuestion[]
}

/** Reads the user message of a judge's prompt. A message of another form is all `outside`, without questions. */
export function readJudgePrompt(message: string): JudgePrompt {
  const mark = /^The mark is ([0-9a-f]{32})\./m.exec(message)?.[1]
  const sections = new Map<string, string>()
  const outside: string[] = []
  let open: { title: string; lines: string[] } | undefined
  for (const line of message.split('\n')) {
    const edge = mark !== undefined && line.startsWith(`${mark} `) ? line.slice(mark.length + 1) : undefined
    if (edge?.startsWith('begin: ') === true) open = { title: edge.slice(7), lines: [] }
    else if (edge?.startsWith('end: ') === true && open !== undefined) {
      sections.set(open.title, open.lines.join('\n'))
      open = undefined
    } else if (open === undefined) outside.push(line)
    else open.lines.push(line)
  }
  const text = outside.join('\n')
  if (mark === undefined)
    return { sections, outside: text, questions: [], lists: [], notes: [], find: () => undefined, findAll: () => [] }
  const call: Call = { mark, digest: digestOf(message) }
  const shown = readQuestions(text, call)
  const questions = withNames(shown, call)
  const findAll = (name: string): readonly AskedQuestion[] => {
    const named = questions.filter(({ id, shownId, isControl }) => !isControl && (id === name || shownId === name))
    if (named.length > 0) return named
    const drawn = idsOf(name, call)
    // Labels identify a question, so another name that happens to have the same id does not count.
    return questions.filter(({ id, shownId }) => drawn.includes(shownId) && id === shownId)
  }
  return {
    sections,
    outside: text,
    questions,
    lists: readLists(text, call, sections),
    notes: readNotes(text),
    find: (name) => findAll(name)[0],
    findAll,
  }
}

/** What the ids of a call are derived from. */
interface Call {
  readonly mark: string
  readonly digest: Pick<Randomness, 'digest'>
}

/** The names of questions that are the same in every prompt. */
const NAMES: readonly string[] = [
  ...['user', 'system'].flatMap((side) =>
    ['intent', 'completeness', 'appropriateness'].map((dimension) => `${side}.${dimension}`),
  ),
  'missing',
  'no_call',
]

function withNames(questions: readonly AskedQuestion[], call: Call): AskedQuestion[] {
  const names = new Map(NAMES.flatMap((name) => idsOf(name, call).map((id) => [id, name])))
  return questions.map((question) => {
    const name = question.isControl ? undefined : names.get(question.id)
    return name === undefined ? question : { ...question, id: name }
  })
}

/** The ids under which a question of that name may be shown: its own first, then those of its repetitions. */
function idsOf(name: string, { mark, digest }: Call): readonly string[] {
  return Array.from({ length: MOST_REPETITIONS }, (_, repetition) => {
    for (const id of idCandidates(mark, repetitionName(name, repetition), digest))
      if (!isControlId(mark, id, digest)) return id
    return []
  }).flat()
}

const MOST_REPETITIONS = 4

function readQuestions(text: string, { mark, digest }: Call): AskedQuestion[] {
  return [...text.matchAll(/^- (q[0-9a-v]{6}[^[]*) \[one of: ([^\]]+)\](?:: (.*))?$/gm)].flatMap(
    ([, ids = '', verdicts = '', asked = '']) => {
      const picks = / "(\w+)" holds ids out of: ([^;]*);/.exec(asked)
      return ids.split(', ').map((shown): AskedQuestion => {
        const [, shownId = shown, label] = /^(\w+)(?: \((.*)\))?$/.exec(shown) ?? []
        const isControl = isControlId(mark, shownId, digest)
        return {
          id: isControl ? shownId : (label ?? shownId),
          shownId,
          isControl,
          verdicts: verdicts.split(' | '),
          text: asked,
          ...(picks !== null && { picks: { name: picks[1] ?? '', from: readIds(picks[2] ?? '') } }),
        }
      })
    },
  )
}

/** Expands `t1 to t3, t5` to the single ids. */
function readIds(named: string): string[] {
  return named.split(', ').flatMap((name) => {
    const [, prefix, first, last] = /^(.*?)(\d+) to \1(\d+)$/.exec(name) ?? []
    if (first === undefined || last === undefined) return name
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${prefix}${Number(first) + index}`)
  })
}

function readLists(text: string, { mark, digest }: Call, sections: ReadonlyMap<string, string>): AskedList[] {
  return [...text.matchAll(/^- "(\w+)": .*? with the ids (\w+?)1, .*$/gm)].map(([line, name = '', prefix = '']) => {
    const from = /the number of the sentence of (.*?) that it comes from/.exec(line)?.[1] ?? ''
    const given = / and for (q[^[(]*) \(with "reasoning" left empty\) \[one of: /.exec(line)?.[1]?.split(', ') ?? []
    const shown = new Map(
      [...(sections.get(`items of "${name}" found before`) ?? '').matchAll(/^(\w+): (.*)$/gm)].map(
        ([, id = '', item = '']) => [id, item],
      ),
    )
    return {
      name,
      prefix,
      verdicts: /\[one of: ([^\]]+)\]/.exec(line)?.[1]?.split(' | ') ?? [],
      sentences: readSentences(sections.get(from) ?? '', mark.slice(0, 8)),
      coversAll: line.includes(`"${name}_none"`),
      given,
      givenSentences: new Map([...shown].filter(([id]) => !isControlId(mark, id, digest))),
    }
  })
}

function readSentences(section: string, tag: string): string[] {
  return section
    .split('\n')
    .filter((line) => line.startsWith(`[${tag} `))
    .map((line) => line.slice(line.indexOf(']') + 2))
}

function readNotes(text: string): { name: string; list: boolean }[] {
  const example = /"notes":(\{.*\})\}$/m.exec(text)?.[1] ?? '{}'
  return [...text.matchAll(/^"notes\.(\w+)": /gm)].map(([, name = '']) => ({
    name,
    list: example.includes(`"${name}":[`),
  }))
}
