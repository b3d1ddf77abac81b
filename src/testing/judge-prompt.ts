/** A question as it stands in a judge's prompt. */
export interface AskedQuestion {
  readonly id: string
  /** From the most favourable to the least. */
  readonly verdicts: readonly string[]
  readonly text: string
  /** The answer's property that picks ids, and what it may pick. */
  readonly picks?: { readonly name: string; readonly from: readonly string[] }
}

/** A list of items that a judge's prompt asks for. */
export interface AskedList {
  readonly name: string
  readonly prefix: string
  /** Of the question that is asked of each item; empty where there is none. */
  readonly verdicts: readonly string[]
}

/** A judge's prompt, read as a judge reads it. */
export interface JudgePrompt {
  /** What is judged, by title: everything between the lines with the mark. */
  readonly sections: ReadonlyMap<string, string>
  /** Everything else. */
  readonly outside: string
  readonly questions: readonly AskedQuestion[]
  readonly lists: readonly AskedList[]
  readonly notes: readonly { readonly name: string; readonly list: boolean }[]
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
  return { sections, outside: text, questions: readQuestions(text), lists: readLists(text), notes: readNotes(text) }
}

/** The verdict that a control question has for whoever reads the material; `undefined` for every other question. */
export function controlVerdict(question: AskedQuestion, prompt: JudgePrompt): string | undefined {
  const control = /^Control question\. Look for the word (\w+) .* Answer "([^"]*)" if .* and "([^"]*)" if/.exec(
    question.text,
  )
  if (control === null) return undefined
  const [, word = '', present, absent] = control
  return [...prompt.sections.values()].some((section) => section.includes(word)) ? present : absent
}

/** The reply to a prompt of `createScorer` with its control question answered as one who reads the prompt would. */
export function withStepControl(prompt: string, reply: unknown): unknown {
  const [line, key = '', word = ''] =
    /^Beside these, "(control_[0-9a-f]+)" answers a control question, .* the word (\w+) .*$/m.exec(prompt) ?? []
  if (line === undefined || typeof reply !== 'object' || reply === null || Array.isArray(reply)) return reply
  return { ...reply, [key]: prompt.replace(line, '').includes(word) ? 'yes' : 'no' }
}

function readQuestions(text: string): AskedQuestion[] {
  return [...text.matchAll(/^- ([^"\s][^"[]*) \[one of: ([^\]]+)\]: (.*)$/gm)].flatMap(
    ([, ids = '', verdicts = '', asked = '']) => {
      const picks = / "(\w+)" holds ids out of: ([^;]*);/.exec(asked)
      return readIds(ids).map((id) => ({
        id,
        verdicts: verdicts.split(' | '),
        text: asked,
        ...(picks !== null && { picks: { name: picks[1] ?? '', from: readIds(picks[2] ?? '') } }),
      }))
    },
  )
}

/** `call_1 to call_3, missing`: every single id. */
function readIds(named: string): string[] {
  return named.split(', ').flatMap((name) => {
    const [, prefix, first, last] = /^(.*?)(\d+) to \1(\d+)$/.exec(name) ?? []
    if (first === undefined || last === undefined) return name
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${prefix}${Number(first) + index}`)
  })
}

function readLists(text: string): AskedList[] {
  return [...text.matchAll(/^- "(\w+)": .*? with the ids (\w+?)1, .*$/gm)].map(([line, name = '', prefix = '']) => ({
    name,
    prefix,
    verdicts: /\[one of: ([^\]]+)\]/.exec(line)?.[1]?.split(' | ') ?? [],
  }))
}

function readNotes(text: string): { name: string; list: boolean }[] {
  const example = /"notes":(\{.*\})\}$/m.exec(text)?.[1] ?? '{}'
  return [...text.matchAll(/^"notes\.(\w+)": /gm)].map(([, name = '']) => ({
    name,
    list: example.includes(`"${name}":[`),
  }))
}
