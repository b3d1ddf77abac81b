import { FunctionTool, Gemini, InMemoryRunner, isFinalResponse, LlmAgent, StreamingMode } from '@google/adk'

import { toolsOf } from './tools.mjs'

process.env.GOOGLE_GEMINI_BASE_URL = process.env.MODEL_URL

export async function answer(run, { stream }) {
  const agent = new LlmAgent({
    name: run.agent,
    model: new Gemini({ model: 'gemini-2.5-flash', apiKey: 'scripted' }),
    instruction: run.system,
    tools: toolsOf(run, answer).map(
      ({ name, description, schema, needsApproval, execute }) =>
        new FunctionTool({ name, description, parameters: schema, requireConfirmation: needsApproval, execute }),
    ),
  })
  const runner = new InMemoryRunner({ agent, appName: 'live' })
  const session = await runner.sessionService.createSession({ appName: 'live', userId: 'somebody' })
  let text = ''
  for await (const event of runner.runAsync({
    userId: 'somebody',
    sessionId: session.id,
    newMessage: { role: 'user', parts: [{ text: run.input }] },
    ...(stream && { runConfig: { streamingMode: StreamingMode.SSE } }),
  })) {
    if (!isFinalResponse(event) || event.partial) continue
    text += (event.content?.parts ?? []).map((part) => part.text ?? '').join('')
  }
  return text
}
