import { contentFree } from '../model/explanation.ts'
import { withoutPause } from '../scoring/in-slices.ts'
import { compromised } from './controls/compromised.ts'
import { Nonsense } from './controls/nonsense.ts'
import { drawValueControl, takeValueControl } from './controls/value-control.ts'
import type { JudgeOutcome } from './outcome.ts'
import { drawBoundary } from './prompt/boundary.ts'
import { cutMiddle } from './prompt/bound-sections.ts'
import { quoteText, valuePrompt, valueRepairPrompt } from './prompt/value-prompt.ts'
import type { ValueShape } from './prompt/value-prompt.ts'
import { parseReply } from './reply/parse-reply.ts'
import type { Parsed } from './reply/parse-reply.ts'
import { requestReply } from './request-reply.ts'
import type { JudgeSession } from './session.ts'

/** What to ask, and the shape of the reply. */
export interface ValueRequest {
  readonly instructions: string
  /** Writes the prompt; `quote` puts untrusted text inside the boundary of this call. */
  readonly createPrompt: (quote: (text: string) => string) => string
  /** JSON Schema of the reply. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Returns the value of a valid reply. */
  readonly validate: (value: unknown) => Parsed<unknown>
  /** An example of a valid reply. */
  readonly example: unknown
  /** Whether to reject a reply that leaves the control question unanswered. */
  readonly requireControl: boolean
  /**
   * Set if both the run and its decoy are asked about. `isQuoted` says that this prompt quotes the decoy; `runTexts` are the texts of the
   * run, whose words decoys are made of. The other version is in the prompt as well, so that a hidden instruction affects both.
   */
  readonly decoy?: { readonly isQuoted: boolean; readonly runTexts: readonly string[] }
}

/**
 * Asks the judge for one JSON value of a given shape. It parses strictly, then leniently, then asks for one repair without the prompt, and
 * then gives up with `failed: judge-invalid-reply`. It asks once more if a reply is empty or lacks a required control answer. A wrong
 * control answer is `failed: judge-compromised`.
 */
export async function askValue(session: JudgeSession, request: ValueRequest): Promise<JudgeOutcome<unknown>> {
  for (const isLast of [false, true]) {
    const reply = await askValueOnce(session, request)
    if (!reply.ok) return reply
    const { value } = reply
    if (value?.control === 'wrong') return compromised(session.judge.name, 'answered its control question wrongly')
    if (value !== undefined && (value.control === 'right' || !request.requireControl)) {
      return { ok: true, value: value.value }
    }
    if (!isLast && session.callsLeft > 0) continue
    return value === undefined
      ? session.failed('judge-invalid-reply', contentFree('gave an empty reply. Use a model with structured output.'))
      : session.failed(
          'judge-unanswered',
          contentFree(
            'left its control question unanswered. Use a model with structured output, or remove judge.requireControl.',
          ),
        )
  }
  throw new Error('expected the last try to return')
}

type Taken = ReturnType<typeof takeValueControl>

async function askValueOnce(session: JudgeSession, request: ValueRequest): Promise<JudgeOutcome<Taken | undefined>> {
  const { instructions, createPrompt, schema, validate, example, requireControl, decoy } = request
  const { world, settings } = session.judge
  const boundary = drawBoundary([], world.randomness)
  const others: string[] = []
  const quote = (whole: string): string => {
    if (decoy === undefined) return quoteText(boundary, whole, settings.maxPromptBytes)
    // A text that does not fit into the prompt needs no decoy.
    const { text } = cutMiddle({ text: whole }, settings.maxPromptBytes)
    const fragments = decoy.runTexts.flatMap((other) =>
      other === whole ? [] : [{ text: other, cut: 'last' as const }],
    )
    // The prompt is written by the developer's code, which waits for nothing.
    const source = withoutPause(Nonsense.create([text], [{ title: '', fragments }], world.randomness))
    const nonsense = withoutPause(source.of(text))
    others.push(decoy.isQuoted ? text : nonsense)
    return quoteText(boundary, decoy.isQuoted ? nonsense : text, settings.maxPromptBytes)
  }
  const written = createPrompt(quote)
  const prompt = [
    written,
    ...others.map((text) => quoteText(boundary, text, settings.maxPromptBytes, 'another text, which is not judged')),
  ].join('\n\n')
  const control = drawValueControl(schema, prompt, boundary, decoy?.isQuoted, world.randomness)
  const shape: ValueShape = { boundary, schema, example, control }
  // A repair may fill in whatever the schema requires, so only the control answer of the original reply counts.
  let isRepairedWithout = false
  const read = (text: string): Parsed<Taken> =>
    parseReply(text, (reply) => {
      const taken = takeValueControl(control, reply)
      const valid = validate(taken.value)
      return valid.ok ? { ok: true, value: { ...taken, value: valid.value } } : valid
    })
  const reply = await requestReply(session, {
    prompt: valuePrompt(instructions, prompt, shape),
    schema: control?.schema ?? schema,
    read,
    repair: (text, problem) => {
      isRepairedWithout = control !== undefined && !text.includes(control.key)
      return valueRepairPrompt(text, problem, shape, settings.maxPromptBytes)
    },
  })
  if (!reply.ok || reply.value === undefined) return reply
  // A reply without room for a control question cannot be required to answer one.
  if (control === undefined) return { ok: true, value: { ...reply.value, control: 'right' } }
  return isRepairedWithout && requireControl ? { ok: true, value: { ...reply.value, control: 'none' } } : reply
}
