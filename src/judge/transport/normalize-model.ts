import { isRecord } from '../../spans/json.ts'
import type { CallableModel } from './judge-model.ts'

/**
 * Wraps a model to suppress the AI SDK's `process.emitWarning` at each call, and to present specification v3, which `ai` 6 and 7 both
 * accept without a warning. For text input and output the specifications differ only in v2's finish reason and usage.
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
        const quiet = { ...result, warnings: [] }
        return target.specificationVersion === 'v2' ? fromV2(quiet) : quiet
      }
    },
  })
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
