// An agent that writes the spans of the GenAI conventions itself, and passes parents by hand: no context manager is needed.
const said = (role, part) => JSON.stringify([{ role, parts: [part] }])

module.exports = function createPlainAgent(get) {
  const { ROOT_CONTEXT, SpanKind, trace } = get('@opentelemetry/api')
  return async (place) => {
    const tracer = trace.getTracer('plain-agent')
    const text = 'It is 4 degrees, I am glad to say.'
    const agent = tracer.startSpan('invoke_agent weather-agent', {
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'weather-agent',
        'gen_ai.input.messages': said('user', { type: 'text', content: `What is the weather in ${place}?` }),
      },
    })
    const below = trace.setSpan(ROOT_CONTEXT, agent)
    const call = { type: 'tool_call', id: `call-${place}`, name: 'weather', arguments: { place } }
    for (const part of [call, { type: 'text', content: text }]) {
      const chat = tracer.startSpan(
        'chat gpt-5-mini',
        {
          kind: SpanKind.CLIENT,
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'gpt-5-mini',
            'gen_ai.output.messages': said('assistant', part),
          },
        },
        below,
      )
      chat.end()
      if (part !== call) continue
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'weather',
        'gen_ai.tool.call.id': call.id,
        'gen_ai.tool.call.arguments': JSON.stringify(call.arguments),
        'gen_ai.tool.call.result': JSON.stringify({ place, temperatureC: 4 }),
      }
      tracer.startSpan('execute_tool weather', { attributes }, below).end()
    }
    agent.setAttribute('gen_ai.output.messages', said('assistant', { type: 'text', content: text }))
    agent.end()
    return { text }
  }
}
