import { describe, expect, it } from 'vitest'

import { readJudgePrompt } from '../../../testing/judge-prompt.ts'
import { createScriptedJudge } from '../../../testing/scripted-judge.ts'
import type { ScriptedVerdicts } from '../../../testing/judge-reply.ts'
import { createAgentTestRun, createTestMessage, createToolInvocation } from '../../../testing/test-messages.ts'
import { createToolCallAccuracyScorerLLM } from './tool-call-accuracy.ts'

const availableTools = [
  { name: 'weather-tool', description: 'Get current weather information for any location' },
  { name: 'search-tool', description: 'Search the web for general information' },
  { name: 'calendar-tool', description: 'Check calendar events and scheduling' },
]

function runWith(tools: readonly string[], text = 'Let me check.', question = 'What is the weather in Tokyo?') {
  const toolInvocations = tools.map((toolName, index) =>
    createToolInvocation({
      toolCallId: `call-${index}`,
      toolName,
      args: { query: 'Tokyo' },
      result: { ok: true },
      state: 'result',
    }),
  )
  return createAgentTestRun({
    inputMessages: [createTestMessage({ content: question, role: 'user', id: 'input-1' })],
    output: [createTestMessage({ content: text, role: 'assistant', id: 'output-1', toolInvocations })],
  })
}

function judging(found: ScriptedVerdicts, missingTools: 'count' | 'report' = 'count') {
  const model = createScriptedJudge({ ...found, verdicts: { missing: 'none', ...found.verdicts } })
  return { model, scorer: createToolCallAccuracyScorerLLM({ model, availableTools, missingTools }) }
}

describe('tool call accuracy by judge', () => {
  it.each([
    { calls: ['weather-tool'], verdicts: { call_1: 'appropriate' }, score: 1 },
    { calls: ['search-tool'], verdicts: { call_1: { verdict: 'helpful', tools: ['t1'] } }, score: 0.5 },
    { calls: ['calendar-tool'], verdicts: { call_1: 'inappropriate' }, score: 0 },
    {
      calls: ['weather-tool', 'calendar-tool'],
      verdicts: { call_1: 'appropriate', call_2: 'inappropriate' },
      score: 0.5,
    },
    {
      calls: ['weather-tool', 'search-tool', 'calendar-tool'],
      verdicts: { call_1: 'appropriate', call_2: { verdict: 'helpful', tools: ['t1'] }, call_3: 'inappropriate' },
      score: 0.5,
    },
    {
      calls: ['search-tool', 'search-tool', 'weather-tool'],
      verdicts: { call_1: { verdict: 'helpful', tools: ['t3'] }, call_2: 'inappropriate', call_3: 'inappropriate' },
      score: 0.17,
    },
    {
      calls: ['weather-tool'],
      verdicts: { call_1: 'appropriate', missing: { verdict: 'some', tools: ['t3'] } },
      score: 0.5,
    },
    {
      calls: ['weather-tool'],
      verdicts: { call_1: 'appropriate', missing: { verdict: 'some', tools: ['t2', 't3'] } },
      score: 0.33,
    },
  ])('scores $calls with $verdicts as $score', async ({ calls, verdicts, score }) => {
    const { scorer, model } = judging({ verdicts })
    const result = await scorer.run(runWith(calls))
    expect(result.score).toBe(score)
    expect(model.calls).toHaveLength(1)
  })

  it('counts the better tool of a helpful call, and a tool that was called, not as missing too', async () => {
    const { scorer } = judging({
      verdicts: { call_1: { verdict: 'helpful', tools: ['t1'] }, missing: { verdict: 'some', tools: ['t1', 't2'] } },
    })
    const result = await scorer.run(runWith(['search-tool']))
    expect(result.score).toBe(0.5)
    expect(result.analyzeStepResult).toEqual({
      evaluations: [
        {
          toolCalled: 'search-tool',
          wasAppropriate: false,
          verdict: 'helpful',
          reasoning: '',
          betterTool: 'weather-tool',
        },
      ],
    })
    expect(result.reason).toContain('search-tool: helpful, weather-tool was better')
  })

  it("leaves missing tools out of the denominator with 'report', and names them all the same", async () => {
    const verdicts = { call_1: 'appropriate', missing: { verdict: 'some', tools: ['t3'] } }
    const result = await judging({ verdicts }, 'report').scorer.run(runWith(['weather-tool']))
    expect(result.score).toBe(1)
    expect(result.analyzeStepResult?.missingTools).toEqual(['calendar-tool'])
  })

  it.each([
    ['asked_back', 1],
    ['answered', 1],
    ['no_tool_fits', 1],
    ['wrong', 0],
  ] as const)('scores a run without calls by whether that was right: %s is %d', async (no_call, score) => {
    const { scorer } = judging({ verdicts: { no_call: { verdict: no_call, reasoning: 'Too vague to act on.' } } })
    const result = await scorer.run(runWith([], 'Could you tell me more?', 'I need help with something'))
    expect(result.score).toBe(score)
    expect(result.reason).toContain('Too vague to act on.')
    expect(result.analyzeStepResult?.evaluations).toEqual([])
  })

  it('ignores verdicts on calls that were not made', async () => {
    const { scorer } = judging({ verdicts: { call_1: 'inappropriate', call_2: 'appropriate', call_3: 'appropriate' } })
    expect((await scorer.run(runWith(['search-tool']))).score).toBe(0)
  })

  it('asks once more about a call that was left out, and then fails', async () => {
    const { scorer, model } = judging({ verdicts: { call_1: 'appropriate' } })
    await expect(scorer.run(runWith(['weather-tool', 'search-tool']))).rejects.toMatchObject({
      evaluation: { score: { status: 'failed', code: 'judge-unanswered' }, judge: { calls: 2 } },
    })
    const ids = readJudgePrompt(model.calls[1]?.prompt ?? '').questions.map(({ id }) => id)
    expect(ids).toEqual(['call_2'])
  })

  it('shows the judge number, name, arguments and outcome of each call, inside the boundary', async () => {
    const { scorer, model } = judging({ verdicts: { call_1: 'appropriate' } })
    await scorer.run(runWith(['weather-tool']))
    const prompt = model.calls[0]?.prompt ?? ''
    expect(prompt).toMatch(
      /begin: the tool calls, in their order \(id, tool, outcome\)\ncall_1: "weather-tool", ok\n {2}arguments: \{"query":"Tokyo"\}\n {2}result: \{"ok":true\}\n[0-9a-f]{12} end/,
    )
  })

  it.each([[], null, '', { role: 'assistant', text: ' ' }])(
    'rejects a run with neither a call nor an answer (%j), without asking',
    async (output) => {
      const { scorer, model } = judging({ verdicts: { no_call: 'asked_back' } })
      await expect(scorer.run({ input: 'What is the weather?', output })).rejects.toThrow('no answer to judge')
      expect(model.calls).toHaveLength(0)
    },
  )

  it('describes an empty catalogue as empty', async () => {
    const scorer = createToolCallAccuracyScorerLLM({ model: createScriptedJudge({}), availableTools: [] })
    await expect(scorer.run(runWith(['weather-tool']))).rejects.toThrow('the agent was offered no tools')
  })

  it('rejects if no tools are known, and uses those that the run records', async () => {
    const model = createScriptedJudge({ verdicts: { call_1: 'appropriate', missing: 'none' } })
    const scorer = createToolCallAccuracyScorerLLM({ model })
    await expect(scorer.run(runWith(['weather-tool']))).rejects.toThrow('Pass availableTools')
    const run = runWith(['weather-tool'])
    const withTools = { ...run, input: { ...run.input, availableTools: [{ name: 'weather-tool' }] } }
    expect((await scorer.run(withTools)).score).toBe(1)
  })
})
