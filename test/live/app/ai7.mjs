import { OpenTelemetry } from '@ai-sdk/otel'
import { createOpenAI } from '@ai-sdk/openai'
import { registerTelemetry, stepCountIs, tool, ToolLoopAgent } from 'ai'

import { toolsOf } from './tools.mjs'

registerTelemetry(new OpenTelemetry())
const openai = createOpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted' })
const model = process.env.VARIANT === 'responses' ? openai.responses('gpt-5-mini') : openai.chat('gpt-5-mini')

export async function answer(run, { stream }) {
  const agent = new ToolLoopAgent({
    model,
    instructions: run.system,
    tools: Object.fromEntries(
      toolsOf(run, answer).map(({ name, description, schema, needsApproval, execute }) => [
        name,
        tool({ description, inputSchema: schema, needsApproval, execute }),
      ]),
    ),
    stopWhen: stepCountIs(5),
    telemetry: { functionId: run.agent },
  })
  if (!stream) return (await agent.generate({ prompt: run.input })).text
  const streamed = await agent.stream({ prompt: run.input })
  for await (const piece of streamed.textStream) void piece
  return streamed.text
}
