import { openAICompatible } from '@genkit-ai/compat-oai'
import { disableGenkitOTelInitialization } from '@genkit-ai/core/tracing'
import { genkit, z } from 'genkit/beta'

import { toolsOf } from './tools.mjs'

// Genkit would start an SDK of its own; it writes its spans through the one that is there.
disableGenkitOTelInitialization()

export async function answer(run, { stream }) {
  const ai = genkit({
    plugins: [openAICompatible({ name: 'scripted', apiKey: 'scripted', baseURL: `${process.env.MODEL_URL}/v1` })],
  })
  const tools = toolsOf(run, answer).map(({ name, description, jsonSchema, needsApproval, execute }) =>
    ai.defineTool({ name, description, inputJsonSchema: jsonSchema }, (args, { interrupt }) =>
      needsApproval ? interrupt() : execute(args),
    ),
  )
  const flow = ai.defineFlow(
    { name: run.agent, inputSchema: z.string(), outputSchema: z.string() },
    async (question) => {
      const request = { model: 'scripted/gpt-5-mini', system: run.system, prompt: question, tools }
      if (!stream) return (await ai.generate(request)).text
      const streamed = ai.generateStream(request)
      for await (const piece of streamed.stream) void piece
      return (await streamed.response).text
    },
  )
  return flow(run.input)
}
