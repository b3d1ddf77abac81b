import { align } from './reply/align.ts'
import { askForReply } from './ask-for-reply.ts'
import { buildPrompt } from './prompt/build-prompt.ts'
import { buildRepairPrompt } from './prompt/build-repair-prompt.ts'
import { compromised, drawSecrets } from './prompt/control-question.ts'
import type { Inquiry } from './inquiry.ts'
import { parseReply } from './reply/parse-reply.ts'
import { roomFor } from './transport/token-budget.ts'
import { readReply, replySchema } from './reply/reply-schema.ts'
import type { RawReply } from './reply/reply-schema.ts'
import type { JudgeSession, Outcome } from './session.ts'
import { countAnswers } from './split-inquiry.ts'

/** One reply that could be read and whose control question is right; `undefined` where it answers nothing at all. */
export async function askOnce(session: JudgeSession, inquiry: Inquiry): Promise<Outcome<RawReply | undefined>> {
  const { settings, world } = session.judge
  const secrets = drawSecrets(inquiry, world.randomness)
  const fitted = buildPrompt(inquiry, secrets, settings.maxPromptBytes)
  if (fitted === undefined) return tooLarge(session, settings.maxPromptBytes)
  session.leftOut(fitted.cutBytes)
  const questions = [...inquiry.questions, secrets.control]
  const read = await askForReply(session, {
    prompt: fitted.prompt,
    schema: replySchema(inquiry, questions),
    maxOutputTokens: roomFor(countAnswers({ questions }), settings),
    read: (text) => parseReply(text, (value) => readReply(inquiry, questions, value)),
    repair: (reply, problem) => buildRepairPrompt(inquiry, secrets, { reply, problem }, settings.maxPromptBytes),
  })
  if (!read.ok || read.value === undefined) return read
  const { answers } = read.value
  const [control] = align([secrets.control], answers).values()
  const isAnswered = answers.some(({ id }) => secrets.control.ids.includes(id))
  if (isAnswered && control?.verdict !== secrets.expected) return compromised(session)
  // An answer to the control question is what makes the others count.
  return control === undefined ? { ok: true, value: undefined } : read
}

function tooLarge(session: JudgeSession, maxPromptBytes: number): Outcome<never> {
  return session.skipped(
    `would have to be shown more of this run than a prompt of ${maxPromptBytes} bytes may hold, its payloads left out. Raise judge.maxPromptBytes, or leave such runs out with when.`,
  )
}
