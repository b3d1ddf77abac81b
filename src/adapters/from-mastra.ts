import { contentFree, explain } from '../model/explanation.ts'
import type { AgentRun, ToolCall } from '../model/agent-run.ts'
import type { Message } from '../model/message.ts'
import { isRecord } from '../spans/json.ts'
import type { Scorer } from '../scoring/scorer.ts'
import { skip } from '../scorers/skip.ts'
import { expectOption } from '../scorers/read-options.ts'
import { adapt, toVerdict } from './adapter.ts'
import type { AdapterOptions } from './adapter.ts'

/** A Mastra scorer, created by `createScorer` of `@mastra/core/evals` or prebuilt in `@mastra/evals`. */
export interface MastraScorer {
  /** Becomes the id of our scorer, after characters that ids must not contain are replaced. */
  readonly id?: string
  /** Display name. */
  readonly name?: string
  /** What the score means. */
  readonly description?: string
  /** The model that answers the scorer's prompts; absent in scorers without a model. */
  readonly judge?: unknown
  /** Scores one run, in Mastra's own form. */
  run(input: never): Promise<unknown>
}

/** Options of `fromMastra`. */
export interface FromMastraOptions extends AdapterOptions {
  /**
   * The form of the scorer's `run.input` and `run.output`: `agent` for Mastra's messages with tool calls, `text` for texts.
   *
   * @default 'agent'
   */
  readonly form?: 'agent' | 'text'
}

/**
 * Wraps a Mastra scorer. It is called as Mastra calls it for an agent: `run.input` holds the messages that the
 * run received, `run.output` the messages that it answered with, including tool calls and their results. `groundTruth` is
 * the expected answer, if there is one. A result that Mastra marks as `notScorable` becomes `skipped: not-applicable`.
 *
 * @example
 * ```ts
 * import { createScorer } from '@mastra/core/evals'
 * import { fromMastra } from 'spanscore/adapters'
 *
 * const brief = createScorer({ id: 'brief', description: 'At most three messages.', type: 'agent' }).generateScore(
 *   ({ run }) => (run.output.length <= 3 ? 1 : 0),
 * )
 * export default { scorers: [fromMastra(brief)] }
 * ```
 *
 * @throws TypeError if it is not a Mastra scorer, or an option is wrong
 */
export function fromMastra(scorer: MastraScorer, options: FromMastraOptions = {}): Scorer {
  const factory = 'fromMastra'
  const isScorer = (isRecord(scorer) || typeof scorer === 'object') && typeof scorer?.run === 'function'
  expectOption(isScorer, factory, 'a scorer of Mastra, as createScorer(…).generateScore(…) makes it', scorer)
  const { form = 'agent', ...given } = options
  expectOption(form === 'agent' || form === 'text', factory, "options.form to be 'agent' or 'text'", form)
  const asksModel = scorer.judge !== undefined || hasPromptStep(scorer)
  const adapted: Scorer = adapt(
    {
      adapter: factory,
      name: scorer.id ?? scorer.name,
      description: scorer.description,
      kind: asksModel ? 'judge' : 'code',
      model: modelOf(scorer.judge),
      mayLack: ['systemInstructions'],
      toInput: (run, groundTruth) => ({
        runId: run.id,
        ...(form === 'agent' ? toMastraRun(run) : { input: run.userInput, output: run.output ?? '' }),
        ...(groundTruth !== undefined && { groundTruth }),
      }),
      score: async (input) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the scorer's author knows its input
        const result: unknown = await scorer.run(input as never)
        if (!isRecord(result)) return toVerdict(adapted.id, result, undefined)
        const { notScorable, score, reason } = result
        if (isRecord(notScorable)) {
          const why = notScorable['reason']
          return skip(
            'not-applicable',
            explain`${contentFree(adapted.id)}: ${typeof why === 'string' ? why : contentFree('there is nothing to score')}.`,
          )
        }
        return toVerdict(adapted.id, score, reason)
      },
    },
    given,
  )
  return adapted
}

/** A run in the form in which Mastra passes an agent's run to scorers (`ScorerRunInputForAgent`, `MastraDBMessage`). */
export function toMastraRun(run: AgentRun): { readonly input: object; readonly output: readonly object[] } {
  const createdAt = new Date(run.startTimeMs)
  const system = run.systemInstructions
  return {
    input: {
      inputMessages: run.input
        .slice(-1)
        .map((message, index) => toMastraMessage(message, `${run.id}:i${index}`, createdAt)),
      rememberedMessages: run.input
        .slice(0, -1)
        .map((message, index) => toMastraMessage(message, `${run.id}:r${index}`, createdAt)),
      systemMessages: system === undefined ? [] : [{ role: 'system', content: system }],
      taggedSystemMessages: {},
    },
    output: toOutput(run),
  }
}

/** One assistant message: its tool calls in order, then its answer. */
function toOutput(run: AgentRun): readonly object[] {
  const invocations = run.toolCalls.map(toInvocation)
  if (invocations.length === 0 && run.output === undefined) return []
  return [
    {
      id: `${run.id}:o`,
      role: 'assistant',
      createdAt: new Date(run.endTimeMs),
      content: {
        format: 2,
        parts: [
          ...invocations.map((toolInvocation) => ({ type: 'tool-invocation', toolInvocation })),
          ...(run.output === undefined ? [] : [{ type: 'text', text: run.output }]),
        ],
        content: run.output ?? '',
        toolInvocations: invocations,
      },
    },
  ]
}

function toInvocation({ id, name, arguments: args, result, error, step }: ToolCall, index: number): object {
  const has = result !== undefined || error !== undefined
  return {
    state: has ? 'result' : 'call',
    toolCallId: id ?? `call_${index}`,
    toolName: name,
    args: args ?? {},
    step,
    ...(has && { result: result ?? { error: error?.message ?? 'failed' } }),
  }
}

function toMastraMessage({ role, text = '' }: Message, id: string, createdAt: Date): object {
  return { id, role, createdAt, content: { format: 2, parts: [{ type: 'text', text }], content: text } }
}

function hasPromptStep(scorer: object): boolean {
  const steps: unknown = Reflect.get(scorer, 'steps')
  return Array.isArray(steps) && steps.some((step) => isRecord(step) && step['isPromptObject'] === true)
}

function modelOf(judge: unknown): string | undefined {
  const model = isRecord(judge) ? judge['model'] : undefined
  if (typeof model === 'string') return model
  if (!isRecord(model)) return undefined
  if (typeof model['id'] === 'string') return model['id']
  return typeof model['modelId'] === 'string' ? model['modelId'] : undefined
}
