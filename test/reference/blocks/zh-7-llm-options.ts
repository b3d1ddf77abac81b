import { createToolCallAccuracyScorerLLM as createLLMScorer } from 'spanscore/scorers/prebuilt'
import { availableTools } from '../fixtures.ts'

// As it stands in the document:
// Basic configuration
const basicLLMScorer = createLLMScorer({
model: 'openai/gpt-5.1',
availableTools: [
{ name: 'tool1', description: 'Description 1' },
{ name: 'tool2', description: 'Description 2' }
]
});
// With different model
const customModelScorer = createLLMScorer({
model: 'openai/gpt-5', // More powerful model for complex evaluations
availableTools: [...availableTools]
});

export { basicLLMScorer, customModelScorer }
