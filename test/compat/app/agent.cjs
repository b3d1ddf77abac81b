// The application: an agent on the AI SDK, of whichever version is installed, with one tool.
module.exports = function createAgent(get) {
  const ai = get('ai')
  const { createOpenAI } = get('@ai-sdk/openai')
  const { z } = get('zod')
  const openai = createOpenAI({ baseURL: process.env.COMPAT_MODEL_URL, apiKey: 'scripted' })
  if (ai.registerTelemetry !== undefined) {
    const { OpenTelemetry } = get('@ai-sdk/otel')
    ai.registerTelemetry(new OpenTelemetry())
  }
  const settings = { functionId: 'weather-agent', isEnabled: true }
  const weather = ai.tool({
    description: 'Get the weather at a place.',
    inputSchema: z.object({ place: z.string() }),
    execute: async ({ place }) => ({ place, temperatureC: 4 }),
  })
  return (place) =>
    ai.generateText({
      model: openai('gpt-5-mini'),
      system: 'You are a weather assistant.',
      prompt: `What is the weather in ${place}?`,
      tools: { weather },
      stopWhen: ai.stepCountIs(3),
      ...(ai.registerTelemetry === undefined ? { experimental_telemetry: settings } : { telemetry: settings }),
    })
}
