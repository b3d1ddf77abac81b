import { hidden, isPraise } from './controls/compromised.ts'
import { MOST_CHARACTERS } from './controls/given-items.ts'
import type { Answers, Inquiry, Item, ItemList } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import { toLine, toParts, toSentences } from './prompt/segments.ts'
import { shuffled } from './randomness.ts'
import type { JudgeSession } from './session.ts'
import { answersPerCall } from './transport/token-budget.ts'
import { verifyItems } from './verify-items.ts'

/** Maximum number of decoys that are asked about together with the parts. */
const MOST_DECOYS = 6

/**
 * Settles lists that a judge contradicts: it calls a part of a long sentence bad, and lists nothing bad of that sentence. An honest judge
 * may do so, because a part says less than its sentence, and so does a judge that was talked into flattering items. The parts of the text
 * take the place of the items: the judge is asked about each of them, apart from the text, among nonsense items. An honest judge is scored
 * by that; one that now praises what it called bad is not believed.
 */
export async function askParts(
  session: JudgeSession,
  inquiry: Inquiry,
  found: Answers,
): Promise<JudgeOutcome<Answers>> {
  const lists = (inquiry.lists ?? []).filter(({ name }) => found.doubted?.has(name) === true)
  const [first] = lists
  if (first === undefined) return { ok: true, value: found }
  if (session.callsLeft <= 0) return hidden(session.judge.name, first.name)
  const parts = lists.map((list) => [list.name, partsOf(session, list, found)] as const)
  const outcome = await verifyItems(
    session,
    { ...inquiry, lists },
    { ...found, items: new Map(parts), sentences: new Map() },
  )
  if (!outcome.ok) return outcome
  const isFlattered = lists.some(({ name, question }) => {
    const judged = outcome.value.get(name) ?? []
    return found.doubted?.get(name)?.some((text) => {
      const verdict = judged.find((item) => item.text === text)?.answer?.verdict
      return verdict === undefined || isPraise(question?.verdicts ?? [], verdict)
    })
  })
  if (isFlattered) return hidden(session.judge.name, first.name)
  return { ok: true, value: { ...found, items: new Map([...found.items, ...outcome.value]) } }
}

/** The parts of a list's text, as items: those that are doubted, and as many others as one reply has room for. */
function partsOf(session: JudgeSession, list: ItemList, { sentences, doubted }: Answers): readonly Item[] {
  const all = (sentences.get(list.name) ?? []).flatMap((sentence, index) =>
    toSentences(sentence, Number.POSITIVE_INFINITY)
      .flatMap((one) => toParts(one, MOST_CHARACTERS))
      .map((text) => ({ text: toLine(text), sentence: index + 1 })),
  )
  const texts = doubted?.get(list.name) ?? []
  const kept = all.filter(({ text }) => texts.includes(text))
  const missing = texts
    .filter((text) => kept.every((part) => part.text !== text))
    .map((text) => ({ text, sentence: 1 }))
  const most = Math.max(1, Math.min(list.max, answersPerCall(session.judge.settings) - MOST_DECOYS))
  const others = shuffled(
    all.filter((part) => !kept.includes(part)),
    session.judge.world.randomness,
  ).slice(0, Math.max(0, most - texts.length))
  const chosen = new Set([...kept, ...others])
  return [...missing, ...all.filter((part) => chosen.has(part))].map(({ text, sentence }, index) => ({
    id: `${list.prefix}${index + 1}`,
    text,
    sentence,
  }))
}
