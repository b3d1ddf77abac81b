import { createToolCallAccuracyScorerLLM } from 'spanscore/scorers/prebuilt'
import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

const llmScorer = createToolCallAccuracyScorerLLM({
  model: 'openai/gpt-5.1',
  availableTools: [
    { name: 'weather-tool', description: 'Get current weather information for any location' },
    { name: 'search-tool', description: 'Search the web for general information' },
  ],
})

// As it stands in the document:
const inputMessages = [
createTestMessage({
content: "What is the weather in Tokyo?",
role: "user",
id: "input-1",
}),
];
const inappropriateOutput = [
createTestMessage({
content: "Let me search for that information.",
role: "assistant",
id: "output-1",
toolInvocations: [
createToolInvocation({
toolCallId: "call-456",
toolName: "search-tool", // Less appropriate than weather-tool
args: { query: "Tokyo weather" },
result: { results: ["Tokyo weather data..."] },
state: "result",
}),
],
}),
];
const run = createAgentTestRun({ inputMessages, output: inappropriateOutput });
const result = await llmScorer.run(run);
console.log(result.score); // 0.5 - partially appropriate
console.log(result.reason); // "The agent used search-tool when weather-tool would have been more appropriate for a direct weather query."

export { result }
