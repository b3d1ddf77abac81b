import { createServer } from 'node:http'

import { OpenTelemetry } from '@ai-sdk/otel'
import { createOpenAI } from '@ai-sdk/openai'
import { traceTool } from '@arizeai/openinference-core'
import { MCPInstrumentation } from '@arizeai/openinference-instrumentation-mcp'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import * as clientStreamableHTTPModule from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as serverStreamableHTTPModule from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { jsonSchema, registerTelemetry, stepCountIs, tool, ToolLoopAgent } from 'ai'

import { asText, toolsOf } from './tools.mjs'

registerTelemetry(new OpenTelemetry())
const openai = createOpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted' })

/** Sends the client's span along with each request: the server's spans are below it, by its id. */
export function instrument() {
  new MCPInstrumentation().manuallyInstrument({ clientStreamableHTTPModule, serverStreamableHTTPModule })
}

/** A server over HTTP that offers the run's tools, and traces their calls. */
async function startServer(run) {
  const tools = toolsOf(run, answer)
  const server = createServer((incoming, outgoing) => {
    const mcp = new McpServer({ name: 'live', version: '1.0.0' })
    for (const { name, description, schema, execute } of tools) {
      const traced = traceTool(execute, { name })
      mcp.registerTool(name, { description, inputSchema: schema.shape }, async (args) => ({
        content: [{ type: 'text', text: asText(await traced(args)) }],
      }))
    }
    const transport = new serverStreamableHTTPModule.StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    void mcp.connect(transport).then(() => transport.handleRequest(incoming, outgoing))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function connect(server) {
  const client = new Client({ name: 'live', version: '1.0.0' })
  const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`)
  await client.connect(new clientStreamableHTTPModule.StreamableHTTPClientTransport(url))
  return client
}

async function call(client, name, args) {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [{ text }] = content
  if (isError) throw new Error(text)
  return text.startsWith('{') ? JSON.parse(text) : text
}

export async function answer(run, { stream }) {
  const server = await startServer(run)
  const client = await connect(server)
  const { tools } = await client.listTools()
  const agent = new ToolLoopAgent({
    model: openai.chat('gpt-5-mini'),
    instructions: run.system,
    tools: Object.fromEntries(
      tools.map(({ name, description, inputSchema }) => [
        name,
        tool({ description, inputSchema: jsonSchema(inputSchema), execute: (args) => call(client, name, args) }),
      ]),
    ),
    stopWhen: stepCountIs(5),
    telemetry: { functionId: run.agent },
  })
  try {
    if (!stream) return (await agent.generate({ prompt: run.input })).text
    const streamed = await agent.stream({ prompt: run.input })
    for await (const piece of streamed.textStream) void piece
    return await streamed.text
  } finally {
    await client.close()
    server.closeAllConnections()
    server.close()
  }
}
