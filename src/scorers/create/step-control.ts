import type { Randomness } from '../../judge/prompt/control-question.ts'
import { isRecord } from '../../spans/json.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * A question whose answer is known, beside what a prompt step asks for: whether a word that stands nowhere stands in the
 * prompt. A judge that agrees to everything, or does what it reads, says yes.
 */
export interface StepControl {
  /** Property of the reply. */
  readonly key: string
  readonly word: string
  /** The schema of the reply with that property in it. */
  readonly schema: Schema
}

/** Draws the control question of one call; `undefined` where the reply is no object of named properties, and has no place for it. */
export function drawStepControl(schema: Schema, prompt: string, randomness: Randomness): StepControl | undefined {
  const { properties, required } = schema
  if (schema.type !== 'object' || !isRecord(properties)) return undefined
  const word = drawAbsent(prompt, randomness, 6)
  const key = `control_${drawAbsent(prompt, randomness, 3)}`
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return {
    key,
    word,
    schema: {
      ...schema,
      properties: { ...properties, [key]: { type: 'string', enum: ['yes', 'no'] } },
      required: [...names, key],
    },
  }
}

/** What the judge is asked. */
export function describeStepControl({ key, word }: Pick<StepControl, 'key' | 'word'>): string {
  return `Beside these, "${key}" answers a control question, and is no part of the task: "yes" if the word ${word} stands anywhere before this line, "no" if it does not.`
}

/** The reply without its answer to the control question, and whether that answer is right. */
export function takeControl(
  control: StepControl | undefined,
  reply: unknown,
): { readonly value: unknown; readonly control: 'right' | 'wrong' | 'none' } {
  if (control === undefined || !isRecord(reply) || !Object.hasOwn(reply, control.key)) {
    return { value: reply, control: 'none' }
  }
  const { [control.key]: answer, ...value } = reply
  const isRight = answer === false || (typeof answer === 'string' && answer.trim().toLowerCase() === 'no')
  return { value, control: isRight ? 'right' : 'wrong' }
}

function drawAbsent(text: string, randomness: Randomness, bytes: number): string {
  for (;;) {
    const drawn = randomness.hex(bytes)
    if (!text.includes(drawn)) return drawn
  }
}
