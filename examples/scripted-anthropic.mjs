import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

/** A model on loopback that speaks Anthropic's messages API: it asks for the weather, and then answers. */
export async function startScriptedAnthropic() {
  const server = createServer(async (request, response) => {
    const { messages } = await json(request)
    const content = messages.some(({ content: blocks }) => Array.isArray(blocks))
      ? [{ type: 'text', text: 'It is 4 degrees in Oslo.' }]
      : [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } }]
    const message = {
      id: `msg_${messages.length}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content,
    }
    const usage = { input_tokens: 20, output_tokens: 10 }
    const stop_reason = content[0].type === 'text' ? 'end_turn' : 'tool_use'
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, stop_reason, stop_sequence: null, usage }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}
