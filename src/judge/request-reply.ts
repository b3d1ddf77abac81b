import { contentFree, contentOnly, explain } from '../model/explanation.ts'
import { formatValue } from '../scoring/format-value.ts'
import type { Prompt } from './prompt/prompt.ts'
import type { Parsed } from './reply/parse-reply.ts'
import { mostTokens } from './transport/token-budget.ts'
import type { JudgeOutcome } from './outcome.ts'
import type { JudgeSession } from './session.ts'

/** A request, and how to read its reply. */
export interface ReplyRequest<T> {
  readonly prompt: Prompt
  /** JSON Schema of the reply, for providers that take one. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Maximum tokens of the reply. @default `judge.maxOutputTokens` */
  readonly maxOutputTokens?: number
  readonly read: (text: string) => Parsed<T>
  /** Writes the prompt that repairs a reply; it must not contain the untrusted text again. */
  readonly repair: (reply: string, problem: string) => Prompt
}

/**
 * Requests a readable reply. `read` parses strictly, then leniently. A reply that was cut off is requested again with more tokens; an
 * unreadable one is repaired once, and is then `failed: judge-invalid-reply`. Returns `undefined` for an empty reply. A refusal is `failed:
 * judge-refused`.
 */
export async function requestReply<T>(
  session: JudgeSession,
  request: ReplyRequest<T>,
): Promise<JudgeOutcome<T | undefined>> {
  const { prompt, schema, read, repair } = request
  const { settings } = session.judge
  const { maxOutputTokens = settings.maxOutputTokens } = request
  const moreTokens = mostTokens(settings)

  let reply = await session.call({ prompt, schema, maxOutputTokens })
  if (reply.ok && isTruncated(reply.value, read)) {
    if (session.callsLeft > 0) reply = await session.call({ prompt, schema, maxOutputTokens: moreTokens })
    if (reply.ok && isTruncated(reply.value, read)) {
      return session.failed(
        'judge-invalid-reply',
        explain`was cut off at ${moreTokens} tokens. Raise judge.maxOutputTokens.`,
      )
    }
  }
  if (!reply.ok) return reply
  const { text, finishReason } = reply.value
  if (finishReason === 'content-filter') {
    return session.failed(
      'judge-refused',
      contentFree('refused to answer, or its provider filtered the answer. Use another model for such content.'),
    )
  }
  const parsed = read(text)
  if (parsed.ok) return parsed
  if (text.trim() === '') return { ok: true, value: undefined }
  if (isRefusal(text)) {
    return session.failed('judge-refused', contentFree('refused to answer. Use another model for such content.'))
  }
  if (session.callsLeft > 0) {
    const repaired = await session.call({ prompt: repair(text, parsed.message), schema, maxOutputTokens: moreTokens })
    if (!repaired.ok) return repaired
    const second = read(repaired.value.text)
    if (second.ok) return second
  }
  return session.failed(
    'judge-invalid-reply',
    explain`gave a reply that could not be read${contentOnly(` (${formatValue(text.slice(0, 80))})`)}: ${contentFree(parsed.message)}, and it could not repair it. Use a model with structured output.`,
  )
}

/** Whether a reply is incomplete. A reply that reached the token limit may still be complete. */
function isTruncated<T>(
  reply: { readonly text: string; readonly finishReason: string },
  read: (text: string) => Parsed<T>,
): boolean {
  return reply.finishReason === 'length' && !read(reply.text).ok
}

/** Whether a short text without JSON is a refusal. A longer one may be a judgement in prose, which a repair can still read. */
function isRefusal(text: string): boolean {
  return (
    text.length < 600 &&
    !text.includes('{') &&
    /\b(?:I(?:'|’)?m sorry|I apologi[sz]e|I (?:cannot|can(?:'|’)t|am unable to|am not able to|won(?:'|’)t)|as an AI)\b/i.test(
      text,
    )
  )
}
