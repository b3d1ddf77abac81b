import { controlVerdict, readJudgePrompt } from './judge-prompt.ts'
import type { AskedQuestion, JudgePrompt } from './judge-prompt.ts'

/** A verdict as a script gives it. */
export type ScriptedVerdict =
  | string
  | { readonly verdict: string; readonly reasoning?: string; readonly picks?: readonly string[] }

/** An item of a list as a script gives it: its words, and the verdict on it where one is asked for. */
export type ScriptedItem = string | { readonly text: string; readonly verdict?: string; readonly reasoning?: string }

/** What a judge finds, whatever it is asked: verdicts by question id, items by list, notes by name. */
export interface ScriptedVerdicts {
  readonly verdicts?: Readonly<Record<string, ScriptedVerdict>>
  readonly lists?: Readonly<Record<string, readonly ScriptedItem[]>>
  readonly notes?: Readonly<Record<string, string | readonly string[]>>
}

/** An answer as it stands in a reply. */
export type ReplyAnswer = { id: string; reasoning: string; verdict: string } & Record<string, unknown>

/** A reply before it is made JSON. */
export interface ReplyObject extends Record<string, unknown> {
  answers: ReplyAnswer[]
}

/**
 * Writes the reply of a judge that finds what the script says, in the shape that the prompt asks for. Control questions are
 * answered as one who reads the material would; questions that the script says nothing of stay unanswered.
 *
 * @param message the user message of the prompt
 * @returns JSON text
 * @example
 * ```ts
 * const server = await createScriptedOpenAIServer((request) =>
 *   judgeReply(request.userText, { lists: { claims: [{ text: 'It rains.', verdict: 'supported' }] } }),
 * )
 * ```
 */
export function judgeReply(message: string, found: ScriptedVerdicts): string {
  return JSON.stringify(toReplyObject(readJudgePrompt(message), found))
}

/** As `judgeReply`, before it is made text. */
export function toReplyObject(prompt: JudgePrompt, found: ScriptedVerdicts): ReplyObject {
  const items = prompt.lists.map((list) => ({
    list,
    items: (found.lists?.[list.name] ?? []).map((item, index) => ({
      id: `${list.prefix}${index + 1}`,
      ...asItem(item),
    })),
  }))
  const questions = prompt.questions.flatMap((question): ReplyAnswer[] => {
    const control = controlVerdict(question, prompt)
    const scripted = control ?? found.verdicts?.[question.id] ?? verdictOnItem(question, found)
    return scripted === undefined ? [] : [toAnswer(question, scripted)]
  })
  const onItems = items.flatMap(({ list, items: listed }) =>
    listed.flatMap(({ id, verdict, reasoning = '' }): ReplyAnswer[] =>
      list.verdicts.length === 0 || verdict === undefined ? [] : [{ id, reasoning, verdict }],
    ),
  )
  return {
    ...Object.fromEntries(
      items.map(({ list, items: listed }) => [list.name, listed.map(({ id, text }) => ({ id, text }))]),
    ),
    answers: [...questions, ...onItems],
    ...(prompt.notes.length > 0 && {
      notes: Object.fromEntries(prompt.notes.map(({ name, list }) => [name, found.notes?.[name] ?? (list ? [] : '')])),
    }),
  }
}

function toAnswer(question: AskedQuestion, scripted: ScriptedVerdict): ReplyAnswer {
  const { verdict, reasoning = '', picks = [] } = typeof scripted === 'string' ? { verdict: scripted } : scripted
  return { id: question.id, reasoning, ...(question.picks && { [question.picks.name]: picks }), verdict }
}

/** Asked again, or in a second call, an item is a question with the item's id: `c2` is the second of the list `c…`. */
function verdictOnItem(question: AskedQuestion, found: ScriptedVerdicts): ScriptedVerdict | undefined {
  const list = / in "(\w+) found before"/.exec(question.text)?.[1]
  const position = Number(/\d+/.exec(question.id)?.[0])
  const item = list === undefined ? undefined : found.lists?.[list]?.[position - 1]
  if (item === undefined || typeof item === 'string' || item.verdict === undefined) return undefined
  return { verdict: item.verdict, reasoning: item.reasoning ?? '' }
}

function asItem(item: ScriptedItem): { text: string; verdict?: string; reasoning?: string } {
  return typeof item === 'string' ? { text: item } : item
}
