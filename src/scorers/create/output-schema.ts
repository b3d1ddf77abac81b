import { loadProviderUtils } from '../../judge/transport/packages.ts'
import type { Parsed } from '../../judge/reply/parse-reply.ts'
import { isRecord } from '../../spans/json.ts'
import { validateJson } from '../code/schema/json-schema.ts'
import type { OutputSchema, StandardSchema } from './scorer-steps.ts'

/** A JSON Schema, parsed. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns a JSON Schema unchanged, and converts a schema of a library through a part of the AI SDK, which supports them all. */
export async function toJsonSchema(schema: OutputSchema<unknown>): Promise<JsonSchema> {
  if (!isStandardSchema(schema)) return schema
  const cure = 'pass JSON Schema, or npm install @ai-sdk/provider-utils, 3 or later, which converts it'
  const message = `Expected outputSchema to be JSON Schema, got a schema of a library: ${cure}.`
  const { asSchema } = await loadProviderUtils().catch((error: unknown) => {
    throw new TypeError(message, { cause: error })
  })
  if (typeof asSchema !== 'function') throw new TypeError(message)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our structural type of the same standard
  const converted: unknown = await asSchema(schema as Parameters<typeof asSchema>[0]).jsonSchema
  if (isRecord(converted)) return converted
  throw new TypeError('Expected outputSchema to be JSON Schema, or a schema that can be written as JSON Schema.')
}

/** The value as parsed by the schema, or its problem. */
export function validateOutput(
  outputSchema: OutputSchema<unknown>,
  schema: JsonSchema,
  value: unknown,
): Parsed<unknown> {
  if (!isStandardSchema(outputSchema)) {
    const [error] = validateJson(schema, value)
    return error === undefined ? { ok: true, value } : { ok: false, message: error.message }
  }
  const result = outputSchema['~standard'].validate(value)
  if (result instanceof Promise) {
    throw new TypeError(
      'Expected outputSchema to validate synchronously, got a promise: leave out its asynchronous checks.',
    )
  }
  if (isRecord(result) && result.issues === undefined) return { ok: true, value: result.value }
  const issues: unknown = isRecord(result) ? result.issues : undefined
  const first: unknown = Array.isArray(issues) ? issues[0] : undefined
  const path = isRecord(first) && Array.isArray(first.path) ? `${first.path.map(String).join('.')}: ` : ''
  return { ok: false, message: `${path}${isRecord(first) ? String(first.message) : 'the schema refused it'}` }
}

function isStandardSchema(schema: OutputSchema<unknown>): schema is StandardSchema {
  return '~standard' in schema
}
