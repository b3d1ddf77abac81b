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
const orderScorer = createToolCallAccuracyScorerCode({
expectedTool: "auth-tool", // ignored when order is specified
expectedToolOrder: ["auth-tool", "fetch-tool"],
strictMode: true, // no extra tools allowed
});
const output = [
createTestMessage({
content: "I will authenticate and fetch the data.",
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
toolName: "fetch-tool",
args: { endpoint: "/data" },
result: { data: ["item1"] },
state: "result",
}),
],
}),
];
const result = await orderScorer.run(run);
console.log(result.score); // 1 - correct order

export { result }
