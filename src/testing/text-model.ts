/** One call of a test model: the texts that were sent, and the requested form of the reply. */
export interface TextModelCall {
  /** Index of the call, from 0. */
  readonly index: number
  /** The system message. */
  readonly instructions: string
  /** The user message. */
  readonly prompt: string
  /** The largest number of tokens in the reply, if set. */
  readonly maxOutputTokens?: number
  /** The temperature, if set. */
  readonly temperature?: number
  /** JSON Schema of the reply, if sent. */
  readonly schema?: unknown
}

/** The reply of a test model. */
export interface TextModelReply {
  /** Text of the reply. */
  readonly text: string
  /** @default 'stop' */
  readonly finishReason?: 'stop' | 'length' | 'content-filter'
  /** @default a quarter of the characters sent and received */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
  /** @default the model's own id */
  readonly modelId?: string
}

/** An in-process language model for the AI SDK that takes and returns text. */
export interface TextModel {
  /** The specification of language models that it follows. */
  readonly specificationVersion: 'v3'
  /** The name of the provider, such as `scripted`. */
  readonly provider: string
  /** The id of the model. */
  readonly modelId: string
  /** Empty: it takes no files by URL. */
  readonly supportedUrls: Record<string, RegExp[]>
  /** Every call so far. */
  readonly calls: readonly TextModelCall[]
  /** Called by the AI SDK for a reply. */
  doGenerate(options: never): Promise<never>
  /** Rejects: it does not stream. */
  doStream(options: never): Promise<never>
}

interface CallOptions {
  readonly prompt: readonly {
    readonly role: string
    readonly content: string | readonly { readonly text?: string }[]
  }[]
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly responseFormat?: { readonly type: string; readonly schema?: unknown }
}

/** Creates a language model from a function. It follows specification v3, which `ai` 6 and 7 both accept. */
export function createTextModel(
  name: { readonly provider: string; readonly modelId: string },
  answer: (call: TextModelCall) => TextModelReply | Promise<TextModelReply>,
): TextModel {
  const calls: TextModelCall[] = []
  const doGenerate = async (options: CallOptions) => {
    const { maxOutputTokens, temperature, responseFormat, prompt } = options
    const call: TextModelCall = {
      index: calls.length,
      instructions: textOf(prompt, 'system'),
      prompt: textOf(prompt, 'user'),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(responseFormat?.schema !== undefined && { schema: responseFormat.schema }),
    }
    calls.push(call)
    const { text, finishReason = 'stop', usage, modelId = name.modelId } = await answer(call)
    return {
      content: text === '' ? [] : [{ type: 'text' as const, text }],
      finishReason: { unified: finishReason, raw: finishReason },
      usage: {
        inputTokens: {
          total: usage?.inputTokens ?? Math.ceil((call.instructions.length + call.prompt.length) / 4),
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: {
          total: usage?.outputTokens ?? Math.ceil(text.length / 4),
          text: undefined,
          reasoning: undefined,
        },
      },
      response: { modelId },
      warnings: [],
    }
  }
  const doStream = () => Promise.reject(new Error(`${name.modelId} does not stream; ask it with generateText.`))
  // The type covers only what our judges need, because the AI SDK's own types would require its packages of every user.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { specificationVersion: 'v3', ...name, supportedUrls: {}, calls, doGenerate, doStream } as unknown as TextModel
}

function textOf(prompt: CallOptions['prompt'], role: string): string {
  return prompt
    .filter((message) => message.role === role)
    .map(({ content }) => (typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')))
    .join('\n\n')
}
