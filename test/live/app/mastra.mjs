import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelBridge } from '@mastra/otel-bridge'

import { toolsOf } from './tools.mjs'

const openai = createOpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted' })

export async function answer(run, { stream }) {
  const agent = new Agent({
    id: run.agent,
    name: run.agent,
    instructions: run.system,
    model: openai.chat('gpt-5-mini'),
    tools: Object.fromEntries(
      toolsOf(run, answer).map(({ name, description, schema, needsApproval, execute }) => [
        name,
        createTool({
          id: name,
          description,
          inputSchema: schema,
          requireApproval: needsApproval,
          execute: (input) => execute(input),
        }),
      ]),
    ),
  })
  const mastra = new Mastra({
    agents: { [run.agent]: agent },
    logger: false,
    observability: new Observability({ configs: { default: { serviceName: 'live', bridge: new OtelBridge() } } }),
  })
  const registered = mastra.getAgent(run.agent)
  if (!stream) return (await registered.generate(run.input)).text
  const streamed = await registered.stream(run.input)
  for await (const piece of streamed.textStream) void piece
  return streamed.text
}
