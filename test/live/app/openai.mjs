import { asText, toolsOf } from './tools.mjs'

const [api, tracing] = process.env.VARIANT.split('/')
const tracer = await import(`./openai-${tracing}.mjs`)

let openai

/** A loop by hand around OpenAI's SDK; the tracer's own spans stand for the agent and its tools. */
export async function instrument() {
  const { default: OpenAI } = await (tracer.load?.() ?? import('openai'))
  await tracer.instrument?.(OpenAI)
  openai = new OpenAI({ baseURL: `${process.env.MODEL_URL}/v1`, apiKey: 'scripted', maxRetries: 0 })
}

export function answer(run, { stream }) {
  const tools = toolsOf(run, answer)
  const loop = { chat: chatLoop, responses: responsesLoop }[api]
  return tracer.traceAgent(run, () => loop(run, tools, stream))
}

async function callTool(tools, { name, id, args }) {
  const tool = tools.find((candidate) => candidate.name === name)
  try {
    return asText(await tracer.traceTool({ name, id, args }, () => tool.execute(args)))
  } catch (error) {
    return `Error: ${error.message}`
  }
}

async function chatLoop(run, tools, stream) {
  const messages = [
    { role: 'system', content: run.system },
    { role: 'user', content: run.input },
  ]
  const offered = tools.map(({ name, description, jsonSchema }) => ({
    type: 'function',
    function: { name, description, parameters: jsonSchema },
  }))
  for (;;) {
    const request = { model: 'gpt-5-mini', messages, tools: offered }
    const message = stream
      ? await streamedMessage(request)
      : (await openai.chat.completions.create(request)).choices[0].message
    if (!message.tool_calls?.length) return message.content
    messages.push(message)
    const results = await Promise.all(
      message.tool_calls.map(({ id, function: { name, arguments: args } }) =>
        callTool(tools, { name, id, args: JSON.parse(args) }),
      ),
    )
    for (const [position, content] of results.entries()) {
      messages.push({ role: 'tool', tool_call_id: message.tool_calls[position].id, content })
    }
  }
}

/** A streamed message, put together from its pieces. */
async function streamedMessage(request) {
  const calls = []
  let content = ''
  for await (const { choices } of await openai.chat.completions.create({ ...request, stream: true })) {
    const delta = choices[0]?.delta ?? {}
    content += delta.content ?? ''
    for (const { index, ...call } of delta.tool_calls ?? []) calls[index] = call
  }
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
}

async function responsesLoop(run, tools, stream) {
  const input = [{ role: 'user', content: run.input }]
  const offered = tools.map(({ name, description, jsonSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: jsonSchema,
    strict: true,
  }))
  for (;;) {
    const request = { model: 'gpt-5-mini', instructions: run.system, input: [...input], tools: offered }
    const response = stream ? await streamedResponse(request) : await openai.responses.create(request)
    const calls = response.output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return response.output.find(({ type }) => type === 'message').content[0].text
    input.push(...response.output)
    const results = await Promise.all(
      calls.map(({ call_id, name, arguments: args }) => callTool(tools, { name, id: call_id, args: JSON.parse(args) })),
    )
    for (const [position, output] of results.entries()) {
      input.push({ type: 'function_call_output', call_id: calls[position].call_id, output })
    }
  }
}

async function streamedResponse(request) {
  let completed
  for await (const event of await openai.responses.create({ ...request, stream: true })) {
    if (event.type === 'response.completed') completed = event.response
  }
  return completed
}
