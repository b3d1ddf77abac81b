import { createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { ScriptedOpenAIServer, ScriptedVerdicts } from 'spanscore/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'

/**
 * The code of documents that users know, block by block, with nothing changed but the package's name, what `[...]`
 * left out, and one apostrophe that could not parse. The models are answered by a scripted server over the wire, those that the
 * provider's package makes as well as those named by id.
 */
let server: ScriptedOpenAIServer
const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)

beforeAll(async () => {
  server = await createScriptedOpenAIServer((request) => judgeReply(verdictsOn(request.userText)))
  // The provider reads this when it is first imported, so the blocks are imported afterwards.
  vi.stubEnv('OPENAI_BASE_URL', server.url)
  vi.stubEnv('OPENAI_API_KEY', 'scripted')
})
afterEach(() => log.mockClear())
afterAll(async () => {
  vi.unstubAllEnvs()
  await server.close()
})

/** What an honest judge would find in these runs. */
function verdictsOn(message: string): ScriptedVerdicts {
  const { sections, questions, lists } = readJudgePrompt(message)
  const material = [...sections.values()].join('\n')
  if (lists.some(({ name }) => name === 'claims')) return teslaClaims
  if (sections.has('the questions')) {
    const ids = questions.map(({ id }) => id).filter((id) => /^q\d+$/.test(id))
    const isWrong = material.includes('Tesla')
    return { verdicts: Object.fromEntries(ids.map((id) => [id, isWrong && id === 'q4' ? 'no' : 'yes'])) }
  }
  if (questions.some(({ id }) => id === 'no_call')) return { verdicts: { no_call: 'asked_back' } }
  if (questions.some(({ id }) => id === 'call_1')) {
    const isSearch = material.includes('"query"')
    const verdict = { verdict: 'helpful', tools: ['weather-tool'], reasoning: 'The weather-tool is more direct.' }
    return { verdicts: { call_1: isSearch ? verdict : 'appropriate', missing: 'none' } }
  }
  return alignment(material)
}

const teslaClaims: ScriptedVerdicts = {
  lists: {
    claims: [
      { text: 'It was founded in 2003 by Elon Musk.', verdict: 'contradicted' },
      { text: 'Its first car was the Roadster of 2008.', verdict: 'supported' },
    ],
    questions: ['When was it founded?', 'Which car was its first?', 'When did it come out?', 'Who founded it?'],
  },
}

function alignment(material: string): ScriptedVerdicts {
  const isParagraph = material.includes('箇条書き')
  const isTestRun = material.includes('closure')
  const levels = isParagraph ? ['1', '1', '0'] : isTestRun ? ['1', '0.5', '0.5'] : ['1', '0.75', '1']
  const [intent = '', completeness = '', appropriateness = ''] = levels
  const sides = ['user', 'system']
  return {
    verdicts: Object.fromEntries(
      sides.flatMap((side) => [
        [`${side}.intent`, intent],
        [`${side}.completeness`, completeness],
        [`${side}.appropriateness`, appropriateness],
      ]),
    ),
    lists: Object.fromEntries(
      sides.map((side) => [
        `${side}Requirements`,
        isParagraph
          ? [
              { text: '箇条書き', verdict: 'no' },
              { text: '利点', verdict: 'yes' },
            ]
          : [{ text: 'Does what is asked', verdict: 'yes' }],
      ]),
    ),
  }
}

const printed = (): unknown[] => log.mock.calls.map(([first]) => first)

describe('tool call accuracy, as documented in Chinese and English', () => {
  it('makes the scorers of the code options', async () => {
    const block = await import('./blocks/zh-1-code-options.ts')
    expect(block.strictOrderScorer.id).toBe('tool_call_accuracy')
  })

  it('gives 1 for the right tool, with everything the document says of the result', async () => {
    const { result } = await import('./blocks/zh-3-correct-tool.ts')
    expect(printed()).toEqual([1, true])
    expect(result.runId).toMatch(/./)
    expect(result.preprocessStepResult).toEqual({
      expectedTool: 'weather-tool',
      actualTools: ['weather-tool'],
      strictMode: false,
      hasToolCalls: true,
      correctToolCalled: true,
      correctOrderCalled: null,
      toolCallInfos: [{ toolName: 'weather-tool', toolCallId: 'call-123', messageIndex: 0, invocationIndex: 0 }],
    })
  })

  it('gives 0 in strict mode when several tools were called', async () => {
    await import('./blocks/zh-4-strict.ts')
    expect(printed()).toEqual([0])
  })

  it('gives 1 for the right order', async () => {
    const { result } = await import('./blocks/zh-5-order.ts')
    expect(printed()).toEqual([1])
    expect(result.preprocessStepResult?.correctOrderCalled).toBe(true)
  })

  it('gives 1 for the right order with other calls between', async () => {
    await import('./blocks/zh-6-flexible-order.ts')
    expect(printed()).toEqual([1])
  })

  it('makes the scorers of the LLM options', async () => {
    const block = await import('./blocks/zh-7-llm-options.ts')
    expect(block.basicLLMScorer.judge?.model).toBe('openai/gpt-5.1')
    expect(block.customModelScorer.judge?.model).toBe('openai/gpt-5')
  })

  it('gives 1.0 by judge for the right tool, with everything the document says of the result', async () => {
    const { result } = await import('./blocks/zh-9-llm-basic.ts')
    expect(printed()[0]).toBe(1)
    expect(result.reason).toEqual(expect.any(String))
    expect(result.analyzeStepResult?.evaluations).toMatchObject([
      { toolCalled: 'weather-tool', wasAppropriate: true, reasoning: expect.any(String) },
    ])
  })

  it('gives 0.5 by judge for a partially appropriate tool', async () => {
    const { result } = await import('./blocks/zh-10-llm-inappropriate.ts')
    expect(printed()[0]).toBe(0.5)
    expect(result.reason).toContain('weather-tool')
  })

  it('gives 1.0 by judge for asking the user for clarification', async () => {
    await import('./blocks/zh-11-llm-clarification.ts')
    expect(printed()[0]).toBe(1)
  })

  it('runs both on the same data: 0 by code, between 0 and 1 by judge', async () => {
    const { codeResult, llmResult } = await import('./blocks/zh-12-both.ts')
    expect(codeResult.score).toBe(0)
    // The document has .3 here and .5 for the same situation above. The formula cannot give .3.
    expect(llmResult.score).toBeGreaterThan(0)
    expect(llmResult.score).toBeLessThan(1)
    expect(printed()).toEqual(['Code Scorer:', 'LLM Scorer:', 'LLM Reason:'])
  })
})

describe('tool call accuracy, as documented in Japanese', () => {
  it('makes the code scorers', async () => {
    const block = await import('./blocks/ja-tools-1-code.ts')
    expect(block.orderScorer.kind).toBe('code')
  })

  it('scores a run by judge, with a model of the provider', async () => {
    await import('./blocks/ja-tools-2-llm.ts')
    expect(printed()).toEqual([1, expect.any(String)])
    expect(server.requests.at(-1)).toMatchObject({ model: 'gpt-4o-mini' })
  })
})

describe('summarization, as documented in Japanese', () => {
  it('measures a summary', async () => {
    const { result } = await import('./blocks/ja-summary-1-basic.ts')
    expect(result.score).toBeGreaterThanOrEqual(0)
    expect(result.info.reason).toEqual(expect.any(String))
  })

  it('gives .5 for alignment .5 and coverage .75', async () => {
    const { result } = await import('./blocks/ja-summary-2-analysis.ts')
    expect(result).toMatchObject({ score: 0.5, info: { alignmentScore: 0.5, coverageScore: 0.75 } })
  })
})

describe('prompt alignment, as documented in Japanese', () => {
  it('gives .95 for the factorial', async () => {
    const { result } = await import('./blocks/ja-alignment-1-basic.ts')
    expect(result.score).toBe(0.95)
    expect(result.reason).toEqual(expect.any(String))
  })

  it('scales to 10, both sides judged', async () => {
    const { result } = await import('./blocks/ja-alignment-2-custom.ts')
    expect(result.score).toBe(8.5)
    expect(result.reason).toMatch(/8\.5\D+10/)
  })

  it('lowers the score if the format differs from the requested one', async () => {
    const { result } = await import('./blocks/ja-alignment-3-format.ts')
    expect(result.score).toBe(0.75)
  })

  it.each([
    ['code', () => import('./blocks/ja-alignment-4-code-prompt.ts')],
    ['task', () => import('./blocks/ja-alignment-5-task-prompt.ts')],
    ['format', () => import('./blocks/ja-alignment-6-format-prompt.ts')],
  ])('has the %s prompt', async (_name, load) => {
    expect(Object.values(await load())).toEqual([expect.any(String)])
  })

  it('scores an agent for user and system, for the user alone, for the system alone', async () => {
    const { result } = await import('./blocks/ja-alignment-7-agent.ts')
    expect(result.analyzeStepResult).toHaveProperty('user')
    expect(result.analyzeStepResult).toHaveProperty('system')
  })

  it('compares prompts', async () => {
    await import('./blocks/ja-alignment-8-prompts.ts')
    expect(printed()).toHaveLength(3)
    expect(printed()[0]).toMatch(/^プロンプトのアラインメント: \d/)
  })

  it('compares agents', async () => {
    await import('./blocks/ja-alignment-9-agents.ts')
    expect(printed()).toEqual(
      ['one', 'two', 'three'].map((name) => expect.stringMatching(`^${name} の平均アラインメント: [01]`)),
    )
  })

  it('rejects without a prompt, and scores an empty response low, with a reason', async () => {
    const { result } = await import('./blocks/ja-alignment-10-errors.ts')
    expect(result.score).toBe(0)
    expect(result.reason?.length).toBeGreaterThan(20)
  })
})
