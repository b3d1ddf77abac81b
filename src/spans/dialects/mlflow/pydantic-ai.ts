import { jsonAttribute } from '../../content/json-attribute.ts'
import { textMessage } from '../../content/messages.ts'
import { isPydanticMessage, pydanticAiMessages } from '../../content/pydantic-ai.ts'
import type { Dialect } from '../../dialect.ts'
import { isRecord, textOf, toJsonText } from '../../json.ts'
import type { SourceSpan } from '../../source-span.ts'
import type { ToolDefinition } from '../../../model/message.ts'
import { INPUTS, isFormat, mlflow, OUTPUTS, typeOf } from './mlflow.ts'

/** Pydantic AI through MLflow's autologging, which writes the arguments and results of its methods with its own messages. */
export const mlflowPydanticAi: Dialect = {
  ...mlflow,

  recognises: (_, attributes) => isFormat(attributes, 'pydantic_ai'),

  // `Agent.run_sync` and `Agent.run` are methods, one around the other.
  agent(span) {
    const name = textOf(jsonAttribute(span, 'name'))
    return typeOf(span) === 'AGENT' && name !== undefined ? { name } : undefined
  },

  systemInstructions: () => undefined,
  input(span) {
    const given = jsonAttribute(span, INPUTS)
    if (!isRecord(given)) return undefined
    return pydanticAiMessages(given.messages) ?? userPrompt(given.user_prompt)
  },
  output(span) {
    const value = jsonAttribute(span, OUTPUTS)
    if (isPydanticMessage(value)) return pydanticAiMessages([value])
    if (!isRecord(value) || value.output === undefined || value.output === null) return undefined
    const text = typeof value.output === 'string' ? value.output : toJsonText(value.output)
    return text === undefined ? undefined : [textMessage('assistant', text)]
  },
  hasFinalForm: (span) => typeOf(span) === 'AGENT',
  transcript: () => undefined,
  toolDefinitions: offeredTools,

  absence: (span, fact) =>
    fact === 'systemInstructions' && typeOf(span) === 'LLM' && mlflowPydanticAi.input?.(span, []) !== undefined
      ? undefined
      : { why: 'not-recorded' },
}

function userPrompt(written: unknown): ReturnType<NonNullable<Dialect['input']>> {
  const text = textOf(written)
  return text === undefined ? undefined : [textMessage('user', text)]
}

function offeredTools(span: SourceSpan): readonly ToolDefinition[] | undefined {
  const given = jsonAttribute(span, INPUTS)
  const parameters = isRecord(given) ? given.model_request_parameters : undefined
  if (!isRecord(parameters) || !Array.isArray(parameters.function_tools)) return undefined
  return parameters.function_tools.flatMap((tool: unknown): ToolDefinition[] => {
    if (!isRecord(tool) || typeof tool.name !== 'string') return []
    const description = textOf(tool.description)
    return [
      {
        name: tool.name,
        ...(description !== undefined && { description }),
        ...(tool.parameters_json_schema !== undefined && { parameters: tool.parameters_json_schema }),
      },
    ]
  })
}
