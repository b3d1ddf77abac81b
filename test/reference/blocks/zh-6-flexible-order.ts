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
const flexibleOrderScorer = createToolCallAccuracyScorerCode({
expectedTool: "auth-tool",
expectedToolOrder: ["auth-tool", "fetch-tool"],
strictMode: false, // allows extra tools
});
const output = [
createTestMessage({
content: "Performing comprehensive operation.",
role: "assistant",
id: "output-1",
toolInvocations: [
createToolInvocation({
toolCallId: "call-1",
toolName: "auth-tool",
args: { token: "abc123" },
result: { authenticated: true },
state: "result",
}),
createToolInvocation({
toolCallId: "call-2",
toolName: "log-tool", // Extra tool - OK in flexible mode
args: { message: "Starting fetch" },
result: { logged: true },
state: "result",
}),
createToolInvocation({
toolCallId: "call-3",
toolName: "fetch-tool",
args: { endpoint: "/data" },
result: { data: ["item1"] },
state: "result",
}),
],
}),
];
const result = await flexibleOrderScorer.run(run);
console.log(result.score); // 1 - auth-tool comes before fetch-tool

export { result }
