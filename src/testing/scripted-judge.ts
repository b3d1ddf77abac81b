import { judgeReply } from './judge-reply.ts'
import type { ScriptedVerdicts } from './judge-reply.ts'
import { createTextModel } from './text-model.ts'
import type { TextModel, TextModelCall, TextModelReply } from './text-model.ts'

/** A scripted judge's answer: findings, an exact text, or an error. */
export type ScriptedJudgeReply =
  | string
  | (ScriptedVerdicts &
      Omit<TextModelReply, 'text'> & {
        /** Sent unchanged, instead of a reply made of verdicts. */
        readonly text?: string
        /** Sent as JSON, for steps of `createScorer` that have their own schema. */
        readonly json?: unknown
        /** Thrown in place of a reply, like a provider's error. */
        readonly error?: unknown
      })

/** Replies in order, one reply for every call, or a function of the call. */
export type JudgeScript =
  | ScriptedJudgeReply
  | readonly ScriptedJudgeReply[]
  | ((call: TextModelCall) => ScriptedJudgeReply | Promise<ScriptedJudgeReply>)

/**
 * Creates a judge with scripted findings: verdicts by question id, items by list.
 *
 * @param script one reply for every call, replies in order, or a function
 * @example
 * ```ts
 * const model = createScriptedJudge({ lists: { claims: [{ text: 'It is sunny.', verdict: 'supported' }] } })
 * const { score } = await createFaithfulnessScorer({ model, options: { context: ['It is sunny in Oslo.'] } }).run({
 *   input: 'How is the weather?',
 *   output: 'It is sunny.',
 * })
 * // score: 1
 * ```
 */
export function createScriptedJudge(script: JudgeScript, modelId = 'scripted-judge'): TextModel {
  return createTextModel({ provider: 'spanscore', modelId }, async (call) => {
    const reply = await replyTo(script, call)
    if (typeof reply === 'string') return { text: reply }
    if (reply.error !== undefined) throw reply.error
    const { finishReason, usage, modelId: answeredBy } = reply
    return {
      text: reply.text ?? (reply.json === undefined ? judgeReply(reply) : JSON.stringify(reply.json)),
      ...(finishReason !== undefined && { finishReason }),
      ...(usage !== undefined && { usage }),
      ...(answeredBy !== undefined && { modelId: answeredBy }),
    }
  })
}

function replyTo(script: JudgeScript, call: TextModelCall): ScriptedJudgeReply | Promise<ScriptedJudgeReply> {
  if (typeof script === 'function') return script(call)
  if (!isList(script)) return script
  return (
    script[call.index] ?? {
      error: new Error(`The script holds ${script.length} replies, and this is call ${call.index + 1}.`),
    }
  )
}

function isList(script: Exclude<JudgeScript, (...call: never) => unknown>): script is readonly ScriptedJudgeReply[] {
  return Array.isArray(script)
}
