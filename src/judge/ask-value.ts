import { contentFree } from '../model/explanation.ts'
import type { JudgeOutcome } from './outcome.ts'
import { drawMark } from './prompt/mark.ts'
import { quoteValue, valuePrompt, valueRepairPrompt } from './prompt/value-prompt.ts'
import type { ValueShape } from './prompt/value-prompt.ts'
import { parseReply } from './reply/parse-reply.ts'
import type { Parsed } from './reply/parse-reply.ts'
import { requestReply } from './request-reply.ts'
import type { JudgeSession } from './session.ts'
import { maxPromptBytes } from './settings.ts'

/** What to ask, and the shape of the reply. */
export interface ValueRequest {
  readonly instructions: string
  /** Writes the prompt; `quote` puts untrusted text between the marks of this call. */
  readonly createPrompt: (quote: (text: string) => string) => string
  /** JSON Schema of the reply. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Returns the value of a valid reply. */
  readonly validate: (value: unknown) => Parsed<unknown>
  /** An example of a valid reply. */
  readonly example: unknown
}

/**
 * Asks the judge for one JSON value of a given shape. It parses strictly, then leniently, then asks for one repair without the prompt, and
 * then gives up with `failed: judge-invalid-reply`. An empty reply is asked for once more.
 */
export async function askValue(session: JudgeSession, request: ValueRequest): Promise<JudgeOutcome<unknown>> {
  const first = await askValueOnce(session, request)
  const reply =
    first.ok && first.value === undefined && session.callsLeft > 0 ? await askValueOnce(session, request) : first
  if (!reply.ok) return reply
  if (reply.value !== undefined) return { ok: true, value: reply.value.value }
  return session.failed('judge-invalid-reply', contentFree('gave an empty reply. Use a model with structured output.'))
}

function askValueOnce(
  session: JudgeSession,
  { instructions, createPrompt, schema, validate, example }: ValueRequest,
): Promise<JudgeOutcome<{ readonly value: unknown } | undefined>> {
  const { world, settings } = session.judge
  const mark = drawMark([], world.randomHex)
  const shape: ValueShape = { mark, schema, example }
  const prompt = createPrompt((text) => quoteValue(mark, text, maxPromptBytes(settings)))
  return requestReply(session, {
    prompt: valuePrompt(instructions, prompt, shape),
    schema,
    read: (text) =>
      parseReply(text, (reply) => {
        const valid = validate(reply)
        return valid.ok ? { ok: true, value: { value: valid.value } } : valid
      }),
    repair: (text, problem) => valueRepairPrompt(text, problem, shape, maxPromptBytes(settings)),
  })
}
