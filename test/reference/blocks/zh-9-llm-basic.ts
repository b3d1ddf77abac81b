import { createToolCallAccuracyScorerLLM } from 'spanscore/scorers/prebuilt'
import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

// As it stands in the document:
const llmScorer = createToolCallAccuracyScorerLLM({
model: "openai/gpt-5.1",
availableTools: [
{
name: "weather-tool",
description: "Get current weather information for any location",
},
{
name: "calendar-tool",
description: "Check calendar events and scheduling",
},
{
name: "search-tool",
description: "Search the web for general information",
},
],
});
const inputMessages = [
createTestMessage({
content: "What is the weather like in San Francisco today?",
role: "user",
id: "input-1",
}),
];
const output = [
createTestMessage({
content: "Let me check the current weather for you.",
role: "assistant",
id: "output-1",
toolInvocations: [
createToolInvocation({
toolCallId: "call-123",
toolName: "weather-tool",
args: { location: "San Francisco", date: "today" },
result: { temperature: "68°F", condition: "foggy" },
state: "result",
}),
],
}),
];
const run = createAgentTestRun({ inputMessages, output });
const result = await llmScorer.run(run);
console.log(result.score); // 1.0 - appropriate tool usage
console.log(result.reason); // "The agent correctly used the weather-tool to address the user's request for weather information."

export { result }
