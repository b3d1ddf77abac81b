import { describe, expect, it } from 'vitest'

import { createToolCallAccuracyScorerCode } from '../scorers/code/tool-call-accuracy.ts'
import { createAgentTestRun, createTestMessage, createTestRun, createToolInvocation } from './test-messages.ts'

const invocation = createToolInvocation({
  toolCallId: 'c1',
  toolName: 'weather',
  args: {},
  state: 'output-error',
  errorText: 'no such city',
})

describe('test runs', () => {
  it('make runs that every scorer takes, with ids of their own or the one given', async () => {
    const inputMessages = [createTestMessage({ role: 'user', content: 'Hi' })]
    const output = [createTestMessage({ role: 'assistant', content: 'Hello', toolInvocations: [invocation] })]
    const run = createAgentTestRun({ inputMessages, output })
    const result = await createToolCallAccuracyScorerCode({ expectedTool: 'weather' }).run(run)
    expect(result).toMatchObject({ score: 1, runId: run.runId, input: run.input, output })
    expect(createAgentTestRun({ output }).runId).not.toBe(run.runId)
    expect(createAgentTestRun({ output, runId: 'r1' }).runId).toBe('r1')
  })

  it('have messages with the parts that they were given, else one text', () => {
    expect(createTestMessage({ role: 'user', content: 'Hi' })).toEqual({
      id: 'test-message',
      role: 'user',
      content: { content: 'Hi', parts: [{ type: 'text', text: 'Hi' }] },
    })
    const parts = [{ type: 'file', url: 'https://example.com/a.png' }]
    expect(createTestMessage({ role: 'user', content: '', parts, id: 'm1' })).toMatchObject({
      id: 'm1',
      content: { parts },
    })
  })

  it('can be of one prompt and its answer', () => {
    expect(createTestRun('Hi', { text: 'Hello' })).toEqual({
      input: [{ role: 'user', content: 'Hi' }],
      output: { text: 'Hello' },
    })
  })
})
