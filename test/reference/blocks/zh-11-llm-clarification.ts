import { createToolCallAccuracyScorerLLM } from 'spanscore/scorers/prebuilt'
import { createAgentTestRun, createTestMessage } from 'spanscore/testing'

const llmScorer = createToolCallAccuracyScorerLLM({
  model: 'openai/gpt-5.1',
  availableTools: [
    { name: 'weather-tool', description: 'Get current weather information for any location' },
    { name: 'search-tool', description: 'Search the web for general information' },
  ],
})

// As it stands in the document:
const vagueInput = [
createTestMessage({
content: 'I need help with something',
role: 'user',
id: 'input-1'
})
];
const clarificationOutput = [
createTestMessage({
content: 'I\'d be happy to help! Could you please provide more details about what you need assistance with?',
role: 'assistant',
id: 'output-1',
// No tools called - asking for clarification instead
})
];
const run = createAgentTestRun({
inputMessages: vagueInput,
output: clarificationOutput
});
const result = await llmScorer.run(run);
console.log(result.score); // 1.0 - appropriate to ask for clarification
console.log(result.reason); // "The agent appropriately asked for clarification rather than calling tools with insufficient information."

export { result }
