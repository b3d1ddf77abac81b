import * as agents from '@openai/agents'
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents'
import OpenAI from 'openai'

import { asText, toolsOf } from './tools.mjs'

export function instrument(provider) {
  new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents)
  agents.setDefaultOpenAIClient(
    new OpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted', maxRetries: 0 }),
  )
  agents.setOpenAIAPI(process.env.VARIANT === 'chat' ? 'chat_completions' : 'responses')
}

function createAgent({ agent, system }, tools, handoffs = []) {
  return new agents.Agent({
    name: agent,
    instructions: system,
    model: 'gpt-5-mini',
    tools: tools.map(({ name, description, schema, needsApproval, execute }) =>
      agents.tool({
        name,
        description,
        parameters: schema,
        needsApproval,
        execute: async (args) => asText(await execute(args)),
      }),
    ),
    handoffs,
  })
}

export async function answer(run, { stream }) {
  const tools = toolsOf(run, answer)
  const agent =
    run.handsOffTo === undefined ? createAgent(run, tools) : createAgent(run, [], [createAgent(run.handsOffTo, tools)])
  if (!stream) return (await agents.run(agent, run.input)).finalOutput ?? ''
  const streamed = await agents.run(agent, run.input, { stream: true })
  for await (const event of streamed) void event
  await streamed.completed
  return streamed.finalOutput
}

export function flush() {
  return agents.getGlobalTraceProvider().forceFlush()
}
