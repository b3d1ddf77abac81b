import { Agent, BeforeToolCallEvent, tool } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'

import { toolsOf } from './tools.mjs'

export async function answer(run, { stream }) {
  const tools = toolsOf(run, answer)
  const agent = new Agent({
    name: run.agent,
    model: new OpenAIModel({
      api: 'responses',
      modelId: 'gpt-5-mini',
      apiKey: 'scripted',
      clientConfig: { baseURL: `${process.env.MODEL_URL}/v1`, maxRetries: 0 },
    }),
    systemPrompt: run.system,
    tools: tools.map(({ name, description, schema, execute }) =>
      tool({ name, description, inputSchema: schema, callback: (args) => execute(args) }),
    ),
    printer: false,
  })
  agent.addHook(BeforeToolCallEvent, (event) => {
    if (tools.some(({ name, needsApproval }) => needsApproval && name === event.toolUse.name))
      event.interrupt({ name: 'approve' })
  })
  if (!stream) return textOf(await agent.invoke(run.input))
  const events = agent.stream(run.input)
  for (;;) {
    const { done, value } = await events.next()
    if (done) return textOf(value)
  }
}

/** As a text, a result that waits for an answer is its questions. */
function textOf(result) {
  return result.stopReason === 'interrupt' ? '' : String(result)
}
