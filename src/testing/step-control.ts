import { isTestControl } from './judge-key.ts'
import { valueOfSchema } from './schema-value.ts'

/**
 * Adds the correct answer of the control question to a reply to a prompt of `createScorer`. A prompt that
 * quotes a decoy (meaningless text) gets the least favourable reply that the schema allows.
 */
export function withStepControl(prompt: string, reply: unknown, schema: unknown): unknown {
  const [line, key = '', word = ''] =
    /^Beside these, "(control_[0-9a-f]+)" answers a control question, .* the word (\w+) .*$/m.exec(prompt) ?? []
  if (line === undefined || typeof reply !== 'object' || reply === null || Array.isArray(reply)) return reply
  const mark = /^([0-9a-f]{32}) begin: /m.exec(prompt)?.[1]
  const isDecoy = mark !== undefined && prompt.includes(' begin: another text') && isTestControl(mark, key)
  const answer = prompt.replace(line, '').includes(word) ? 'yes' : 'no'
  return { ...(isDecoy ? asObject(valueOfSchema(schema, false)) : reply), [key]: answer }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
