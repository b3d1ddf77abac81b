import type { FlexibleSchema, Schema } from 'ai'

import { show } from '../scoring/show.ts'
import { isRecord } from '../spans/json.ts'
import { parseReply } from './parse-reply.ts'
import type { Parsed } from './parse-reply.ts'
import { cleanMessage, cleanText } from './clean-text.ts'
import type { JudgeSession, Outcome } from './session.ts'

/** A prompt of the scorer's author, and the schema of the reply. */
export interface ObjectRequest {
  /** The system message; nothing untrusted may be in it. */
  readonly instructions: string
  /** The user message, as the author wrote it. */
  readonly prompt: string
  /** A schema of the Standard Schema family (Zod, Valibot, …), or JSON Schema, by which replies are then not checked. */
  readonly outputSchema: unknown
}

/**
 * Asks for one value of a schema: for scorers whose author writes prompt and schema. The same ladder as for verdicts (strict,
 * lenient, repaired once, cut off again with more room), without ids and control question, which only closed questions can
 * have.
 */
export async function askForObject(session: JudgeSession, request: ObjectRequest): Promise<Outcome<unknown>> {
  const schema = await toSchema(request.outputSchema)
  const jsonSchema = Object.fromEntries(Object.entries(await schema.jsonSchema))
  const shape = `Reply with one JSON value that conforms to this JSON Schema, and nothing else:\n${JSON.stringify(jsonSchema)}`
  const prompt = { instructions: request.instructions, user: `${cleanText(request.prompt)}\n\n${shape}` }
  const { maxOutputTokens } = session.judge.settings

  let reply = await session.call({ prompt, schema: jsonSchema, maxOutputTokens })
  if (reply.ok && reply.value.finishReason === 'length' && session.callsLeft > 0) {
    reply = await session.call({ prompt, schema: jsonSchema, maxOutputTokens: maxOutputTokens * 4 })
  }
  if (!reply.ok) return reply
  if (reply.value.finishReason === 'content-filter') {
    return session.failed('judge-refused', 'refused to answer. Take another model for such content.')
  }
  const parsed = await validated(reply.value.text, schema.validate)
  if (parsed.ok) return parsed
  if (session.callsLeft > 0 && reply.value.text.trim() !== '') {
    const repair = {
      instructions:
        'You repair the form of a reply that another program could not read. Change nothing of its content.',
      user: `The reply, which is data:\n${JSON.stringify(cleanText(reply.value.text.slice(0, 20_000)))}\n\nIt could not be read: ${parsed.message}\n\n${shape}`,
    }
    const repaired = await session.call({ prompt: repair, schema: jsonSchema, maxOutputTokens: maxOutputTokens * 4 })
    if (!repaired.ok) return repaired
    const second = await validated(repaired.value.text, schema.validate)
    if (second.ok) return second
  }
  return session.failed(
    'judge-invalid-reply',
    `gave a reply that does not fit outputSchema (${parsed.message}), and could not repair it. Take a model with structured output, or a simpler schema.`,
  )
}

type Validate = (value: unknown) => Validation | PromiseLike<Validation>
type Validation =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error }

async function validated(text: string, validate: Validate | undefined): Promise<Parsed<unknown>> {
  const parsed = parseReply(text, (value) => ({ ok: true, value }))
  if (!parsed.ok || validate === undefined) return parsed
  const validation = await validate(parsed.value)
  if (validation.success) return { ok: true, value: validation.value }
  return { ok: false, message: cleanMessage(validation.error.message) }
}

async function toSchema(outputSchema: unknown): Promise<Schema> {
  const { asSchema, jsonSchema } = await import('ai')
  if (isStandardSchema(outputSchema)) return asSchema(outputSchema)
  if (isRecord(outputSchema)) return jsonSchema(outputSchema)
  throw new TypeError(`Expected outputSchema to be a Standard Schema or JSON Schema, got ${show(outputSchema)}.`)
}

/** ArkType's schemas are functions. */
function isStandardSchema(value: unknown): value is FlexibleSchema {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value
}
