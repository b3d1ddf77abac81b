import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

// As it stands in the document:
const scorer = createToolCallAccuracyScorerCode({
expectedTool: "weather-tool",
});
// Simulate LLM input and output with tool call
const inputMessages = [
createTestMessage({
content: "What is the weather like in New York today?",
role: "user",
id: "input-1",
}),
];
const output = [
createTestMessage({
content: "Let me check the weather for you.",
role: "assistant",
id: "output-1",
toolInvocations: [
createToolInvocation({
toolCallId: "call-123",
toolName: "weather-tool",
args: { location: "New York" },
result: { temperature: "72°F", condition: "sunny" },
state: "result",
}),
],
}),
];
const run = createAgentTestRun({ inputMessages, output });
const result = await scorer.run(run);
console.log(result.score); // 1
console.log(result.preprocessStepResult?.correctToolCalled); // true

export { result }
