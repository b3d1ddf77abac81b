import type { LanguageModel } from 'ai'

import { isolated } from '../../scoring/isolation.ts'
import { toUsage } from '../../scoring/read-verdict.ts'
import { countUpTo } from '../../spans/outside-number.ts'
import type { Usage } from '../../model/message.ts'
import { isCallableModel } from './judge-model.ts'
import type { CallableModel } from './judge-model.ts'
import { loadAi } from './packages.ts'
import { normalizeModel } from './normalize-model.ts'

/** One call of a model: what is sent. */
export interface GenerateRequest {
  readonly instructions: string
  readonly user: string
  /** JSON Schema of the reply; left out, plain text is asked for. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly temperature?: number
  readonly maxOutputTokens: number
  readonly signal: AbortSignal
}

/** One call of a model: what came back. */
export interface Generated {
  readonly text: string
  /** `stop`, `length`, `content-filter`, … */
  readonly finishReason: string
  readonly usage: Usage
  /** The model as the provider names it. */
  readonly modelId?: string
}

/**
 * Calls the model once, through `generateText` of `ai` 6 or 7: no retries, no telemetry, outside the application's trace. A
 * reply that is no JSON is a reply all the same: what to make of it is the caller's business.
 *
 * @throws whatever the provider throws
 */
export function generate(model: CallableModel, request: GenerateRequest): Promise<Generated> {
  return isolated(async () => {
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await loadAi()
    const quiet: unknown = normalizeModel(model)
    if (!isLanguageModel(quiet)) throw new TypeError('expected a language model')
    try {
      const result = await generateText({
        model: quiet,
        // `instructions` is the name in `ai` 7, and `system` the one that 6 and 7 both know.
        system: request.instructions,
        prompt: request.user,
        maxOutputTokens: request.maxOutputTokens,
        maxRetries: 0,
        abortSignal: request.signal,
        telemetry: { isEnabled: false },
        experimental_telemetry: { isEnabled: false },
        ...(request.temperature !== undefined && { temperature: request.temperature }),
        ...(request.schema !== undefined && { output: Output.object({ schema: jsonSchema(request.schema) }) }),
      })
      return toGenerated(request, result.text, result.finishReason, result.usage, result.response)
    } catch (error) {
      if (!NoObjectGeneratedError.isInstance(error)) throw error
      return toGenerated(request, error.text, error.finishReason, error.usage, error.response)
    }
  })
}

/** The references of models were checked when the judge was made; this says so to the compiler. */
function isLanguageModel(model: unknown): model is Exclude<LanguageModel, string> {
  return isCallableModel(model)
}

interface SdkUsage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly inputTokenDetails?: {
    readonly cacheReadTokens?: number | undefined
    readonly cacheWriteTokens?: number | undefined
  }
  readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined }
}

/** What servers add to a request: their own instructions, and the schema in other words. */
const ADDED_TOKENS = 20_000

/**
 * Counts that the call can have: no token is less than a byte of what was sent, and no reply much longer than was asked for. A server
 * that miscounts must not use up the budget of a day.
 */
function plausibleCounts({ instructions, user, schema, maxOutputTokens }: GenerateRequest, usage: Usage): Usage {
  const sent = Buffer.byteLength(instructions) + Buffer.byteLength(user) + 2 * JSON.stringify(schema ?? {}).length
  const [mostInput, mostOutput] = [sent + ADDED_TOKENS, 4 * maxOutputTokens + ADDED_TOKENS]
  const most: Required<Usage> = {
    inputTokens: mostInput,
    cacheReadTokens: mostInput,
    cacheWriteTokens: mostInput,
    outputTokens: mostOutput,
    reasoningTokens: mostOutput,
  }
  const keys = Object.keys(most).filter((key): key is keyof Usage => key in usage)
  return Object.fromEntries(
    keys.flatMap((key) => (countUpTo(usage[key], most[key]) === undefined ? [] : [[key, usage[key]]])),
  )
}

function toGenerated(
  request: GenerateRequest,
  text: string | undefined,
  finishReason: string | undefined,
  usage: SdkUsage | undefined,
  response: { readonly modelId?: string } | undefined,
): Generated {
  return {
    text: text ?? '',
    finishReason: finishReason ?? 'other',
    usage: plausibleCounts(
      request,
      toUsage({
        inputTokens: usage?.inputTokens,
        outputTokens: usage?.outputTokens,
        cacheReadTokens: usage?.inputTokenDetails?.cacheReadTokens,
        cacheWriteTokens: usage?.inputTokenDetails?.cacheWriteTokens,
        reasoningTokens: usage?.outputTokenDetails?.reasoningTokens,
      }),
    ),
    ...(response?.modelId !== undefined && { modelId: response.modelId }),
  }
}
