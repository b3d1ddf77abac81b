import { contentFree, explain } from '../model/explanation.ts'
import { askOnce } from './ask-once.ts'
import type { OpenedReply } from './ask-once.ts'
import { hidden } from './controls/compromised.ts'
import { hidesFault } from './controls/contradiction.ts'
import type { Answer, Answers, Inquiry, Item, ItemList } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import { nameIds } from './prompt/name-ids.ts'
import { toLine } from './prompt/segments.ts'
import { align, countNames, itemQuestion, lacksPicks, numberItems } from './reply/align.ts'
import type { JudgeSession } from './session.ts'
import { countAnswers, splitInquiry } from './split-inquiry.ts'
import { answersPerCall } from './transport/token-budget.ts'

/**
 * Asks the judge and accounts for every question: returns an answer for each of them, or a score that says why there is none.
 *
 * The judge receives ids and returns verdicts from a closed set; order, repetitions and unknown ids do not matter. Questions that do not
 * fit into one reply are split over several calls. A run that needs more calls than allowed is `skipped: not-applicable` before anything is
 * asked. Missing answers, and sentences without an item, are asked for once more; what is still missing then is `failed: judge-unanswered`.
 * A reply that praises a decoy is void: `failed: judge-compromised`.
 *
 * @param withControls whether to draw decoys for each call; if false, the caller verifies that replies can be trusted
 */
export async function askInquiry(
  session: JudgeSession,
  inquiry: Inquiry,
  withControls: boolean,
): Promise<JudgeOutcome<Answers>> {
  const perCall = answersPerCall(session.judge.settings)
  const parts = splitInquiry(inquiry, perCall)
  // One call is reserved for what is left unanswered.
  const mostParts = Math.max(1, session.callsLeft - 1)
  if (parts.length > mostParts) return tooMany(session, countAnswers(inquiry), perCall, mostParts)

  const found: Found = {
    answers: new Map(),
    items: new Map(),
    sentences: new Map(),
    uncovered: new Set(),
    hiding: new Set(),
    doubted: new Map(),
    notes: new Map(),
  }
  const first = await askAll(session, parts, found, withControls)
  if (!first.ok) return first
  const open = remaining(inquiry, found)
  const again = open ?? lackingPicks(inquiry, found)
  if (again === undefined) return { ok: true, value: withAnswers(inquiry, found) }

  const partsAgain = splitInquiry(again, perCall)
  const second =
    partsAgain.length <= session.callsLeft ? await askAll(session, partsAgain, found, withControls) : undefined
  if (open === undefined) return { ok: true, value: withAnswers(inquiry, found) }
  if (second?.ok === false) return second
  const still = remaining(inquiry, found)
  if (still === undefined) return { ok: true, value: withAnswers(inquiry, found) }
  const [hiding] = found.hiding
  return hiding === undefined ? unanswered(session, still) : hidden(session.judge.name, hiding)
}

/** The answers and items found so far. */
interface Found {
  readonly answers: Map<string, Answer>
  readonly items: Map<string, readonly Item[]>
  readonly sentences: Map<string, readonly string[]>
  /** Lists that leave a sentence without an item and do not report it. */
  readonly uncovered: Set<string>
  /** Lists that omit what is wrong with a sentence. */
  readonly hiding: Set<string>
  /** By list, the parts of long sentences that the judge calls bad without listing anything bad. */
  readonly doubted: Map<string, readonly string[]>
  readonly notes: Map<string, readonly string[]>
}

async function askAll(
  session: JudgeSession,
  parts: readonly Inquiry[],
  found: Found,
  withControls: boolean,
): Promise<JudgeOutcome<void>> {
  for (const [index, part] of parts.entries()) {
    // Repairs and retries of earlier parts may have used up the calls; the rest is then left unanswered.
    if (index > 0 && session.callsLeft <= 0) break
    const reply = await askOnce(session, part, withControls)
    if (!reply.ok) return reply
    if (reply.value !== undefined) merge(part, found, reply.value)
  }
  return { ok: true, value: undefined }
}

function merge(asked: Inquiry, found: Found, reply: OpenedReply): void {
  for (const [id, answer] of align(asked.questions, reply.answers)) {
    // A verdict is final. Asking again can only add its picks.
    const before = found.answers.get(id)
    if (before === undefined || before.verdict === answer.verdict) found.answers.set(id, answer)
  }
  for (const [name, texts] of reply.notes) if (texts.length > 0) found.notes.set(name, texts)
  const names = countNames(reply.items.values(), asked.questions)
  for (const list of asked.lists ?? []) mergeList(list, found, reply, names)
}

function mergeList(list: ItemList, found: Found, reply: OpenedReply, names: ReadonlyMap<string, number>): void {
  const sentences = reply.sentences.get(list.name) ?? []
  const items = numberItems(list, reply.items.get(list.name) ?? [], sentences, names)
  found.items.set(list.name, items)
  found.sentences.set(list.name, sentences)
  const covered = new Set([...items.map(({ sentence }) => sentence), ...(reply.without.get(list.name) ?? [])])
  const given = reply.ofGiven.get(list.name) ?? []
  const isCovered = list.coversAll === false || sentences.every((_, index) => covered.has(index + 1))
  if (isCovered && given.every(({ verdict }) => verdict !== undefined)) found.uncovered.delete(list.name)
  else found.uncovered.add(list.name)
  for (const { id, givenId } of items) {
    const question = givenId === undefined ? undefined : itemQuestion(list, [givenId])
    const [answer] = question === undefined ? [] : align([question], reply.itemAnswers).values()
    if (answer === undefined) found.answers.delete(id)
    else found.answers.set(id, answer)
  }
  const verdicts = list.question?.verdicts ?? []
  const lines = sentences.map(toLine)
  const isContradicted = (number: number, verdict: string | undefined): boolean => {
    if (number === 0 || verdict === undefined) return false
    const own = items.filter(({ sentence }) => sentence === number).map(({ id }) => found.answers.get(id)?.verdict)
    // If a list need not cover every sentence, a sentence may have no item for a legitimate reason.
    return (own.length > 0 || list.coversAll !== false) && hidesFault(verdicts, verdict, own)
  }
  const parts = given.filter(({ text }) => !lines.includes(text))
  const doubted = parts.filter(({ text, verdict }) =>
    isContradicted(lines.findIndex((line) => line.includes(text)) + 1, verdict),
  )
  if (doubted.length > 0) {
    found.doubted.set(
      list.name,
      doubted.map(({ text }) => text),
    )
  } else found.doubted.delete(list.name)
  if (given.some(({ text, verdict }) => isContradicted(lines.indexOf(text) + 1, verdict))) found.hiding.add(list.name)
  else found.hiding.delete(list.name)
}

/** The inquiry for what is still unanswered; `undefined` if nothing is. */
function remaining(inquiry: Inquiry, found: Found): Inquiry | undefined {
  const lists = inquiry.lists ?? []
  const openLists = lists.filter((list) => {
    const items = found.items.get(list.name)
    const isOpen = found.uncovered.has(list.name) || found.hiding.has(list.name)
    return items === undefined || isOpen || (items.length === 0 && list.mustHaveItems === true)
  })
  const openQuestions = withIds(inquiry, (_, id) => !found.answers.has(id))
  const openItems = lists.flatMap((list) => {
    const isOpen = list.question === undefined || openLists.includes(list)
    const items = isOpen ? [] : (found.items.get(list.name) ?? [])
    const open = items.filter(({ id }) => !found.answers.has(id))
    return open.length === 0 ? [] : [{ list, items: open }]
  })
  if (openLists.length === 0 && openQuestions.length === 0 && openItems.length === 0) return undefined
  return {
    ...inquiry,
    // Items are the judge's words about untrusted text, and are therefore untrusted too.
    sections: [
      ...inquiry.sections,
      ...openItems.map(({ list, items }) => ({
        title: `${list.name} found before`,
        fragments: items.flatMap(({ id, text }) => [
          { text: '', idOf: id },
          { text, cut: 'last' as const },
          { text: '\n' },
        ]),
      })),
    ],
    questions: [
      ...openQuestions,
      ...openItems.flatMap(({ list, items }) => {
        const question = itemQuestion(
          list,
          items.map(({ id }) => id),
        )
        return question === undefined
          ? []
          : [{ ...question, text: `The item with this id in "${list.name} found before": ${question.text}` }]
      }),
    ],
    lists: openLists,
  }
}

/** The inquiry for answers that lack required picks; `undefined` if there are none. */
function lackingPicks(inquiry: Inquiry, found: Found): Inquiry | undefined {
  const questions = withIds(inquiry, (question, id) => {
    const answer = found.answers.get(id)
    return answer !== undefined && lacksPicks(question, answer)
  })
  return questions.length === 0 ? undefined : { ...inquiry, questions, lists: [], notes: [] }
}

/** Limits the questions to the given ids. */
function withIds(
  { questions }: Inquiry,
  isMeant: (question: Inquiry['questions'][number], id: string) => boolean,
): Inquiry['questions'] {
  return questions
    .map((question) => ({ ...question, ids: question.ids.filter((id) => isMeant(question, id)) }))
    .filter(({ ids }) => ids.length > 0)
}

function withAnswers({ lists = [] }: Inquiry, found: Found): Answers {
  const items = lists.map((list): [string, readonly Item[]] => [
    list.name,
    (found.items.get(list.name) ?? []).map((item) => {
      const answer = list.question === undefined ? undefined : found.answers.get(item.id)
      return answer === undefined ? item : { ...item, answer }
    }),
  ])
  const { answers, sentences, notes, doubted } = found
  return { answers, items: new Map(items), sentences, notes, doubted }
}

function unanswered(session: JudgeSession, open: Inquiry): JudgeOutcome<never> {
  const ids = open.questions.flatMap((question) => question.ids)
  const lists = (open.lists ?? []).map(({ name }) => `the list "${name}"`)
  const named = [...(ids.length > 0 ? [nameIds(ids.slice(0, 5))] : []), ...lists].join(', ')
  const shown = ids.length > 5 ? `${named} and ${ids.length - 5} more` : named
  return session.failed(
    'judge-unanswered',
    explain`left ${contentFree(shown)} unanswered. Use a stronger model, or raise judge.maxOutputTokens or judge.maxCallsPerScore.`,
  )
}

function tooMany(session: JudgeSession, answers: number, perCall: number, calls: number): JudgeOutcome<never> {
  return session.skipped(
    explain`needs to give ${answers} verdicts on this run, but may give only ${perCall * calls}: ${perCall} per reply in ${calls} calls, besides one call for unanswered questions. Raise judge.maxCallsPerScore or judge.maxOutputTokens, or exclude such runs with when.`,
  )
}
