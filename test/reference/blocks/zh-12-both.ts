import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

// As it stands in the document:
import {
createToolCallAccuracyScorerCode as createCodeScorer,
createToolCallAccuracyScorerLLM as createLLMScorer
} from "spanscore/scorers/prebuilt";
// Setup both scorers
const codeScorer = createCodeScorer({
expectedTool: "weather-tool",
strictMode: false,
});
const llmScorer = createLLMScorer({
model: "openai/gpt-5.1",
availableTools: [
{ name: "weather-tool", description: "Get weather information" },
{ name: "search-tool", description: "Search the web" },
],
});
// Test data
const run = createAgentTestRun({
inputMessages: [
createTestMessage({
content: "What is the weather?",
role: "user",
id: "input-1",
}),
],
output: [
createTestMessage({
content: "Let me find that information.",
role: "assistant",
id: "output-1",
toolInvocations: [
createToolInvocation({
toolCallId: "call-1",
toolName: "search-tool",
args: { query: "weather" },
result: { results: ["weather data"] },
state: "result",
}),
],
}),
],
});
// Run both scorers
const codeResult = await codeScorer.run(run);
const llmResult = await llmScorer.run(run);
console.log("Code Scorer:", codeResult.score); // 0 - wrong tool
console.log("LLM Scorer:", llmResult.score); // 0.3 - partially appropriate
console.log("LLM Reason:", llmResult.reason); // Explains why search-tool is less appropriate

export { codeResult, llmResult }
