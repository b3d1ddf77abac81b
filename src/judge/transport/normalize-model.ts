import { isRecord } from '../../spans/json.ts'
import type { CallableModel } from './judge-model.ts'

/** The longest reply that is read, in characters. Real replies are far shorter. */
export const LONGEST_REPLY: number = 256 * 1024

/**
 * Wraps a model to suppress the AI SDK's `process.emitWarning` at each call, and to present specification v3, which `ai` 6 and 7 both
 * accept without a warning. For text input and output the specifications differ only in v2's finish reason and usage. Of the reply, `ai`
 * gets the text only, and not much more of it than is read, because it parses what it gets.
 */
export function normalizeModel(model: CallableModel): CallableModel {
  return new Proxy(model, {
    get(target, property) {
      if (property === 'specificationVersion') return 'v3'
      const value: unknown = Reflect.get(target, property, target)
      if (property !== 'doGenerate') return typeof value === 'function' ? value.bind(target) : value
      return async (options: unknown): Promise<unknown> => {
        const result = await target.doGenerate(options)
        if (!isRecord(result)) return result
        const quiet = { ...result, content: shortTexts(result.content), warnings: [] }
        return target.specificationVersion === 'v2' ? fromV2(quiet) : quiet
      }
    },
  })
}

/** The texts of a reply. One that is too long stays too long, so that it is not mistaken for a whole one. */
function shortTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  let room = LONGEST_REPLY + 1
  const texts: unknown[] = []
  for (const part of content) {
    if (!isRecord(part) || part.type !== 'text' || typeof part.text !== 'string' || room === 0) continue
    const text = part.text.slice(0, room)
    room -= text.length
    texts.push({ type: 'text', text })
  }
  return texts
}

function fromV2(result: Record<string, unknown>): Record<string, unknown> {
  const usage = isRecord(result.usage) ? result.usage : {}
  return {
    ...result,
    finishReason: {
      unified: result.finishReason === 'unknown' ? 'other' : result.finishReason,
      raw: undefined,
    },
    usage: {
      inputTokens: {
        total: usage.inputTokens,
        noCache: undefined,
        cacheRead: usage.cachedInputTokens,
        cacheWrite: undefined,
      },
      outputTokens: { total: usage.outputTokens, text: undefined, reasoning: usage.reasoningTokens },
    },
  }
}
