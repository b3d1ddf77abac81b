import { contentFree, explain, joinExplanations } from '../model/explanation.ts'
import type { Explanation } from '../model/explanation.ts'
import type { Answer, Answers, Inquiry, Item, Question } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import { buildPrompt, buildRepairPrompt } from './prompt/build-prompt.ts'
import { parseReply } from './reply/parse-reply.ts'
import { readReply, replySchema } from './reply/read-reply.ts'
import type { RawAnswer, RawReply } from './reply/read-reply.ts'
import { readVerdicts } from './reply/read-verdict.ts'
import { requestReply } from './request-reply.ts'
import type { JudgeSession } from './session.ts'
import { maxPromptBytes } from './settings.ts'
import { countAnswers, splitInquiry } from './split-inquiry.ts'
import { answersPerCall, tokensFor } from './transport/token-budget.ts'

/**
 * Asks the judge and accounts for every question: returns an answer for each of them, or a score that says why there is none.
 *
 * The judge receives ids and returns verdicts from a closed set; order, repetitions and unknown ids do not matter. Questions that do not
 * fit into one reply are split over several calls. A run that needs more calls than allowed is `skipped: not-applicable` before anything is
 * asked. Whatever has no valid verdict is asked for once more; what has none then is `failed: judge-unanswered`.
 */
export async function askInquiry(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<Answers>> {
  const perCall = answersPerCall(session.judge.settings)
  const parts = splitInquiry(inquiry, perCall)
  // One call is reserved for what is left unanswered.
  const mostParts = Math.max(1, session.callsLeft - 1)
  if (parts.length > mostParts) return tooMany(session, countAnswers(inquiry), perCall, mostParts)

  const found: Found = { answers: new Map(), items: new Map(), notes: new Map(), wrong: new Map() }
  const first = await askAll(session, parts, found)
  if (!first.ok) return first
  const open = remaining(inquiry, found)
  if (open === undefined) return { ok: true, value: toAnswers(found) }
  const partsAgain = splitInquiry(open, perCall)
  if (partsAgain.length <= session.callsLeft) {
    const second = await askAll(session, partsAgain, found)
    if (!second.ok) return second
  }
  const still = remaining(inquiry, found)
  return still === undefined ? { ok: true, value: toAnswers(found) } : unanswered(session, still, found)
}

/** What was found so far. */
interface Found {
  readonly answers: Map<string, Answer>
  readonly items: Map<string, readonly Item[]>
  readonly notes: Map<string, readonly string[]>
  /** What is wrong with the answers that do not count, by id. */
  readonly wrong: Map<string, Explanation>
}

async function askAll(session: JudgeSession, parts: readonly Inquiry[], found: Found): Promise<JudgeOutcome<void>> {
  for (const [index, part] of parts.entries()) {
    // Repairs and retries of earlier parts may have used up the calls; the rest is then left unanswered.
    if (index > 0 && session.callsLeft <= 0) break
    const reply = await askOnce(session, part)
    if (!reply.ok) return reply
    if (reply.value !== undefined) merge(part, found, reply.value)
  }
  return { ok: true, value: undefined }
}

/** Returns a readable reply; `undefined` if it is empty. */
async function askOnce(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<RawReply | undefined>> {
  const { settings, world } = session.judge
  const maxBytes = maxPromptBytes(settings)
  const fitted = buildPrompt(inquiry, maxBytes, world.randomHex)
  if (fitted === undefined) {
    return session.skipped(
      explain`needs more of this run than fits into a prompt of ${settings.maxPromptTokens} tokens, even without arguments and results. Raise judge.maxPromptTokens, or exclude such runs with when.`,
    )
  }
  session.leftOut(fitted)
  return requestReply(session, {
    prompt: fitted.prompt,
    schema: replySchema(inquiry),
    maxOutputTokens: tokensFor(countAnswers(inquiry), settings),
    read: (text) => parseReply(text, (value) => readReply(inquiry, value)),
    repair: (reply, problem) => buildRepairPrompt(inquiry, { reply, problem }, maxBytes, world.randomHex),
  })
}

function merge(asked: Inquiry, found: Found, reply: RawReply): void {
  const take = (id: string, question: Omit<Question, 'ids'>, raw: readonly RawAnswer[]): void => {
    const read = readVerdicts(question, raw)
    if ('answer' in read) found.answers.set(id, read.answer)
    // A wrong verdict says more than none in the second reply.
    else if (raw.length > 0 || !found.wrong.has(id)) found.wrong.set(id, read.wrong)
  }
  const byId = Map.groupBy(reply.answers, ({ id }) => normalId(id))
  for (const question of asked.questions) {
    for (const id of question.ids) take(id, question, byId.get(normalId(id)) ?? [])
  }
  for (const { name, prefix, max, question } of asked.lists ?? []) {
    const given = Map.groupBy(reply.items.get(name) ?? [], ({ text }) => text)
    const items = [...given].slice(0, max).map(([text, raw], index) => ({ id: `${prefix}${index + 1}`, text, raw }))
    found.items.set(
      name,
      items.map(({ id, text }) => ({ id, text })),
    )
    if (question !== undefined) for (const { id, raw } of items) take(id, question, raw)
  }
  for (const [name, texts] of reply.notes) if (texts.length > 0) found.notes.set(name, texts)
}

/** The inquiry for what has no valid answer; `undefined` if nothing is left. */
function remaining(inquiry: Inquiry, { answers, items }: Found): Inquiry | undefined {
  const lists = inquiry.lists ?? []
  const openLists = lists.filter(({ name, mustHaveItems }) => {
    const length = items.get(name)?.length
    return length === undefined || (length === 0 && mustHaveItems === true)
  })
  const openItems = lists.flatMap(({ name, question }) => {
    const open = question === undefined ? [] : (items.get(name) ?? []).filter(({ id }) => !answers.has(id))
    return question === undefined || open.length === 0
      ? []
      : [{ name, question, open, title: `"${name}", listed before` }]
  })
  const openQuestions = inquiry.questions
    .map((question) => ({ ...question, ids: question.ids.filter((id) => !answers.has(id)) }))
    .filter(({ ids }) => ids.length > 0)
  if (openLists.length === 0 && openItems.length === 0 && openQuestions.length === 0) return undefined
  return {
    ...inquiry,
    // Items are the judge's words about untrusted text, and are therefore untrusted too.
    sections: [
      ...inquiry.sections,
      ...openItems.map(({ title, open }) => ({
        title,
        fragments: open.flatMap(({ id, text }) => [
          { text: `${id}: ` },
          { text: text.replaceAll(/\s+/g, ' '), cut: 'judged' as const },
          { text: '\n' },
        ]),
      })),
    ],
    questions: [
      ...openQuestions,
      ...openItems.map(({ title, open, question }) => ({
        ...question,
        ids: open.map(({ id }) => id),
        text: `the item with this id in the section ${title}: ${question.text}`,
      })),
    ],
    lists: openLists,
  }
}

function toAnswers({ answers, items, notes }: Found): Answers {
  const judged = [...items].map(([name, list]): [string, readonly Item[]] => [
    name,
    list.map((item) => {
      const answer = answers.get(item.id)
      return answer === undefined ? item : { ...item, answer }
    }),
  ])
  return { answers, items: new Map(judged), notes }
}

function unanswered(session: JudgeSession, open: Inquiry, { wrong }: Found): JudgeOutcome<never> {
  const ids = open.questions.flatMap((question) => question.ids)
  const named = ids
    .slice(0, 5)
    .map((id) => explain`${contentFree(id)} has ${wrong.get(id) ?? contentFree('no verdict')}`)
  const lists = (open.lists ?? []).map(({ name }) => contentFree(`the list "${name}" is empty`))
  const more = ids.length > 5 ? [contentFree(`${ids.length - 5} more have none`)] : []
  const faults = joinExplanations([...named, ...more, ...lists], '; ')
  const calls = session.callsLeft <= 0 ? ' Raise judge.maxCallsPerScore to ask again.' : ''
  return session.failed(
    'judge-unanswered',
    explain`left questions open: ${faults}.${contentFree(calls)} See its replies with onJudgeCall.`,
  )
}

function tooMany(session: JudgeSession, answers: number, perCall: number, calls: number): JudgeOutcome<never> {
  return session.skipped(
    explain`needs to give ${answers} verdicts on this run, but may give only ${perCall * calls}: ${perCall} per reply in ${calls} calls, besides one call for unanswered questions. Raise judge.maxCallsPerScore or judge.maxOutputTokens, or exclude such runs with when.`,
  )
}

function normalId(id: string): string {
  return id.trim().toLowerCase()
}
