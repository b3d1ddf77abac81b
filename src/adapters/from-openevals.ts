import type { AgentRun } from '../model/agent-run.ts'
import { isRecord } from '../spans/json.ts'
import type { Scorer, Verdict } from '../scoring/scorer.ts'
import { expectReturned } from '../scorers/expect-returned.ts'
import { expectOption } from '../scorers/read-options.ts'
import { adapt, toVerdict } from './adapter.ts'
import type { AdapterOptions } from './adapter.ts'
import { toChatMessages } from './chat-messages.ts'

/** An evaluator of openevals: a function of inputs, outputs and reference outputs. */
export type OpenEvalsEvaluator = (params: never) => unknown

/** Options of `fromOpenEvals`. */
export interface FromOpenEvalsOptions extends AdapterOptions {
  /** The `key` of the result that is the score, if the evaluator returns several. @default the only one */
  readonly key?: string
  /**
   * The form of `inputs` and `outputs`: `text` for texts, `messages` for messages with tool calls, which trajectory evaluators take.
   *
   * @default 'text'
   */
  readonly form?: 'text' | 'messages'
  /** Further arguments of the evaluator, such as `{ context }`; they go before those that are made of the run. */
  readonly args?: (run: AgentRun) => Readonly<Record<string, unknown>>
}

/** The evaluators that do not call a model. */
const COMPUTED: ReadonlySet<string> = new Set(['exactMatch', 'levenshteinDistance'])

/**
 * Wraps an openevals evaluator. It is called with `inputs` (text of the last user message), `outputs` (the
 * answer's text) and, if there is an expected answer, `referenceOutputs`. A score of `true` is 1, `false` is 0, and the
 * comment is the explanation.
 *
 * @example
 * ```ts
 * import { CONCISENESS_PROMPT, createLLMAsJudge } from 'openevals'
 * import { fromOpenEvals } from 'spanscore/adapters'
 *
 * const judge = createLLMAsJudge({ prompt: CONCISENESS_PROMPT, model: 'openai:gpt-5-mini' })
 * const concise = fromOpenEvals(judge, { id: 'concise', model: 'openai/gpt-5-mini' })
 * ```
 *
 * @throws TypeError if it is not a function, has no name from which to derive an id, or an option is wrong
 */
export function fromOpenEvals(evaluator: OpenEvalsEvaluator, options: FromOpenEvalsOptions = {}): Scorer {
  const factory = 'fromOpenEvals'
  expectOption(typeof evaluator === 'function', factory, 'an evaluator of openevals, which is a function', evaluator)
  const { key, form = 'text', args, ...given } = options
  expectOption(form === 'text' || form === 'messages', factory, "options.form to be 'text' or 'messages'", form)
  expectOption(args === undefined || typeof args === 'function', factory, 'options.args to be a function', args)
  const hasOwnName = evaluator.name !== '' && evaluator.name !== 'wrappedEvaluator'
  const adapted: Scorer = adapt(
    {
      adapter: factory,
      name: hasOwnName ? evaluator.name : undefined,
      description: undefined,
      kind: COMPUTED.has(evaluator.name) ? 'code' : 'judge',
      model: undefined,
      // Those that compute compare the output with what is expected.
      mayLack: COMPUTED.has(evaluator.name) ? ['input', 'systemInstructions'] : ['systemInstructions'],
      toInput: (run, expected) => ({
        ...(form === 'text' ? { inputs: run.userInput, outputs: run.output ?? '' } : toChatMessages(run)),
        ...(expected !== undefined && { referenceOutputs: expected }),
        ...expectReturned(args?.(run), adapted.id, 'args to return an object', isRecord),
      }),
      score: async (input) => toResult(adapted.id, await Reflect.apply(evaluator, undefined, [input]), key),
    },
    given,
  )
  return adapted
}

function toResult(id: string, result: unknown, key: string | undefined): Verdict {
  const results: readonly unknown[] = Array.isArray(result) ? result : [result]
  const records = results.filter((each) => isRecord(each))
  const chosen = key === undefined ? records : records.filter((each) => each['key'] === key)
  const [only] = chosen
  if (only === undefined || chosen.length > 1) {
    const keys = records.map((each) => String(each['key'])).join(', ')
    const expected = key === undefined ? 'one result; name the one that counts in options.key' : `a result named ${key}`
    return { status: 'failed', code: 'invalid-score', message: `${id}: expected ${expected}, got ${keys || 'none'}.` }
  }
  return toVerdict(id, only['score'], only['comment'], only['metadata'])
}
