import { isRecord } from '../../spans/json.ts'
import type { Boundary } from '../prompt/boundary.ts'
import type { Randomness } from '../randomness.ts'
import { isControlId } from './ids.ts'
import { drawAbsentWord } from './word-control.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * A control question beside the question of a prompt step: whether the prompt contains a word that it does not contain. A judge that agrees
 * to everything, or obeys what it reads, says yes.
 */
export interface ValueControl {
  /** The property of the reply that answers it. */
  readonly key: string
  readonly word: string
  /** The schema of the reply, including that property. */
  readonly schema: Schema
}

/**
 * Draws the control question of one call; `undefined` if the reply is not an object with named properties and cannot hold an answer.
 *
 * @param isDecoy whether the prompt quotes a decoy, encoded in the key; `undefined` if no prompt of this score does
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

/** The question as shown to the judge. */
export function describeValueControl({ key, word }: Pick<ValueControl, 'key' | 'word'>): string {
  return `Beside these, "${key}" answers a control question, and is no part of the task: "yes" if the word ${word} is anywhere before this line, "no" if it does not.`
}

/** Removes the control answer from the reply, and says whether it is right. */
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
