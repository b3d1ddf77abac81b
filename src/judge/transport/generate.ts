import { isolated } from '../../scoring/isolation.ts'
import { toUsage } from '../../scoring/read-verdict.ts'
import { isRecord } from '../../spans/json.ts'
import { countUpTo } from '../../spans/outside-number.ts'
import type { Usage } from '../../model/message.ts'
import type { CallableModel } from './judge-model.ts'

/** The longest reply that is read, in characters. Real replies are far shorter. */
export const LONGEST_REPLY: number = 256 * 1024

/** A request to a model. */
export interface GenerateRequest {
  readonly instructions: string
  readonly user: string
  /** JSON Schema of the reply; without it, the reply is plain text. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly temperature?: number
  /** Only for models of specification v4. */
  readonly effort?: string
  readonly maxOutputTokens: number
  readonly signal: AbortSignal
}

/** A model's reply. */
export interface Generated {
  readonly text: string
  /** `stop`, `length`, `content-filter`, … */
  readonly finishReason: string
  readonly usage: Usage
  /** The model's name as the provider reports it, or as it was asked for. */
  readonly modelId: string
  /** Whether the provider warns that it ignored the effort, or took it for another one. */
  readonly isEffortIgnored: boolean
}

/**
 * Calls the model once, outside the application's trace. The AI SDK's own functions are not used: they would add telemetry, warnings and
 * retries, and applications of other libraries would have to install and bundle them.
 *
 * @throws anything that the provider throws
 */
export function generate(model: CallableModel, request: GenerateRequest): Promise<Generated> {
  return isolated(async () => {
    const { instructions, user, schema, temperature, effort, maxOutputTokens, signal } = request
    // Specifications v2, v3 and v4 agree on these options.
    const reply = await model.doGenerate({
      prompt: [
        { role: 'system', content: instructions },
        { role: 'user', content: [{ type: 'text', text: user }] },
      ],
      maxOutputTokens,
      abortSignal: signal,
      responseFormat: schema === undefined ? { type: 'text' } : { type: 'json', schema },
      ...(temperature !== undefined && { temperature }),
      ...(effort !== undefined && { reasoning: effort }),
    })
    const { content, finishReason, usage, response, warnings } = recordOf(reply)
    const { modelId } = recordOf(response)
    return {
      text: textOf(content),
      finishReason: finishOf(finishReason),
      usage: plausibleCounts(request, usageOf(recordOf(usage))),
      modelId: typeof modelId === 'string' ? modelId : model.modelId,
      isEffortIgnored:
        effort !== undefined &&
        Array.isArray(warnings) &&
        warnings.some((warning) => isRecord(warning) && warning.feature === 'reasoning'),
    }
  })
}

/** The text of a reply. One that is too long stays too long, so that it is not mistaken for a whole one. */
function textOf(content: unknown): string {
  let text = ''
  for (const part of Array.isArray(content) ? content : []) {
    if (!isRecord(part) || part.type !== 'text' || typeof part.text !== 'string') continue
    text += part.text.slice(0, LONGEST_REPLY + 1 - text.length)
  }
  return text
}

/** Specification v2 has a string here, v3 and v4 have a record. */
function finishOf(reason: unknown): string {
  const unified = isRecord(reason) ? reason.unified : reason
  return typeof unified === 'string' ? unified : 'other'
}

/** Specification v2 has flat counts, v3 and v4 have nested ones. */
function usageOf({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Record<string, unknown>): Usage {
  const input = isRecord(inputTokens) ? inputTokens : { total: inputTokens, cacheRead: cachedInputTokens }
  const output = isRecord(outputTokens) ? outputTokens : { total: outputTokens, reasoning: reasoningTokens }
  return toUsage({
    inputTokens: input.total,
    cacheReadTokens: input.cacheRead,
    cacheWriteTokens: input.cacheWrite,
    outputTokens: output.total,
    reasoningTokens: output.reasoning,
  })
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
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
