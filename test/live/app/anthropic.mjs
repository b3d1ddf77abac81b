import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'

import { asText, toolsOf } from './tools.mjs'

const [kind, tracing] = process.env.VARIANT.split('/')
const tracer = await import(`./anthropic-${tracing}.mjs`)

let anthropic

export async function instrument() {
  await tracer.instrument?.(Anthropic)
  anthropic = new Anthropic({
    baseURL: process.env.MODEL_URL,
    apiKey: 'scripted',
    maxRetries: 0,
    ...tracer.clientOptions,
  })
}

export function answer(run, { stream }) {
  const tools = toolsOf(run, answer)
  if (kind === 'toolRunner') return runTools(run, tools, stream)
  return tracer.traceAgent(run, () => loop(run, tools, stream))
}

/** The SDK's own loop. */
async function runTools(run, tools, stream) {
  const runner = anthropic.beta.messages.toolRunner({
    model: 'claude-sonnet-4-5',
    max_tokens: 500,
    system: run.system,
    messages: [{ role: 'user', content: run.input }],
    tools: tools.map(({ name, description, jsonSchema, execute }) =>
      betaTool({ name, description, inputSchema: jsonSchema, run: async (args) => asText(await execute(args)) }),
    ),
    ...(stream && { stream }),
  })
  if (!stream) return textOf(await runner)
  let message
  for await (const turn of runner) message = await turn.finalMessage()
  return textOf(message)
}

/** A loop by hand. */
async function loop(run, tools, stream) {
  const messages = [{ role: 'user', content: run.input }]
  for (;;) {
    const request = {
      model: 'claude-sonnet-4-5',
      max_tokens: 500,
      system: run.system,
      messages: [...messages],
      tools: tools.map(({ name, description, jsonSchema }) => ({ name, description, input_schema: jsonSchema })),
    }
    const message = stream
      ? await anthropic.messages.stream(request).finalMessage()
      : await anthropic.messages.create(request)
    const calls = message.content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return textOf(message)
    messages.push({ role: 'assistant', content: message.content })
    messages.push({ role: 'user', content: await Promise.all(calls.map((call) => callTool(tools, call))) })
  }
}

async function callTool(tools, { id, name, input }) {
  const tool = tools.find((candidate) => candidate.name === name)
  const result = { type: 'tool_result', tool_use_id: id }
  try {
    return { ...result, content: asText(await tracer.traceTool({ name, id, args: input }, () => tool.execute(input))) }
  } catch (error) {
    return { ...result, content: `Error: ${error.message}`, is_error: true }
  }
}

function textOf({ content }) {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
