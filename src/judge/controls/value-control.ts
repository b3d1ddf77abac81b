import { isRecord } from '../../spans/json.ts'
import type { Boundary } from '../prompt/boundary.ts'
import type { Randomness } from '../randomness.ts'
import { isControlId } from './ids.ts'
import { drawAbsentWord } from './word-control.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * A question whose answer is known, beside what a prompt step asks for: whether a word that is nowhere is in the prompt. A judge
 * that agrees to everything, or does what it reads, says yes.
 */
export interface ValueControl {
  /** Property of the reply. */
  readonly key: string
  readonly word: string
  /** The schema of the reply with that property in it. */
  readonly schema: Schema
}

/**
 * Draws the control question of one call; `undefined` where the reply is no object of named properties, and has no place for it.
 *
 * @param isDecoy whether the prompt quotes a decoy, which the key says to those who can read it; `undefined` where no prompt does
 */
export function drawValueControl(
  schema: Schema,
  prompt: string,
  { mark }: Boundary,
  isDecoy: boolean | undefined,
  randomness: Randomness,
): ValueControl | undefined {
  const { properties, required } = schema
  if (schema.type !== 'object' || !isRecord(properties)) return undefined
  const isFit = (drawn: string): boolean =>
    !prompt.includes(drawn) && (isDecoy === undefined || isControlId(mark, drawn, randomness) === isDecoy)
  let key = `control_${randomness.hex(3)}`
  while (!isFit(key)) key = `control_${randomness.hex(3)}`
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return {
    key,
    word: drawAbsentWord([prompt], randomness),
    schema: {
      ...schema,
      properties: { ...properties, [key]: { type: 'string', enum: ['yes', 'no'] } },
      required: [...names, key],
    },
  }
}

/** What the judge is asked. */
export function describeValueControl({ key, word }: Pick<ValueControl, 'key' | 'word'>): string {
  return `Beside these, "${key}" answers a control question, and is no part of the task: "yes" if the word ${word} is anywhere before this line, "no" if it does not.`
}

/** The reply without its answer to the control question, and whether that answer is right. */
export function takeValueControl(
  control: ValueControl | undefined,
  reply: unknown,
): { readonly value: unknown; readonly control: 'right' | 'wrong' | 'none' } {
  if (control === undefined || !isRecord(reply) || !Object.hasOwn(reply, control.key)) {
    return { value: reply, control: 'none' }
  }
  const { [control.key]: answer, ...value } = reply
  const isRight = answer === false || (typeof answer === 'string' && answer.trim().toLowerCase() === 'no')
  return { value, control: isRight ? 'right' : 'wrong' }
}
