import { askForReply } from '../../judge/ask-for-reply.ts'
import { compromised } from '../../judge/prompt/control-question.ts'
import { parseReply } from '../../judge/reply/parse-reply.ts'
import type { Parsed } from '../../judge/reply/parse-reply.ts'
import type { JudgeSession, Outcome } from '../../judge/session.ts'
import { exampleOf } from './example-of.ts'
import { toJsonSchema, validateOutput } from '../code/schema/output-schema.ts'
import type { OutputSchema } from './scorer-steps.ts'
import { drawStepControl, takeControl } from './step-control.ts'
import { drawBoundary, stepPrompt, stepRepairPrompt } from './step-prompt.ts'
import type { Boundary, StepFrame } from './step-prompt.ts'

/** What is asked, and the shape of what is to come back. */
export interface ValueRequest {
  readonly instructions: string
  /** Writes the prompt; `quote` puts untrusted text inside the boundary of this call. */
  readonly createPrompt: (quote: Boundary['quote']) => string
  readonly outputSchema: OutputSchema<unknown>
  /** What a reply may look like. @default made of the schema */
  readonly example?: unknown
  /** Whether a reply that leaves the control question open counts for nothing. */
  readonly requireControl: boolean
}

/**
 * Asks the judge for one JSON value of a shape: strict parse, lenient parse, one repair without the prompt, then
 * `failed: judge-invalid-reply`. A reply that is empty, or lacks a control answer that is required, is asked for once more; a
 * wrong control answer is `failed: judge-compromised`.
 */
export async function askForValue(session: JudgeSession, request: ValueRequest): Promise<Outcome<unknown>> {
  const schema = await toJsonSchema(request.outputSchema)
  for (const isLast of [false, true]) {
    const reply = await askOnce(session, request, schema)
    if (!reply.ok) return reply
    const { value } = reply
    if (value?.control === 'wrong') return compromised(session)
    if (value !== undefined && (value.control === 'right' || !request.requireControl)) {
      return { ok: true, value: value.value }
    }
    if (!isLast && session.callsLeft > 0) continue
    return value === undefined
      ? session.failed('judge-invalid-reply', 'gave an empty reply. Take a model with structured output.')
      : session.failed(
          'judge-unanswered',
          'left its control question unanswered. Take a model with structured output, or leave judge.requireControl out.',
        )
  }
  throw new Error('expected the last try to return')
}

type Taken = ReturnType<typeof takeControl>

async function askOnce(
  session: JudgeSession,
  { instructions, createPrompt, outputSchema, example, requireControl }: ValueRequest,
  schema: Readonly<Record<string, unknown>>,
): Promise<Outcome<Taken | undefined>> {
  const { world, settings } = session.judge
  const boundary = drawBoundary(world.randomness, settings.maxPromptBytes)
  const prompt = createPrompt(boundary.quote)
  const control = drawStepControl(schema, prompt, world.randomness)
  const frame: StepFrame = { mark: boundary.mark, schema, example: example ?? exampleOf(schema), control }
  // A repair may put in what the schema asks for: only what the judge itself said of the control question counts.
  let isRepairedWithout = false
  const read = (text: string): Parsed<Taken> =>
    parseReply(text, (reply) => {
      const taken = takeControl(control, reply)
      const valid = validateOutput(outputSchema, schema, taken.value)
      return valid.ok ? { ok: true, value: { ...taken, value: valid.value } } : valid
    })
  const reply = await askForReply(session, {
    prompt: stepPrompt(instructions, prompt, frame),
    schema: control?.schema ?? schema,
    read,
    repair: (text, problem) => {
      isRepairedWithout = control !== undefined && !text.includes(control.key)
      return stepRepairPrompt(text, problem, frame, boundary.quote)
    },
  })
  if (!reply.ok || reply.value === undefined) return reply
  // Where there is no place for a control question, none can be required.
  if (control === undefined) return { ok: true, value: { ...reply.value, control: 'right' } }
  return isRepairedWithout && requireControl ? { ok: true, value: { ...reply.value, control: 'none' } } : reply
}
