import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'

import { toolsOf } from './tools.mjs'

const openai = createOpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted' })
const model = process.env.VARIANT === 'responses' ? openai.responses('gpt-5-mini') : openai.chat('gpt-5-mini')

/** AI SDK 5 and 6. */
export async function answer(run, { stream }) {
  const options = {
    model,
    system: run.system,
    prompt: run.input,
    tools: Object.fromEntries(
      toolsOf(run, answer).map(({ name, description, schema, needsApproval, execute }) => [
        name,
        tool({ description, inputSchema: schema, needsApproval, execute }),
      ]),
    ),
    stopWhen: stepCountIs(5),
    experimental_telemetry: { isEnabled: true, functionId: run.agent },
  }
  if (!stream) return (await generateText(options)).text
  const streamed = streamText(options)
  for await (const piece of streamed.textStream) void piece
  return streamed.text
}
