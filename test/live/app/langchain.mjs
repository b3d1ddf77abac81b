import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import { awaitAllCallbacks } from '@langchain/core/callbacks/promises'
import * as CallbackManagerModule from '@langchain/core/callbacks/manager'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, createMiddleware, ToolMessage } from 'langchain'

import { asText, toolsOf } from './tools.mjs'

new LangChainInstrumentation().manuallyInstrument(CallbackManagerModule)

function model() {
  return new ChatOpenAI({
    model: 'gpt-5-mini',
    apiKey: 'scripted',
    configuration: { baseURL: `${process.env.MODEL_URL}/v1` },
    maxRetries: 0,
  })
}

/** An error of a tool goes back to the model, as LangChain's documentation does it. */
const handleToolErrors = createMiddleware({
  name: 'HandleToolErrors',
  wrapToolCall: async (request, handler) => {
    try {
      return await handler(request)
    } catch (error) {
      return new ToolMessage({ content: `Error: ${error.message}`, tool_call_id: request.toolCall.id, status: 'error' })
    }
  },
})

export async function answer(run, { stream }) {
  const agent = createAgent({
    name: run.agent,
    model: model(),
    systemPrompt: run.system,
    tools: toolsOf(run, answer).map(({ name, description, schema, execute }) =>
      tool(async (args) => asText(await execute(args)), { name, description, schema }),
    ),
    middleware: [handleToolErrors],
  })
  const question = { messages: [{ role: 'user', content: run.input }] }
  if (!stream) return (await agent.invoke(question)).messages.at(-1).content
  let text = ''
  for await (const [message] of await agent.stream(question, { streamMode: 'messages' })) {
    if (message.type === 'ai') text += message.text
  }
  return text
}

export async function flush() {
  await awaitAllCallbacks()
}
