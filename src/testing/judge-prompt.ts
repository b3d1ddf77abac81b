/** A question as a judge's prompt shows it. */
export interface AskedQuestion {
  /** The id under which the reply answers it, such as `user.intent`, `call_3` or the id of a criterion. */
  readonly id: string
  /** From the most favourable to the least. */
  readonly verdicts: readonly string[]
  /** The question itself. */
  readonly text: string
}

/** A list of items that a judge's prompt asks for. */
export interface AskedList {
  /** The property of the reply that holds the items. */
  readonly name: string
  /** The verdicts on each item, from the most favourable to the least; empty if the items are only listed. */
  readonly verdicts: readonly string[]
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
  /** The names of the texts that the prompt asks for. */
  readonly notes: readonly string[]
}

/** Reads the user message of a judge's prompt. A message of another form is all `outside`, without questions. */
export function readJudgePrompt(message: string): JudgePrompt {
  const mark = /^The mark is ([0-9a-f]{12})\.$/m.exec(message)?.[1] ?? ''
  const sections = new Map<string, string>()
  const quoted = new RegExp(`^${mark} begin: (.*)\\n([^]*?)\\n?^${mark} end$`, 'gm')
  const outside =
    mark === ''
      ? message
      : message.replaceAll(quoted, (_, title: string, text: string) => {
          sections.set(title, text)
          return ''
        })
  const lines = mark === '' ? [] : outside.split('\n')
  const lists = lines.flatMap((line): AskedList[] => {
    const [, name, verdicts] = /^- "(\w+)"(?: \[([^\]]+)\])?: /.exec(line) ?? []
    return name === undefined ? [] : [{ name, verdicts: verdicts?.split(' | ') ?? [] }]
  })
  const questions = lines.flatMap((line): AskedQuestion[] => {
    const [, ids = '', verdicts = '', text = ''] = /^- ([^"[]+) \[([^\]]+)\]: (.*)$/.exec(line) ?? []
    return readIds(ids).map((id) => ({ id, verdicts: verdicts.split(' | '), text }))
  })
  const notes = lines.flatMap((line) => /^- notes\.(\w+): /.exec(line)?.[1] ?? [])
  return { sections, outside, questions, lists, notes }
}

/** Expands `call_1 to call_3, missing` to the single ids. */
function readIds(named: string): string[] {
  return named.split(', ').flatMap((name) => {
    const [, prefix, first, last] = /^(.*?)(\d+) to \1(\d+)$/.exec(name) ?? []
    if (first === undefined || last === undefined) return name === '' ? [] : name
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${prefix}${Number(first) + index}`)
  })
}
