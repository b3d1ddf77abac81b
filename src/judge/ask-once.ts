import { explain } from '../model/explanation.ts'
import { inSlices } from '../scoring/in-slices.ts'
import { NO_ITEM } from './controls/contradiction.ts'
import { compromised, praisesNonsense } from './controls/compromised.ts'
import type { ControlAnswer } from './controls/compromised.ts'
import type { Inquiry } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import { boundSections } from './prompt/bound-sections.ts'
import { buildPrompt } from './prompt/build-prompt.ts'
import { buildRepairPrompt } from './prompt/build-repair-prompt.ts'
import { prepareCall } from './prompt/prepare-call.ts'
import { align, normalId } from './reply/align.ts'
import { parseReply } from './reply/parse-reply.ts'
import { readReply, replySchema } from './reply/reply-schema.ts'
import type { RawAnswer, RawReply } from './reply/reply-schema.ts'
import { requestReply } from './request-reply.ts'
import type { JudgeSession } from './session.ts'
import { countAnswers } from './split-inquiry.ts'
import { tokensFor } from './transport/token-budget.ts'

/** A reply that passed its controls. Answers to questions are under our own ids. */
export interface OpenedReply extends Omit<RawReply, 'answers'> {
  readonly answers: readonly RawAnswer[]
  /** Answers about items, under the ids of the reply. */
  readonly itemAnswers: readonly RawAnswer[]
  /** Verdicts on the given sentences of each list; `undefined` if the reply leaves one out. */
  readonly ofGiven: ReadonlyMap<string, readonly { readonly text: string; readonly verdict: string | undefined }[]>
  /** The numbered sentences that the items of each list come from. */
  readonly sentences: ReadonlyMap<string, readonly string[]>
}

/**
 * Asks once, and returns a readable reply that passed its controls; `undefined` if it answers nothing, or leaves a control unanswered.
 *
 * @param withControls whether to draw decoys for this call
 */
export async function askOnce(
  session: JudgeSession,
  inquiry: Inquiry,
  withControls: boolean,
): Promise<JudgeOutcome<OpenedReply | undefined>> {
  const { settings, world, name } = session.judge
  const sections = boundSections(inquiry.sections, settings.maxPromptBytes)
  const call = await inSlices(prepareCall({ ...inquiry, sections }, world.randomness, withControls))
  const fitted = buildPrompt(call, settings.maxPromptBytes)
  if (fitted === undefined) return tooLarge(session, settings.maxPromptBytes)
  session.leftOut(fitted.cutBytes)
  const read = await requestReply(session, {
    prompt: fitted.prompt,
    schema: replySchema(call),
    maxOutputTokens: tokensFor(countAnswers(call), settings),
    read: (text) => parseReply(text, (value) => readReply(call, value)),
    repair: (reply, problem) => buildRepairPrompt(call, { reply, problem }, settings.maxPromptBytes),
  })
  if (!read.ok) return read
  if (read.value === undefined) return { ok: true, value: undefined }
  const { answers } = read.value
  const controls: ControlAnswer[] = []
  for (const [id, question] of call.controls) {
    const isAnswered = answers.some((answer) => normalId(answer.id) === id)
    if (!isAnswered) return { ok: true, value: undefined }
    // Unknown or contradictory verdicts on nonsense are not an honest answer.
    const [control] = align([{ verdicts: question.verdicts, text: '', ids: [id] }], answers).values()
    controls.push({ question, verdict: control?.verdict ?? question.verdicts[0] ?? '' })
  }
  if (praisesNonsense(controls))
    return compromised(name, 'answered a control question wrongly, and praised a text that makes no sense')
  const given = [...call.givenItems.values()].flat()
  const shownIds = new Set([...call.questions.flatMap(({ ids }) => ids), ...given.map(({ id }) => id)])
  const ofGiven = call.lists.map((list) => {
    const verdicts = [...(list.question?.verdicts ?? []), NO_ITEM]
    const real = (call.givenItems.get(list.name) ?? []).filter(({ isDecoy }) => !isDecoy)
    const found = align([{ verdicts, text: '', ids: real.map(({ id }) => id) }], answers)
    return [list.name, real.map(({ id, text }) => ({ text, verdict: found.get(id)?.verdict }))] as const
  })
  return {
    ok: true,
    value: {
      ...read.value,
      answers: answers.flatMap((answer) => {
        const own = call.names.get(normalId(answer.id))
        return own === undefined ? [] : [{ ...answer, id: own }]
      }),
      itemAnswers: answers.filter(({ id }) => !shownIds.has(normalId(id))),
      ofGiven: new Map(ofGiven),
      sentences: fitted.sentences,
    },
  }
}

function tooLarge(session: JudgeSession, maxPromptBytes: number): JudgeOutcome<never> {
  return session.skipped(
    explain`needs more of this run than fits into a prompt of ${maxPromptBytes} bytes, even without payloads. Raise judge.maxPromptBytes, or exclude such runs with when.`,
  )
}
