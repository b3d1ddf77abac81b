import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { createAnswerCorrectnessScorer, createScorer } from 'spanscore'
import { createToolErrorsScorer } from 'spanscore/scorers/code'
import { createAgentTestRun, createTestMessage, createToolInvocation, testCases } from 'spanscore/testing'
import type { AgentCase, AskedCase } from 'spanscore/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

import { loadLibrary } from './corpus/load.ts'
import { createScriptedOpenAIServer } from '../src/testing/scripted-openai-server.ts'
import { runCommand } from './fixtures/run-command.ts'

const directory = mkdtempSync(join(tmpdir(), 'spanscore-cases-'))
afterAll(() => rmSync(directory, { recursive: true }))

const at = (name: string): string => join(directory, name)
function file(name: string, content: string): string {
  writeFileSync(at(name), content)
  return at(name)
}
const linesOf = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const sample = resolve('cli/sample/traces.jsonl')
const sampleConfig = resolve('cli/sample/spanscore.config.mjs')
const scores = at('scores.jsonl')
const cases = at('evals/cases.jsonl')

/** Cases of the sample, with other expectations. */
function expecting(name: string, change: (one: AgentCase) => Partial<AgentCase['expected']>): string {
  const changed = linesOf<AgentCase>(readFileSync(cases, 'utf8')).map((one) => ({
    ...one,
    expected: { ...one.expected, ...change(one) },
  }))
  return file(name, changed.map((one) => `${JSON.stringify(one)}\n`).join(''))
}

beforeAll(async () => {
  await runCommand(['score', sample, '--config', sampleConfig, '--out', scores])
  await runCommand(['cases', sample, scores, '--config', sampleConfig, '--out', cases])
})

const check = async (traces: string, caseFile: string, ...more: string[]) => {
  const args = ['score', traces, '--cases', caseFile, '--config', sampleConfig, ...more]
  return runCommand(args)
}

const declared = (name: string, agent: (asked: AskedCase) => unknown) => {
  const tests = new Map<string, () => Promise<void>>()
  testCases(name, { test: (title, run) => tests.set(title, run), agent, scorers: [createToolErrorsScorer()] })
  return [...tests]
}
const answer = (toolName: string) =>
  createAgentTestRun({
    inputMessages: [],
    output: [
      createTestMessage({
        role: 'assistant',
        content: 'It is 16 °C.',
        toolInvocations: [createToolInvocation({ toolCallId: '1', toolName, args: {}, result: 'ok', state: 'result' })],
      }),
    ],
  }).output

describe('spanscore cases', () => {
  it('makes a case of each question whose run failed, with what was wrong', () => {
    const found = linesOf<AgentCase>(readFileSync(cases, 'utf8'))
    expect(found.map(({ agent, input }) => [agent, input])).toEqual([
      ['weather-agent', 'What is the weather in Lima?'],
      ['weather-agent', 'Is it warm in Paris today?'],
      ['support-agent', 'Refund order A-404, it never came.'],
    ])
    expect(found[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      agent: 'weather-agent',
      input: 'What is the weather in Lima?',
      history: [],
      tools: ['weather-tool', 'search-tool'],
      expected: { answer: null, mentions: null, trajectory: null },
      wrong: [
        {
          scorer: 'tool_call_accuracy',
          score: 0,
          label: 'fail',
          explanation: 'Not as expected: wanted weather-tool; called: search-tool.',
        },
      ],
      answered: 'I found a travel blog about Lima.',
      called: [{ name: 'search-tool', arguments: { query: 'weather in Lima' } }],
      runId: expect.stringMatching(/^[0-9a-f]{32}:[0-9a-f]{16}$/),
    })
    expect(statSync(cases).mode & 0o777).toBe(0o600)
  })

  it('adds no case for a question that the file has, and keeps what people filled in', async () => {
    const filled = expecting('filled.jsonl', () => ({ answer: 'Lima' }))
    const before = readFileSync(filled, 'utf8')
    const { stderr } = await runCommand(['cases', sample, scores, '--config', sampleConfig, '--out', filled])
    expect(readFileSync(filled, 'utf8')).toBe(before)
    expect(stderr).toContain(`3 runs left out, because ${filled} has a case of the question.`)
  })

  it('keeps the worst, and the scorers that are asked for', async () => {
    const one = await runCommand(['cases', sample, scores, '--top', '1', '--config', sampleConfig])
    expect(linesOf(one.stdout)).toHaveLength(1)
    const errors = await runCommand(['cases', sample, scores, '--scorer', 'tool_errors', '--config', sampleConfig])
    expect(linesOf<AgentCase>(errors.stdout).map(({ agent }) => agent)).toEqual(['support-agent'])
  })

  it('says how many runs ended in an error and were failed by no scorer', async () => {
    const id = '11a-http-500.generateText'
    const crashed = file(
      'crashed.jsonl',
      JSON.stringify(loadLibrary('ai-6.0.326').find((each) => each.id === id)!.traces),
    )
    const present = file(
      'present.config.ts',
      `import { createAnswerPresentScorer } from '${resolve('src/entries/scorers.ts')}'\nexport default { scorers: [createAnswerPresentScorer()] }\n`,
    )
    const scored = at('crashed-scores.jsonl')
    const gate = ['--fail-under', 'answer_present=0.9']
    const { stdout } = await runCommand(['score', sample, crashed, '--config', present, '--out', scored, ...gate])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      '✓ answer_present: the mean of 7 runs is 1, which is not under 0.9; runs that were skipped do not count (run-failed 2)',
    )
    const { stderr } = await runCommand(['cases', sample, crashed, scored, '--config', present])
    expect(stderr).toBe(
      'spanscore: 0 cases.\nspanscore: 2 runs left out, which ended in an error and which no scorer failed.\n',
    )
  })

  it('takes runs on which people and a scorer differ, with the labels of calibrate', async () => {
    const all: { runId: string; scorer: string; version: string; label: string }[] = JSON.parse(
      (await runCommand(['score', sample, '--config', sampleConfig, '--json'])).stdout,
    ).evaluations
    const passed = all.find(({ scorer, label }) => scorer === 'answer_present' && label === 'pass')!
    const { runId, scorer, version } = passed
    const label = { runId, scorer, version, revision: 1, label: 'fail', labeller: 'ann', drawProbability: 1 }
    const labels = file('labels.jsonl', `${JSON.stringify(label)}\n`)
    const args = ['cases', sample, scores, '--labels', labels, '--disputed', '--config', sampleConfig]
    const found = linesOf<AgentCase>((await runCommand(args)).stdout)
    expect(found.map((one) => [one.runId, one.wrong[0]?.label, one.wrong[0]?.person])).toEqual([
      [runId, 'pass', 'fail'],
    ])
  })

  it('holds what redact leaves, and no explanation that may quote the rest', async () => {
    const entry = resolve('src/entries/scorers.ts')
    const redacting = file(
      'redact.config.ts',
      `import { createAnswerPresentScorer } from '${entry}'\n` +
        'export default { scorers: [createAnswerPresentScorer()], redact: (run) => JSON.parse(JSON.stringify(run).replaceAll(/Lima|A-404/g, "***")) }\n',
    )
    const { stdout } = await runCommand(['cases', sample, scores, '--config', redacting])
    expect(stdout).not.toMatch(/Lima|A-404|explanation/)
    const [first] = linesOf<AgentCase>(stdout)
    expect(first?.input).toBe('What is the weather in ***?')
    expect(first?.id).toBe(linesOf<AgentCase>(readFileSync(cases, 'utf8'))[0]?.id)
    const stripping = file(
      'strip.config.ts',
      `import { createAnswerPresentScorer } from '${entry}'\nexport default { scorers: [createAnswerPresentScorer()], stripContent: true }\n`,
    )
    const { code, stderr } = await runCommand(['cases', sample, scores, '--config', stripping])
    expect([code, stderr]).toEqual([2, expect.stringContaining('which stripContent of the configuration forbids')])
  })

  it('exits 2 without scores', async () => {
    const { code, stderr } = await runCommand(['cases', sample, '--config', sampleConfig])
    expect([code, stderr]).toEqual([2, expect.stringContaining('no scores in the files')])
  })

  it.each([
    [
      'promptfoo',
      {
        vars: { input: 'What is the weather in Lima?' },
        assert: [{ type: 'icontains-any', value: ['16', 'sixteen'] }],
        metadata: { trajectory: [{ name: 'weather-tool' }] },
      },
    ],
    [
      'langfuse',
      {
        input: { input: 'What is the weather in Lima?', history: [] },
        expectedOutput: { answer: 'It is 16 °C.', mentions: ['16', 'sixteen'] },
        sourceTraceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ],
    [
      'deepeval',
      {
        input: 'What is the weather in Lima?',
        expected_output: 'It is 16 °C.',
        expected_tools: [{ name: 'weather-tool', input_parameters: { city: 'Lima' } }],
        tools_called: [{ name: 'search-tool', input_parameters: { query: 'weather in Lima' } }],
      },
    ],
  ])('writes datasets of %s', async (to, line) => {
    const filled = expecting('datasets.jsonl', () => ({
      answer: 'It is 16 °C.',
      mentions: ['16', 'sixteen'],
      trajectory: [{ name: 'weather-tool', arguments: { city: 'Lima' } }],
    }))
    const { stdout } = await runCommand(['cases', 'convert', filled, '--to', to])
    expect(linesOf(stdout)[0]).toMatchObject(line)
    expect(stdout).toContain('wanted weather-tool')
  })
})

describe('spanscore score --cases', () => {
  it('fails while a case fails, and checks what the case expects', async () => {
    const filled = expecting('check.jsonl', ({ input }) =>
      input.includes('Lima') ? { mentions: '16', trajectory: ['weather-tool'] } : {},
    )
    const { code, stdout } = await check(sample, filled)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /3 runs in \d+ spans\.\n✗ case [0-9a-f]{16} "What is the weather in Lima\?": tool_call_accuracy 0 \(/,
    )
    expect(stdout).toContain('case_trajectory 0 (The calls do not match (ordered): not made: weather-tool')
    expect(stdout).toContain('case_mentions 0 (The answer mentions 0 of 1 expected texts; missing: 16')
  })

  it('fails a case without a trajectory if a tool was called', async () => {
    const filled = expecting('none.jsonl', () => ({ trajectory: [] }))
    const { code, stdout } = await check(sample, filled)
    expect(code).toBe(1)
    expect(stdout).toContain('case_trajectory 0 (The calls do not match (ordered): not expected: search-tool')
  })

  it('passes when the same questions were answered well, and names a question that was not asked', async () => {
    const filled = expecting('pass.jsonl', ({ input }) =>
      input.includes('Lima') ? { mentions: 'travel blog', trajectory: ['search-tool'] } : {},
    )
    const lima = linesOf<AgentCase>(readFileSync(filled, 'utf8'))[0]!
    const fixed = file('fixed.jsonl', readFileSync(sample, 'utf8').replaceAll('search-tool', 'weather-tool'))
    const only = file(
      'only.jsonl',
      JSON.stringify({ ...lima, expected: { mentions: 'travel blog', trajectory: ['weather-tool'] } }),
    )
    const json = await check(fixed, only, '--json')
    expect([json.code, JSON.parse(json.stdout).gates]).toEqual([
      0,
      [
        {
          caseId: lima.id,
          passed: true,
          message: `case ${lima.id} "What is the weather in Lima?": passes in 1 run`,
        },
      ],
    ])
    const other = file('other.jsonl', JSON.stringify({ ...lima, id: '0123456789abcdef' }))
    const missing = await check(fixed, other, '--junit', at('cases.xml'))
    expect([missing.code, missing.stdout]).toEqual([
      1,
      expect.stringMatching(/no question of the cases was asked in \d+ runs\./),
    ])
    expect(readFileSync(at('cases.xml'), 'utf8')).toContain(
      'name="case 0123456789abcdef"><failure message="case 0123456789abcdef &quot;What is the weather in Lima?&quot;: no run asks its question"/>',
    )
  })

  it('says how many of several runs of a question fail, and each fault once', async () => {
    const [first] = linesOf<object>(readFileSync(cases, 'utf8'))
    const one = file('first.jsonl', JSON.stringify(first))
    const text = readFileSync(sample, 'utf8')
    const again = (digits: string) => text.replaceAll(/"traceId":"[0-9a-f]{8}/g, `"traceId":"${digits}`)
    const fixed = again('00000002').replaceAll('search-tool', 'weather-tool')
    const runs = file('three.jsonl', [text, again('00000001'), fixed].join('\n'))
    const { stdout } = await check(runs, one)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /✗ case [0-9a-f]{16} "What is the weather in Lima\?": 2 of 3 runs fail: tool_call_accuracy 0 \([^;]*; called: search-tool\.\) $/,
    )
  })

  it('gives the expected answer to scorers that compare with one', async () => {
    const truth = file(
      'truth.config.ts',
      `import { createScorer } from '${resolve('src/entries/scorers.ts')}'\n` +
        "export default { scorers: [createScorer({ id: 'has_truth', description: 'x' }).generateScore(({ run }) => run.groundTruth === '16')] }\n",
    )
    const filled = expecting('truth.jsonl', () => ({ answer: '16' }))
    const { stdout } = await runCommand(['score', sample, '--cases', filled, '--config', truth, '--json'])
    const values = JSON.parse(stdout).evaluations.filter(({ scorer }: { scorer: string }) => scorer === 'has_truth')
    expect(values.map(({ value }: { value: number }) => value)).toEqual([1, 1, 1])
  })

  it('skips a run that failed as without cases, also in scorers of ones own', async () => {
    const entry = resolve('src/entries/scorers.ts')
    const config = file(
      'failed.config.ts',
      `import { createPromptAlignmentScorerLLM, createScorer } from '${entry}'\n` +
        "const model = { id: 'local/judge', url: 'http://127.0.0.1:9', apiKey: 'k' }\n" +
        "const empty = createScorer({ id: 'empty', description: 'x' }).generateScore(({ run }) => run.output === undefined)\n" +
        'export default { scorers: [createPromptAlignmentScorerLLM({ model }), empty] }\n',
    )
    const { traces } = loadLibrary('ai-6.0.326').find(({ id }) => id === '11a-http-500.generateText')!
    const failed = file('failed.jsonl', JSON.stringify(traces))
    const asked = file(
      'failed-cases.jsonl',
      JSON.stringify({ input: 'What is the weather in Tokyo right now?', expected: '16' }),
    )
    const { stdout } = await runCommand(['score', failed, '--cases', asked, '--config', config, '--json'])
    expect(JSON.parse(stdout).evaluations).toMatchObject([
      { scorer: 'prompt_alignment', status: 'skipped', reason: 'run-failed' },
      { scorer: 'empty', status: 'skipped', reason: 'run-failed' },
    ])
  })

  it('does not call a case green that nothing checks, and fails it if asked to', async () => {
    const lima = linesOf<AgentCase>(readFileSync(cases, 'utf8'))[0]!
    const wrong = [{ scorer: 'thumbs', score: 0, label: 'fail', by: 'user', explanation: 'I asked for tomorrow.' }]
    const disliked = file('disliked.jsonl', JSON.stringify({ ...lima, wrong }))
    const fixed = file('fixed.jsonl', readFileSync(sample, 'utf8').replaceAll('search-tool', 'weather-tool'))
    const message = `case ${lima.id} "What is the weather in Lima?": a user failed it, and nothing checks that: fill in "expected"`
    const open = await check(fixed, disliked, '--junit', at('unchecked.xml'))
    expect([open.code, open.stdout]).toEqual([0, expect.stringContaining(`\n– ${message}\n`)])
    expect(readFileSync(at('unchecked.xml'), 'utf8')).toContain(`name="case ${lima.id}"><skipped message=`)
    const asked = await check(fixed, disliked, '--fail-on', 'unchecked-cases')
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining(`\n✗ ${message}\n`)])
    const filled = file('filled-in.jsonl', JSON.stringify({ ...lima, wrong, expected: { mentions: 'Lima' } }))
    expect(await check(fixed, filled, '--fail-on', 'unchecked-cases')).toMatchObject({ code: 0 })
  })

  it('fails a case if what it expects is not compared, or its judge is not asked', async () => {
    const entry = resolve('src/entries/scorers.ts')
    const noKey = file(
      'no-key.config.ts',
      `import { createAnswerCorrectnessScorer, createAnswerPresentScorer } from '${entry}'\n` +
        "export default { scorers: [createAnswerPresentScorer(), createAnswerCorrectnessScorer({ model: 'openai/gpt-5-mini' })] }\n",
    )
    vi.stubEnv('OPENAI_API_KEY', undefined)
    const answered = expecting('answered.jsonl', () => ({ answer: '16 °C' }))
    const open = await runCommand(['score', sample, '--cases', answered, '--config', noKey])
    expect(open.code).toBe(1)
    expect(open.stdout).toMatch(/✗ case \S+ "[^"]+": answer_correctness gave no score \(judge-unavailable\)/)
    const misspelt = expecting('misspelt.jsonl', () => ({ trajectory: ['wether-tool'] }))
    const { code, stdout } = await runCommand(['score', sample, '--cases', misspelt, '--config', noKey])
    expect([code, stdout]).toEqual([1, expect.stringContaining('case_trajectory gave no score (no-such-tool)')])
    const tests: (() => Promise<void>)[] = []
    const scorers = [createToolErrorsScorer(), createAnswerCorrectnessScorer({ model: 'openai/gpt-5-mini' })]
    testCases(answered, { test: (_title, run) => tests.push(run), agent: () => answer('weather-tool'), scorers })
    await expect(tests[0]!()).rejects.toThrow(/did not pass\.\nanswer_correctness: /)
    vi.unstubAllEnvs()
  })

  it('names the case and the try in which the agent threw', async () => {
    const tests: (() => Promise<void>)[] = []
    let asked = 0
    const down = new Error('down')
    const agent = () => {
      asked++
      if (asked === 2) throw down
      return answer('weather-tool')
    }
    testCases(cases, { test: (_title, run) => tests.push(run), agent, scorers: [createToolErrorsScorer()], tries: 4 })
    const { id } = linesOf<AgentCase>(readFileSync(cases, 'utf8'))[0]!
    const message = `Case ${id} ended in try 2 of 4 with Error: down`
    await expect(tests[0]!()).rejects.toThrow(expect.objectContaining({ message, cause: down }))
  })

  it.each([
    ['{"expected":"16"}', 'expected "input" to be the question as a text'],
    ['{"id":1,"input":"x"}', 'expected "id" to be a text, or absent'],
    ['{"input":"x","wrong":{}}', 'expected "wrong" to be a list, or absent'],
    ['{"input":"x","expected":16}', 'expected "expected" to be the expected answer as a text, or an object'],
    ['[1]', 'expected a case as a JSON object, got [1]'],
    [
      '{"input":"x" "expected":"16"}',
      'expected one case a line, as a JSON object, got text that is not valid JSON (Expected',
    ],
    ['{"expect":{"mentions":["99"]}}', 'got an unknown field: "expect". Did you mean expected?'],
    ['{"input":"x","expected":{"mention":["99"]}}', 'got an unknown field: "mention". Did you mean mentions?'],
  ])('refuses %s', async (line, message) => {
    const wrong = file('wrong.jsonl', line)
    const { code, stderr } = await check(sample, wrong)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).toContain(`--cases: cannot read cases: ${wrong}, line 1`)
    expect(() => testCases(wrong, { test: it, agent: () => '' })).toThrow(`${wrong}, line 1`)
  })

  it('reads questions and expected answers that somebody wrote, of any agent or of one', async () => {
    const question = 'What is the weather in Lima?'
    const lines = [
      { input: question, expected: '16' },
      { agent: 'weather-agent', input: 'Is it warm in Paris today?', expected: { mentions: 'Paris' } },
    ]
    const written = file('written.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'))
    const { stdout } = await check(sample, written)
    expect(stdout).toMatch(/. case [0-9a-f]{16} "What is the weather in Lima\?": tool_call_accuracy 0/)
    expect(stdout).toMatch(/. case [0-9a-f]{16} "Is it warm in Paris today\?": (?!no run)/)
    const { stderr } = await runCommand(['cases', sample, scores, '--config', sampleConfig, '--out', written])
    expect(stderr).toContain(`1 case written to ${written}`)
    expect(stderr).toContain(`2 runs left out, because ${written} has a case of the question.`)
    const asked: AskedCase[] = []
    const tests = declared(written, (one) => (asked.push(one), answer('weather-tool')))
    await tests[0]![1]()
    expect(asked).toMatchObject([{ input: question, case: { expected: { answer: '16' }, wrong: [], history: [] } }])
    const { stdout: items } = await runCommand(['cases', 'convert', written, '--to', 'langfuse'])
    expect(linesOf(items)[0]).toMatchObject({ expectedOutput: { answer: '16' } })
    const fixed = file('fixed.jsonl', readFileSync(sample, 'utf8').replaceAll('search-tool', 'weather-tool'))
    const open = file('open.jsonl', JSON.stringify({ input: question }))
    expect((await check(fixed, open)).stdout).toContain('nothing checks it: fill in "expected"')
  })

  it('says if no scorer compares with the expected answers', async () => {
    const unread = expecting('unread.jsonl', () => ({ answer: 'It is 16 °C.' }))
    expect((await check(sample, unread)).stderr).toContain(
      '3 of 3 cases have an expected answer that no scorer compares with: add answer_correctness',
    )
    const mentioned = expecting('mentioned.jsonl', () => ({ answer: 'It is 16 °C.', mentions: '16' }))
    expect((await check(sample, mentioned)).stderr).toContain('no scorer compares')
    const only = expecting('only-mentioned.jsonl', () => ({ mentions: '16' }))
    expect((await check(sample, only)).stderr).not.toContain('no scorer compares')
  })

  it('refuses a list as the expected answer, and points that no longer fit', async () => {
    const list = expecting('list.jsonl', () => ({ answer: ['16', 'sixteen'] as never }))
    expect((await check(sample, list)).stderr).toContain('texts that must occur are expected.mentions')
    const points = { of: '0123456789abcdef', list: [{ text: 'It is 16 °C.', weight: 2 as const }] }
    const stale = expecting('stale.jsonl', () => ({ answer: 'It is 16 °C.', points }))
    expect((await check(sample, stale)).stderr).toContain('take the points out, and run spanscore cases points FILE')
  })

  it('refuses a misspelt expectation', async () => {
    const wrong = expecting('misspelt.jsonl', () => ({ trajectory: [{ name: 'a', args: {} } as never] }))
    expect((await check(sample, wrong)).stderr).toContain('line 1: expected expected.trajectory to be a list of calls')
  })
})

describe('spanscore cases points', () => {
  it('adds points where there is an answer and none, says what that costs first, and gives them to scorers', async () => {
    const points = [{ text: 'It is 16 °C.', reasoning: '', verdict: '2' }]
    await using server = await createScriptedOpenAIServer(({ userText }) =>
      userText.includes('"points" [')
        ? JSON.stringify({ points })
        : JSON.stringify({ answers: [{ id: 'p1', verdict: 'missing' }] }),
    )
    const config = file(
      'points.config.ts',
      `import { createAnswerCorrectnessScorer } from '${resolve('src/entries/scorers.ts')}'\n` +
        `const model = { id: 'local/judge', url: '${server.url}', apiKey: 'k' }\n` +
        'export default { scorers: [createAnswerCorrectnessScorer({ model })] }\n',
    )
    const filled = expecting('points.jsonl', ({ input }) => (input.includes('Lima') ? { answer: 'It is 16 °C.' } : {}))
    const written = file('asked.jsonl', '{"input":"What is the weather in Lima?","expected":"It is 16 °C."}')
    await runCommand(['cases', 'points', written, '--config', config])
    expect(linesOf(readFileSync(written, 'utf8'))).toEqual([
      {
        input: 'What is the weather in Lima?',
        expected: {
          answer: 'It is 16 °C.',
          points: { of: expect.any(String), list: [{ text: 'It is 16 °C.', weight: 2 }] },
        },
      },
    ])
    const [before = '', ...others] = readFileSync(filled, 'utf8').split('\n')
    const { code, stderr } = await runCommand(['cases', 'points', filled, '--config', config])
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^spanscore: local\/judge: 1 expected answer, at most [\d,]+ tokens/),
    ])
    const [line = '', ...rest] = readFileSync(filled, 'utf8').split('\n')
    expect(rest).toEqual(others)
    const { expected, ...same } = JSON.parse(line)
    expect(same).toEqual(Object.fromEntries(Object.entries(JSON.parse(before)).filter(([key]) => key !== 'expected')))
    expect(expected.points).toEqual({
      of: expect.stringMatching(/^[0-9a-f]{16}$/),
      list: [{ text: 'It is 16 °C.', weight: 2 }],
    })
    expect((await runCommand(['cases', 'points', filled, '--config', config])).stderr).toContain('every case')
    const scored = await runCommand(['score', sample, '--cases', filled, '--config', config])
    expect(scored.stdout).toContain('answer_correctness 0 (0 of 1 points said.')
    expect(server.requests.filter(({ userText }) => userText.includes('"points" ['))).toHaveLength(2)
  })

  it('needs a judge', async () => {
    const filled = expecting('judge.jsonl', () => ({ answer: 'It is 16 °C.' }))
    const { code, stderr } = await runCommand(['cases', 'points', filled, '--config', sampleConfig])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('expected --model, or answer_correctness in the configuration'),
    ])
  })
})

describe('testCases', () => {
  it('asks the agent again, with the history, and checks scorers and expectations', async () => {
    const filled = expecting('again.jsonl', () => ({ mentions: '16 °C', trajectory: ['weather-tool'] }))
    const asked: AskedCase[] = []
    const tests = declared(filled, (one) => {
      asked.push(one)
      return answer(one.input.includes('Lima') ? 'weather-tool' : 'search-tool')
    })
    expect(tests[0]?.[0]).toMatch(/^What is the weather in Lima\? \([0-9a-f]{16}\)$/)
    await tests[0]![1]()
    expect(asked[0]?.messages).toEqual([{ role: 'user', content: 'What is the weather in Lima?' }])
    await expect(tests[1]![1]()).rejects.toThrow(/did not pass\.\ncase_trajectory 0: The calls do not match/)
  })

  it('asks each question as often as is wanted, and every try must pass', async () => {
    const filled = expecting('tries.jsonl', () => ({ trajectory: ['weather-tool'] }))
    const trying = (good: number) => {
      let count = 0
      const tests: (() => Promise<void>)[] = []
      const agent = () => answer(count++ < good ? 'weather-tool' : 'search-tool')
      testCases(filled, { test: (_, run) => tests.push(run), agent, tries: 4 })
      return tests[0]!()
    }
    await trying(4)
    await expect(trying(2)).rejects.toThrow(/did not pass in 2 of 4 tries\.\ncase_trajectory 0: [^\n]*$/)
    expect(() => testCases(filled, { test: it, agent: () => '', tries: 0 })).toThrow('whole number from 1 on, got 0')
    const misspelt = { test: it, agent: () => '', trys: 2 }
    expect(() => testCases(filled, misspelt)).toThrow('"trys". Did you mean tries?')
  })

  it('fails where the agent gives no answer, or one in a form that the scorers cannot read', async () => {
    const few = createScorer({ id: 'few', description: '' }).generateScore(
      ({ agentRun }) => agentRun.toolCalls.length < 9,
    )
    const written = file('unread.jsonl', JSON.stringify({ input: 'Hi' }))
    const asking = (output: unknown): Promise<void> => {
      const tests: (() => Promise<void>)[] = []
      testCases(written, { test: (_, run) => tests.push(run), agent: () => output, scorers: [few] })
      return tests[0]!()
    }
    await asking('Hello')
    await expect(asking(undefined)).rejects.toThrow('the agent returned undefined, expected its answer')
    await expect(asking({ answer: 'Hello' })).rejects.toThrow(
      'Expected a message { role, content }, got {"answer":"Hello"}',
    )
  })

  it('fails where nothing was scored, and says why', async () => {
    const [first] = declared(cases, () => 'It is 16 °C.')
    await expect(first![1]()).rejects.toThrow('nothing was scored (tool_errors: not-applicable)')
  })
})
