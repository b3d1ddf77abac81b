import { Agent, tool } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'

import { toolsOf } from './tools.mjs'

export async function answer(run, { stream }) {
  const agent = new Agent({
    name: run.agent,
    model: new OpenAIModel({
      api: 'responses',
      modelId: 'gpt-5-mini',
      apiKey: 'scripted',
      clientConfig: { baseURL: `${process.env.MODEL_URL}/v1`, maxRetries: 0 },
    }),
    systemPrompt: run.system,
    tools: toolsOf(run, answer).map(({ name, description, schema, execute }) =>
      tool({ name, description, inputSchema: schema, callback: (args) => execute(args) }),
    ),
    printer: false,
  })
  if (!stream) return String(await agent.invoke(run.input))
  const events = agent.stream(run.input)
  for (;;) {
    const { done, value } = await events.next()
    if (done) return String(value)
  }
}
