import { align, countNames, itemQuestion, numberItems } from './align.ts'
import { askForReply } from './ask-for-reply.ts'
import { buildPrompt, buildRepairPrompt } from './build-prompt.ts'
import { drawSecrets } from './control-question.ts'
import type { Answer, Answers, Inquiry, Item, ItemList } from './inquiry.ts'
import { parseReply } from './parse-reply.ts'
import { readReply, replySchema } from './reply-schema.ts'
import type { RawReply } from './reply-schema.ts'
import type { JudgeSession, Outcome } from './session.ts'

/**
 * Asks the judge, and accounts for every question: what comes back has an answer for each, or is a score that says why not.
 *
 * Ids go in, verdicts out of a closed set come back; order, repetition and inventions do not matter. What is unanswered is asked
 * for once more; what is unanswered then is `failed: judge-unanswered`. A reply that answers its control question wrongly is
 * void: `failed: judge-compromised`.
 */
export async function ask(session: JudgeSession, inquiry: Inquiry): Promise<Outcome<Answers>> {
  const first = await askOnce(session, inquiry)
  if (!first.ok) return first
  const lists = inquiry.lists ?? []
  const found = collect(inquiry, first.value)
  const again = remaining(inquiry, found)
  if (again === undefined) return { ok: true, value: withAnswers(lists, found) }
  if (session.callsLeft <= 0) return unanswered(session, again)
  const second = await askOnce(session, again)
  if (!second.ok) return second
  merge(again, found, second.value)
  const still = remaining(inquiry, found)
  return still === undefined ? { ok: true, value: withAnswers(lists, found) } : unanswered(session, still)
}

/** What is known so far. */
interface Found {
  readonly answers: Map<string, Answer>
  readonly items: Map<string, readonly Item[]>
  readonly notes: Map<string, readonly string[]>
}

function collect(inquiry: Inquiry, reply: RawReply | undefined): Found {
  const found: Found = { answers: new Map(), items: new Map(), notes: new Map() }
  merge(inquiry, found, reply)
  return found
}

function merge(asked: Inquiry, found: Found, reply: RawReply | undefined): void {
  if (reply === undefined) return
  for (const [id, answer] of align(asked.questions, reply.answers)) found.answers.set(id, answer)
  for (const [name, texts] of reply.notes) if (texts.length > 0) found.notes.set(name, texts)
  const names = countNames(reply.items.values(), asked.questions)
  for (const list of asked.lists ?? []) {
    const items = numberItems(list, reply.items.get(list.name) ?? [], names)
    found.items.set(list.name, items)
    for (const { id, givenId } of items) {
      const question = givenId === undefined ? undefined : itemQuestion(list, givenId)
      const [answer] = question === undefined ? [] : align([question], reply.answers).values()
      if (answer !== undefined) found.answers.set(id, answer)
    }
  }
}

/** The inquiry for what is still open; `undefined` where nothing is. */
function remaining(inquiry: Inquiry, found: Found): Inquiry | undefined {
  const lists = inquiry.lists ?? []
  const openLists = lists.filter((list) => {
    const items = found.items.get(list.name)
    return items === undefined || (items.length === 0 && list.mustHaveItems === true)
  })
  const openQuestions = inquiry.questions.filter(({ id }) => !found.answers.has(id))
  const openItems = lists.flatMap((list) =>
    (found.items.get(list.name) ?? [])
      .filter(({ id }) => list.question !== undefined && !found.answers.has(id))
      .map((item) => ({ list, item })),
  )
  if (openLists.length === 0 && openQuestions.length === 0 && openItems.length === 0) return undefined
  return {
    ...inquiry,
    // The items are the judge's words about untrusted text, and so untrusted themselves.
    sections: [
      ...inquiry.sections,
      ...lists
        .filter((list) => openItems.some((open) => open.list === list))
        .map((list) => ({
          title: `${list.name} found before`,
          text: openItems
            .filter((open) => open.list === list)
            .map(({ item }) => `${item.id}: ${item.text}`)
            .join('\n'),
        })),
    ],
    questions: [
      ...openQuestions,
      ...openItems.flatMap(({ list, item }) => {
        const question = itemQuestion(list, item.id)
        const text = `Of ${item.id} in "${list.name} found before": ${question?.text}`
        return question === undefined ? [] : [{ ...question, text }]
      }),
    ],
    lists: openLists,
  }
}

function withAnswers(lists: readonly ItemList[], found: Found): Answers {
  const items = lists.map((list): [string, readonly Item[]] => [
    list.name,
    (found.items.get(list.name) ?? []).map((item) => {
      const answer = list.question === undefined ? undefined : found.answers.get(item.id)
      return answer === undefined ? item : { ...item, answer }
    }),
  ])
  return { answers: found.answers, items: new Map(items), notes: found.notes }
}

function unanswered(session: JudgeSession, open: Inquiry): Outcome<never> {
  const ids = [...open.questions.map(({ id }) => id), ...(open.lists ?? []).map(({ name }) => `the list "${name}"`)]
  const shown = ids.length > 5 ? `${ids.slice(0, 5).join(', ')} and ${ids.length - 5} more` : ids.join(', ')
  return session.failed(
    'judge-unanswered',
    `left ${shown} unanswered. Take a stronger model, or raise judge.maxOutputTokens.`,
  )
}

/** One reply that could be read and whose control question is right; `undefined` where it answers nothing at all. */
async function askOnce(session: JudgeSession, inquiry: Inquiry): Promise<Outcome<RawReply | undefined>> {
  const secrets = drawSecrets(inquiry, session.judge.world.randomness)
  const questions = [...inquiry.questions, secrets.control]
  const read = await askForReply(session, {
    prompt: buildPrompt(inquiry, secrets),
    schema: replySchema(inquiry, questions),
    read: (text) => parseReply(text, (value) => readReply(inquiry, questions, value)),
    repair: (reply, problem) => buildRepairPrompt(inquiry, secrets, reply, problem),
  })
  if (!read.ok || read.value === undefined) return read
  const { answers } = read.value
  const control = align([secrets.control], answers).get(secrets.control.id)
  const wrong = answers.some((answer) => answer.id === secrets.control.id) && control?.verdict !== secrets.expected
  if (wrong) {
    return session.failed(
      'judge-compromised',
      'answered its control question wrongly: it was talked over by the text it judged, or does not read it. Its reply is void. Look at the run for instructions to judges, or take a stronger model.',
    )
  }
  // An answer to the control question is what makes the others count.
  return control === undefined ? { ok: true, value: undefined } : read
}
