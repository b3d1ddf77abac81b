import type { LanguageModel } from 'ai'

import { isolated } from '../../scoring/isolation.ts'
import { toUsage } from '../../scoring/read-verdict.ts'
import { countUpTo } from '../../spans/outside-number.ts'
import type { Usage } from '../../model/message.ts'
import { isCallableModel } from './judge-model.ts'
import type { CallableModel } from './judge-model.ts'
import { loadAi } from './packages.ts'
import { normalizeModel } from './normalize-model.ts'

/** A request to a model. */
export interface GenerateRequest {
  readonly instructions: string
  readonly user: string
  /** JSON Schema of the reply; without it, the reply is plain text. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly temperature?: number
  readonly maxOutputTokens: number
  readonly signal: AbortSignal
}

/** A model's reply. */
export interface Generated {
  readonly text: string
  /** `stop`, `length`, `content-filter`, … */
  readonly finishReason: string
  readonly usage: Usage
  /** The model's name as the provider reports it. */
  readonly modelId?: string
}

/**
 * Calls the model once, through `generateText` of `ai` 6 or 7, without retries or telemetry and outside the application's trace. It also
 * returns replies that are not JSON.
 *
 * @throws anything that the provider throws
 */
export function generate(model: CallableModel, request: GenerateRequest): Promise<Generated> {
  return isolated(async () => {
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await loadAi()
    const quiet: unknown = normalizeModel(model)
    if (!isLanguageModel(quiet)) throw new TypeError('expected a language model')
    try {
      const result = await generateText({
        model: quiet,
        // `ai` 7 calls this `instructions`; 6 and 7 both accept `system`.
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

/** Model references are checked when the judge is created; this narrows the type. */
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

/** Servers add their own instructions, and the schema in other words. */
const ADDED_TOKENS = 20_000

/**
 * Discards impossible counts: a token is at least one byte of the request, and a reply is not much longer than allowed. A server that
 * miscounts must not use up the daily budget.
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
