import type { LanguageModel } from 'ai'
import { createAgentTestRun, createTestMessage, createToolInvocation } from 'spanscore/testing'

/** What the documents leave to the reader: runs, agents, prompts and answers. */
export const availableTools = [{ name: 'weather-tool', description: 'Get weather information' }]

export const agentRun = createAgentTestRun({
  systemMessages: [createTestMessage({ role: 'system', content: 'Answer in one sentence.' })],
  inputMessages: [createTestMessage({ role: 'user', content: 'What is the weather in Oslo?' })],
  output: [
    createTestMessage({
      role: 'assistant',
      content: 'It is 4 °C in Oslo.',
      toolInvocations: [
        createToolInvocation({
          toolCallId: 'call-1',
          toolName: 'weather-tool',
          args: { city: 'Oslo' },
          result: { celsius: 4 },
          state: 'result',
        }),
      ],
    }),
  ],
})

export const testRun = createAgentTestRun({
  systemMessages: [createTestMessage({ role: 'system', content: 'Be brief.' })],
  inputMessages: [createTestMessage({ role: 'user', content: 'Explain closures, briefly.' })],
  output: [createTestMessage({ role: 'assistant', content: 'A closure keeps the scope that it was made in.' })],
})

export const userMessage = { role: 'user', content: 'Write a haiku about rain.' }
export const response = {
  role: 'assistant',
  text: 'def factorial(n):\n    return 1 if n == 0 else n * factorial(n - 1)',
}
export const testPromptFixtures = ['What is 2 + 2?', 'Name a river.']

/** The parts of an agent that the documents use. */
export class Agent {
  readonly name: string
  readonly model: LanguageModel | undefined

  constructor(options: { readonly name: string; readonly instructions: string; readonly model?: LanguageModel }) {
    this.name = options.name
    this.model = options.model
  }

  run(prompt: string): Promise<{ role: string; text: string }> {
    return Promise.resolve({ role: 'assistant', text: `${this.name} says: ${prompt}` })
  }
}

export const agent1 = new Agent({ name: 'one', instructions: '' })
export const agent2 = new Agent({ name: 'two', instructions: '' })
export const agent3 = new Agent({ name: 'three', instructions: '' })
