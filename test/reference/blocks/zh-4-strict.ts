import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/prebuilt'
import { createTestMessage, createToolInvocation } from 'spanscore/testing'

const inputMessages = [createTestMessage({ content: 'What is the weather like in New York today?', role: 'user', id: 'input-1' })]
// The document builds the run before this output and leaves the line out: the run holds the output below.
const run = {
  input: { inputMessages },
  get output() {
    return output
  },
}

// As it stands in the document:
const strictScorer = createToolCallAccuracyScorerCode({
expectedTool: "weather-tool",
strictMode: true,
});
// Multiple tools called - fails in strict mode
const output = [
createTestMessage({
content: "Let me help you with that.",
role: "assistant",
id: "output-1",
toolInvocations: [
createToolInvocation({
toolCallId: "call-1",
toolName: "search-tool",
args: {},
result: {},
state: "result",
}),
createToolInvocation({
toolCallId: "call-2",
toolName: "weather-tool",
args: { location: "New York" },
result: { temperature: "20°C" },
state: "result",
}),
],
}),
];
const result = await strictScorer.run(run);
console.log(result.score); // 0 - fails because multiple tools were called

export { result }
