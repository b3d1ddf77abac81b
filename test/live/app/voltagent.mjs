import { createOpenAI } from '@ai-sdk/openai'
import { Agent, createTool } from '@voltagent/core'

import { observability } from './sdk-voltagent.mjs'
import { toolsOf } from './tools.mjs'

const openai = createOpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted' })

export async function answer(run, { stream }) {
  const agent = new Agent({
    name: run.agent,
    instructions: run.system,
    model: openai.chat('gpt-5-mini'),
    observability,
    tools: toolsOf(run, answer).map(({ name, description, schema, needsApproval, execute }) =>
      createTool({ name, description, parameters: schema, needsApproval, execute: (args) => execute(args) }),
    ),
  })
  if (!stream) return (await agent.generateText(run.input)).text
  const streamed = await agent.streamText(run.input)
  for await (const piece of streamed.textStream) void piece
  return streamed.text
}
