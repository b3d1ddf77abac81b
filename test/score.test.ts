import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createScriptedOpenAIServer } from '../src/testing/scripted-openai-server.ts'
import { runCommand } from './fixtures/run-command.ts'
import { loadLibrary } from './corpus/load.ts'

const directory = mkdtempSync(join(tmpdir(), 'spanscore-score-'))
afterAll(() => rmSync(directory, { recursive: true }))

const root = resolve(import.meta.dirname, '..')

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

const run = (argv: readonly string[]) => runCommand(argv)

/** A configuration with these scorers. */
function config(name: string, scorers: string, more = ''): string {
  return file(
    `${name}.config.ts`,
    `import * as prebuilt from '${root}/src/entries/scorers.ts'\n` +
      `import { createFakeJudge } from '${root}/src/entries/testing.ts'\n` +
      `export default { scorers: [${scorers}]${more} }\n`,
  )
}

const weatherRuns = loadLibrary('ai-6.0.326').filter(({ id }) => /^0[1-3]-/.test(id))
const lines = weatherRuns.map(({ traces }) => JSON.stringify(traces))
const traces = file('traces.jsonl', lines.join('\n'))
const weatherTool = "prebuilt.createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' })"
const toolErrors = 'prebuilt.createToolErrorsScorer()'
const standard = config('standard', `${weatherTool}, ${toolErrors}`)

/** The same runs under other trace ids, as the next release of the application would write them. */
function inOtherTraces(texts: readonly string[]): string {
  return texts.map((line) => line.replaceAll(/"traceId":"[0-9a-f]{8}/g, '"traceId":"00c0ffee')).join('\n')
}

let releases = 0

/** The traces of a release that was asked about the weather in cities, each with so many good answers of so many tries. */
function asked(...cities: readonly (readonly [city: string, passed: number, tries?: number])[]): string {
  const release = releases++
  const texts = cities.flatMap(([city, passed, tries = 1], place) =>
    Array.from({ length: tries }, (_, index) =>
      lines[0]!
        .replaceAll('Tokyo', city)
        .replaceAll('weather-tool', index < passed ? 'weather-tool' : 'other-tool')
        .replaceAll(
          /"traceId":"[0-9a-f]{8}/g,
          `"traceId":"${[release, place, index].map((part) => part.toString(16).padStart(2, '0')).join('')}aa`,
        ),
    ),
  )
  return file(`asked-${release}.jsonl`, texts.join('\n'))
}

interface Report {
  readonly evaluations: readonly {
    readonly runId: string
    readonly agent: string
    readonly scorer: string
    readonly status: string
    readonly value?: number
    readonly label?: string
    readonly reason?: string
  }[]
  readonly summary: readonly {
    readonly agent: string
    readonly scorer: string
    readonly scored: number
    readonly mean: number
    readonly interval95: readonly [number, number]
    readonly passed: number
    readonly skipped: Readonly<Record<string, number>>
    readonly worst: readonly { readonly runId: string; readonly explanation: string }[]
  }[]
  readonly gates: readonly { readonly passed: boolean; readonly message: string }[]
  readonly baseline?: readonly Readonly<Record<string, unknown>>[]
}

async function report(...argv: string[]): Promise<Report> {
  return JSON.parse((await run(['score', '--json', ...argv])).stdout)
}

const entry = (options: string): string => `{ scorer: prebuilt.createAnswerPresentScorer(), ${options} }`

/** The exit code and the last line with gates on the runs of the weather agent. */
const gated = async (...gates: string[]): Promise<[number, string | undefined]> => {
  const { code, stdout } = await run([
    'score',
    traces,
    '--config',
    standard,
    '--where',
    'agent=weather-agent',
    ...gates,
  ])
  return [code, stdout.trimEnd().split('\n').at(-1)]
}

const words = (shown: string) => shown.split(/\s+/).filter((word) => /^[a-z0-9:_.]+$/i.test(word))

describe('spanscore score', () => {
  it('shows scores by agent and scorer, and the worst runs with their reasons', async () => {
    const { code, stdout, stderr } = await run(['score', traces, '--config', standard])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // Worst first.
    expect(stdout).toMatch(
      /^ {2}scorer +failing +scored +mean +95 % interval\naccount-agent\n {2}tool_call_accuracy +100 % █{10} +2 +0\.00 +0\.00 to 0\.66\n/,
    )
    expect(stdout).toMatch(/\nweather-agent\n {2}tool_call_accuracy +0 % +\d+ +1\.00 +0\.\d\d to 1\.00\n/)
    expect(stdout).not.toMatch(/[✓✗]/)
    expect(stdout).toContain('Not as expected: wanted weather-tool; called: auth-tool, fetch-tool.')
    expect(stdout).toMatch(/\n\d+ runs in \d+ spans\.\n$/)
  })

  it('shows as many of the worst runs as --top says, and with --failed-only nothing but failures', async () => {
    const one = await run(['score', traces, '--config', standard, '--top', '1', '--failed-only'])
    expect(one.stdout).not.toMatch(/\nweather-agent\n/)
    expect(one.stdout).toMatch(/\naccount-agent\n {2}tool_call_accuracy/)
    const worst = one.stdout.split('account-agent, tool_call_accuracy')[1]!.split('\n\n')[0]!
    expect(worst.match(/^ {2}0 /gm)).toHaveLength(1)
    expect((await run(['score', traces, '--config', standard, '--top', '0'])).stdout).not.toContain('Not as expected')
  })

  it('writes a summary for a pull request with --markdown', async () => {
    const hostile = file(
      'hostile.jsonl',
      lines
        .map((line) => line.replaceAll('account-agent', '<b>|`x` @all').replaceAll('auth-tool', '````@all'))
        .join('\n'),
    )
    const before = file('markdown.json', (await run(['score', '--json', traces, '--config', standard])).stdout)
    const markdown = join(directory, 'summary.md')
    const gate = ['--fail-under', 'tool_call_accuracy=0.99', '--baseline', before, '--markdown', markdown]
    const { code } = await run(['score', hostile, '--config', standard, ...gate])
    expect(code).toBe(1)
    const text = readFileSync(markdown, 'utf8')
    expect(text).toMatch(
      /^### Agent scores: ❌ 1 of 1 gate failed\n\n- ❌ tool_call_accuracy: the mean of \d+ runs is 0\.\d+, which is under 0\.99\n/,
    )
    expect(text).toMatch(/\n\| `weather-agent` \| `tool_call_accuracy` \| 0 % \| \d+ \| 1 \| 0\.\d+ to 1 \| {2}\|\n/)
    expect(text).toContain(
      '\nSince the baseline:\n\n- `tool_call_accuracy`: 0 (95 %: -0.316 to +0.316) over 6 pairs of runs; of 3 questions, 0 newly failing and 0 fixed; questions that passed every try: 67 % (2 tries), before 67 % (2 tries)',
    )
    expect(text).toContain("| `<b>\\|'x' @all` |")
    expect(text).toMatch(/\n`{5}text\n[^]*called: ````@all, fetch-tool\.[^\n]*\n`{5}\n/)
    expect(text).toMatch(/\n\n\d+ runs in \d+ spans\.\n$/)
  })

  it('cuts no figure and breaks no word, however narrow the terminal is', async () => {
    const long = config('long', `${entry("id: 'a_scorer_with_a_name_that_is_long'")}, ${weatherTool}, ${toolErrors}`)
    const argv = ['score', traces, '--config', long, '--fail-under', 'tool_call_accuracy=0.99', '--lower']
    const wide = await runCommand(argv)
    for (const columns of [60, 80]) {
      const { stdout } = await runCommand(argv, { columns })
      expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([])
      const figures = /^ {2}a_scorer_with\S*(?: \S+)* +0 % .* 2 +1\.00/m
      expect(stdout).toMatch(figures)
      const known = new Set(words(wide.stdout))
      expect(words(stdout).filter((word) => !known.has(word) && !word.startsWith('a_scorer'))).toEqual([])
    }
    // In a pipe a gate is one line.
    expect(wide.stdout).toContain('tool_call_accuracy: the lower bound of the mean of ')
  })

  it('names a scorer for which there was no run', async () => {
    const filtered = config('filtered', `${toolErrors}, ${entry("agent: 'nobody'")}`)
    const line = `answer_present did not apply to any of the ${weatherRuns.length} runs: its agent is nobody.`
    const table = await run(['score', '--config', filtered, traces])
    expect(table.stdout).toContain(line)
    const json = await run(['score', '--json', '--config', filtered, traces])
    expect(json.stderr).toBe(`spanscore: ${line}\n`)
  })

  it('gives each evaluation and the summary with --json, and both agree', async () => {
    const { evaluations, summary } = await report(traces, '--config', standard)
    const ids = new Set(evaluations.map(({ runId }) => runId))
    expect(evaluations.length).toBe(ids.size * 2)
    for (const { agent, scorer, scored, mean, passed, interval95 } of summary) {
      const own = evaluations.filter(
        (item) => item.agent === agent && item.scorer === scorer && item.status === 'scored',
      )
      expect(scored).toBe(own.length)
      expect(mean).toBeCloseTo(own.reduce((sum, item) => sum + (item.value ?? 0), 0) / own.length, 9)
      expect(passed).toBe(own.filter((item) => item.label === 'pass').length)
      expect(interval95[0]).toBeLessThanOrEqual(mean)
      expect(interval95[1]).toBeGreaterThanOrEqual(mean)
      expect(interval95[1] - interval95[0]).toBeGreaterThan(0.1)
    }
  })

  it('scores nested runs and agents by the rules of an application, and not by its rates', async () => {
    const nested = file(
      'nested.jsonl',
      loadLibrary('openinference-openai-4.2.7')
        .filter(({ id }) => id.startsWith('09a'))
        .map((scenario) => JSON.stringify(scenario.traces))
        .join('\n'),
    )
    const scorers = [
      entry("id: 'roots', sample: 0"),
      entry("id: 'all', scope: 'every-agent'"),
      entry("id: 'research', agent: 'research-agent'"),
      entry("id: 'never', when: () => false"),
      entry("id: 'broken', when: () => { throw new Error('no') }"),
    ]
    const { evaluations } = await report(nested, '--config', config('rules', scorers.join(', ')))
    const agentsOf = (id: string): string[] =>
      evaluations.filter(({ scorer }) => scorer === id).map(({ agent, status }) => `${agent} ${status}`)
    const [root0] = agentsOf('roots')
    expect(agentsOf('roots')).toHaveLength(1)
    expect(agentsOf('all')).toEqual([root0, 'research-agent scored'])
    expect(agentsOf('research')).toEqual(['research-agent scored'])
    expect(agentsOf('never')).toEqual([])
    expect(agentsOf('broken')).toEqual([root0?.replace('scored', 'failed')])
  })

  it('writes the scores as OTLP logs, which inspect shows beside the traces', async () => {
    const out = join(directory, 'scores.jsonl')
    expect((await run(['score', traces, '--config', standard, '--out', out])).code).toBe(0)
    const { stdout } = await run(['inspect', '--json', traces, out])
    const { runs }: { runs: { id: string; scores: { scorerId: string; value: number }[] }[] } = JSON.parse(stdout)
    const { evaluations } = await report(traces, '--config', standard)
    const stored = runs.flatMap(({ id, scores }) => scores.map(({ scorerId, value }) => `${id} ${scorerId} ${value}`))
    expect(stored.toSorted()).toEqual(
      evaluations.map(({ runId, scorer, value }) => `${runId} ${scorer} ${value}`).toSorted(),
    )
  })

  it('shows scores of calls by call, and inspect shows each at its call', async () => {
    const named =
      "prebuilt.createScorer({ id: 'named', description: 'x', level: 'tool-call' }).generateScore(({ call }) => call.name === 'weather-tool')"
    const path = config('calls', named)
    const out = join(directory, 'calls.jsonl')
    const { stdout } = await run(['score', traces, '--config', path, '--out', out, '--fail-under', 'named=0.1'])
    expect(stdout).toMatch(/\nweather-agent\n {2}named \(calls\) +0 % +\d+ +1\.00/)
    expect(stdout).toMatch(/named: the mean of \d+ calls is [\d.]+, which is not under 0\.1/)
    const { evaluations, summary } = await report(traces, '--config', path)
    expect(summary[0]).toMatchObject({ scorer: 'named', level: 'tool-call' })
    const calls = evaluations.flatMap((each) => ('calls' in each ? (each.calls as readonly object[]) : []))
    expect(summary.reduce((sum, { scored }) => sum + scored, 0)).toBe(calls.length)
    expect(calls[0]).toMatchObject({ index: 0, name: 'weather-tool', status: 'scored', value: 1, label: 'pass' })

    const { runs } = JSON.parse((await run(['inspect', '--json', traces, out])).stdout) as {
      readonly runs: readonly { readonly scores?: readonly { readonly calls: readonly object[] }[] }[]
    }
    expect(runs.flatMap(({ scores = [] }) => scores.flatMap((score) => score.calls))).toHaveLength(calls.length)
    expect((await run(['inspect', traces, out])).stdout).toMatch(
      /weather-tool[^\n]*\n(?:[│ ]+→[^\n]*\n)?[│ ]+✓ score {2}named 1\n/,
    )
  })

  it('exits 1 if a gate fails, by the mean or by the bound of its interval', async () => {
    expect(await gated('--fail-under', 'tool_call_accuracy=0.9')).toEqual([
      0,
      expect.stringMatching(/^✓ tool_call_accuracy: the mean of \d+ runs is 1, which is not under 0\.9$/),
    ])
    expect(await gated('--fail-under', 'tool_call_accuracy=0.99', '--lower')).toEqual([
      1,
      expect.stringMatching(
        /^✗ tool_call_accuracy: the lower bound of the mean of \d+ runs is 0\.\d+ \(mean 1\), which is under/,
      ),
    ])
    expect(await gated('--fail-over', 'tool_errors=0')).toEqual([0, expect.stringContaining('which is not over 0')])
    expect(await gated('--fail-over', 'tool_errors=0', '--lower')).toEqual([
      1,
      expect.stringContaining('which is over 0'),
    ])
  })

  it('fails a gate if nothing was scored, a scorer failed, or a judge was left out', async () => {
    const broken =
      "prebuilt.createScorer({ id: 'broken', description: 'x' }).generateScore(() => { throw new Error('no') })"
    const judge =
      "prebuilt.createPromptAlignmentScorerLLM({ model: createFakeJudge('lenient', { truth: 'favourable' }) })"
    const noKey = "prebuilt.createAnswerRelevancyScorer({ model: 'openai/gpt-5-mini' })"
    const half =
      "prebuilt.createScorer({ id: 'half', description: 'x' }).generateScore(({ agentRun }) => { if (agentRun.agent.name === 'weather-agent') throw new Error('no'); return 1 })"
    const path = config('gates', [broken, judge, noKey, half].join(', '))
    const gates = ['broken=0', 'prompt_alignment=0', 'answer_relevancy=0', 'half=0'].flatMap((gate) => [
      '--fail-under',
      gate,
    ])
    const { code, stdout, stderr } = await run([
      'score',
      '--json',
      traces,
      '--config',
      path,
      '--judge-limit',
      '2',
      ...gates,
    ])
    expect(code).toBe(1)
    const read: Report = JSON.parse(stdout)
    expect(read.gates.map(({ passed }) => passed)).toEqual([false, false, false, false])
    expect(stderr).toMatch(/broken: nothing was scored \(scorer-threw \d+\)/)
    expect(stderr).toMatch(/prompt_alignment: scores are missing \(refused \d+\)/)
    expect(stderr).toMatch(/answer_relevancy: nothing was scored \(judge-unavailable \d+\)/)
    expect(stderr).toMatch(/half: scores are missing \(scorer-threw \d+\)/)
    expect(
      read.evaluations.filter(({ scorer, status }) => scorer === 'prompt_alignment' && status === 'scored'),
    ).toHaveLength(2)
    const none = await run([
      'score',
      traces,
      '--config',
      standard,
      '--where',
      'agent=nobody',
      '--fail-under',
      'tool_call_accuracy=0',
    ])
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/no run of agent "nobody"; agents in the files: "/),
    })
  })

  it('shows judges only what redact leaves, and counts what they used', async () => {
    const judged =
      "prebuilt.createPromptAlignmentScorerLLM({ model: createFakeJudge('lenient', { truth: 'favourable' }) })"
    const calls = 'onJudgeCall: (call) => { globalThis.prompts = [...(globalThis.prompts ?? []), call.prompt.user] }'
    const redact = "redact: (run) => JSON.parse(JSON.stringify(run).replaceAll('Tokyo', 'CITY'))"
    const { code, stdout } = await run(['score', traces, '--config', config('redact', judged, `, ${redact}, ${calls}`)])
    expect(code).toBe(0)
    const { prompts } = globalThis as unknown as { prompts: readonly string[] }
    expect(prompts.join('\n')).toContain('CITY')
    expect(prompts.join('\n')).not.toContain('Tokyo')
    expect(stdout).toContain(`Judges: ${prompts.length} calls`)
    const throwing = await report(
      traces,
      '--config',
      config('throwing', judged, ", redact: () => { throw new Error('no') }"),
    )
    expect(new Set(throwing.evaluations.map(({ reason }) => reason))).toEqual(new Set(['redact-failed']))
  })

  it('exits 2 if no run is of the agents that scorers are for, and names those that are there', async () => {
    const misspelt = config('misspelt', `{ scorer: ${toolErrors}, agent: 'wether-agent' }`)
    const { code, stdout } = await run(['score', traces, '--config', misspelt])
    const named = /^No agent named wether-agent was among \d+ runs; seen: .*weather-agent.*\.\n$/
    expect([code, stdout]).toEqual([2, expect.stringMatching(named)])
    const never = config('never', `{ scorer: ${toolErrors}, when: () => false }`)
    const none = await run(['score', traces, '--config', never])
    expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('no scorer is for any of ')])
  })

  it('says of judges that did not answer that they reported no tokens', async () => {
    await using server = await createScriptedOpenAIServer(() => ({ status: 401 }))
    const model = `{ id: 'openai/gpt-5-mini', url: '${server.url}', apiKey: 'k' }`
    const path = config('unreachable', `prebuilt.createAnswerRelevancyScorer({ model: ${model} })`)
    const { stdout } = await run(['score', asked(['Oslo', 1]), '--config', path])
    expect(stdout).toMatch(/ Judges: 1 call; they reported no tokens\.\n/)
  })

  it('compares with a baseline, by run or otherwise by agent and input', async () => {
    const before = file('before.json', (await run(['score', '--json', traces, '--config', standard])).stdout)
    const [same, errors] = (await report(traces, '--config', standard, '--baseline', before)).baseline ?? []
    const count = weatherRuns.length
    expect(same).toMatchObject({
      scorer: 'tool_call_accuracy',
      difference: { pairs: count, mean: 0 },
      scorerChanged: false,
      newFailures: 0,
      fixed: 0,
      unscored: 0,
      onlyNow: 0,
      onlyBefore: 0,
    })
    expect(errors).toMatchObject({ scorer: 'tool_errors', difference: { pairs: count, mean: 0 } })
    // The next release has other trace ids, lacks the first run, and expects another tool.
    const next = file('next.jsonl', inOtherTraces(lines.slice(1)))
    const stricter = config('stricter', "prebuilt.createToolCallAccuracyScorerCode({ expectedTool: 'auth-tool' })")
    const [changed] = (await report(next, '--config', stricter, '--baseline', before)).baseline ?? []
    expect(changed).toMatchObject({
      scorer: 'tool_call_accuracy',
      scorerChanged: true,
      questions: 3,
      newFailures: 2,
      fixed: 1,
      onlyNow: 0,
      onlyBefore: 0,
    })
    const { stdout } = await run(['score', next, '--config', stricter, '--baseline', before])
    expect(stdout).toContain('Compared with the baseline')
    expect(stdout).toMatch(/tool_call_accuracy {2}-0\.\d+ \(95 %: -\d/)
    expect(stdout).toContain('The scorer has changed since')
    const fewer = file('fewer.jsonl', inOtherTraces(lines.slice(2)))
    const { stdout: fewerSaid } = await run(['score', fewer, '--config', standard, '--baseline', before])
    const gate = await run(['score', fewer, '--config', standard, '--baseline', before, '--fail-on', 'new-failures'])
    expect(gate.stdout).toContain('of 2 questions, none is newly failing; 1 more of the baseline was not asked\n')
    expect(fewerSaid.replaceAll(/\s+/g, ' ')).toContain(
      'of 2 questions, 0 newly failing and 0 fixed; questions that passed every try: 50 % (2 tries), before 50 % (2 tries); 1 only in the baseline',
    )
  })

  it('shows what newly fails first, with question, old and new score, and reason', async () => {
    const before = file('asked.json', (await run(['score', '--json', asked(['Oslo', 1]), '--config', standard])).stdout)
    const next = asked(['Oslo', 0], ['Rome', 0])
    const [markdown, junit] = [join(directory, 'new', 'new.md'), join(directory, 'new', 'new.xml')]
    const more = ['--fail-on', 'new-failures', '--markdown', markdown, '--junit', junit, '--junit-failures']
    const { code, stdout } = await run(['score', next, '--config', standard, '--baseline', before, ...more])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^Newly failing\n {2}tool_call_accuracy {2}1 → 0\n {4}What is the weather in Oslo\?\n {4}Not as expected: wanted weather-tool; called: other-tool\.[^]*?\n {4}weather-agent, [0-9a-f]{32}:[0-9a-f]{16}\n\n {2}scorer/,
    )
    expect(stdout).toContain('of 1 question, 1 newly failing and 0 fixed; 1 only in these files')
    expect(stdout).toContain('\n✗ tool_call_accuracy: of 1 question, 1 is newly failing\n')
    expect(stdout).toContain('\n✓ tool_errors: of 1 question, none is newly failing\n')
    expect(readFileSync(markdown, 'utf8')).toContain(
      '#### Newly failing\n\n**`weather-agent`, `tool_call_accuracy`**: 1 → 0\n\n```text\nWhat is the weather in Oslo?\nNot as expected',
    )
    expect(readFileSync(junit, 'utf8')).toContain('<testsuite name="scores" tests="2" failures="1" skipped="0">')
    expect(readFileSync(junit, 'utf8')).toContain(
      '<failure message="newly failing: What is the weather in Oslo? 1 → 0; 2 of 2 runs did not pass">newly failing: 1 → 0\nWhat is the weather in Oslo?\nNot as expected',
    )
    const strip = config('strip', weatherTool, ', stripContent: true')
    expect((await run(['score', next, '--config', strip, '--baseline', before])).stdout).not.toContain('in Oslo')

    // What failed before is no failed case of the JUnit report.
    const old = file('old.json', (await run(['score', '--json', next, '--config', standard])).stdout)
    await run(['score', next, '--config', standard, '--baseline', old, '--junit', junit, '--junit-failures'])
    expect(readFileSync(junit, 'utf8')).toContain('<testsuite name="scores" tests="2" failures="0" skipped="0">')
  })

  it('joins the tries of a question, which newly fails if its pass rate surely fell', async () => {
    const before = file(
      'tries.json',
      (await run(['score', '--json', asked(['Oslo', 10, 10], ['Rome', 9, 10]), '--config', standard])).stdout,
    )
    const since = async (next: string, ...more: string[]) =>
      run(['score', next, '--config', standard, '--baseline', before, '--fail-on', 'new-failures', ...more])
    const chance = await since(asked(['Oslo', 5, 10], ['Rome', 8, 10]))
    expect(chance.code).toBe(0)
    expect(chance.stdout).toContain('questions that passed every try: 0 % (10 tries), before 50 % (10 tries)')
    const fallen = asked(['Oslo', 4, 10], ['Rome', 9, 10])
    const sure = await since(fallen)
    expect(sure.code).toBe(1)
    expect(sure.stdout).toContain('  tool_call_accuracy  10 of 10 → 4 of 10 passed (mean 1 → 0.4)\n')
    expect(sure.stdout).toContain('✗ tool_call_accuracy: of 2 questions, 1 is newly failing\n')
    const allowed = await since(fallen, '--allow', '1')
    expect(allowed.code).toBe(0)
    expect(allowed.stdout).toContain('✓ tool_call_accuracy: of 2 questions, 1 is newly failing (--allow 1)\n')
    const both = await since(asked(['Oslo', 0, 10], ['Rome', 1, 10]), '--allow', '1')
    expect([both.code, both.stdout]).toEqual([1, expect.stringContaining('2 are newly failing (--allow 1)')])
    expect(both.stdout.indexOf('in Oslo?')).toBeLessThan(both.stdout.indexOf('in Rome?'))
  })

  it('takes a run that failed as a try that did not pass', async () => {
    const present = config('present', 'prebuilt.createAnswerPresentScorer()')
    const failed = file(
      'failed.jsonl',
      JSON.stringify(loadLibrary('ai-6.0.326').find(({ id }) => id === '11a-http-500.generateText')!.traces),
    )
    const json = (await run(['score', '--json', failed, '--config', present])).stdout
    const [line] = JSON.parse(json).evaluations
    expect(line).toMatchObject({ status: 'skipped', reason: 'run-failed' })
    const passed = { ...line, status: 'scored', value: 1, label: 'pass' }
    const before = file('passed.json', `${JSON.stringify(passed)}\n${JSON.stringify({ ...passed, runId: '0:0' })}`)
    const junit = join(directory, 'failed.xml')
    const markdown = join(directory, 'failed.md')
    const reports = ['--junit', junit, '--junit-failures', '--markdown', markdown]
    const gates = ['--fail-on', 'new-failures', '--fail-on', 'drop']
    const gate = await run(['score', failed, '--config', present, '--baseline', before, ...gates])
    expect([gate.code, gate.stdout]).toEqual([
      1,
      expect.stringContaining(
        '\n✗ answer_present: of 1 question, 1 is newly failing: nothing was scored (run-failed 1)\n' +
          '✗ answer_present: no run has a score both now and in the baseline: nothing was scored (run-failed 1)\n',
      ),
    ])
    const { stdout } = await run(['score', failed, '--config', present, '--baseline', before, ...reports])
    expect(readFileSync(markdown, 'utf8')).toMatch(
      /\n\| .* \| `answer_present` \| .* \| 0 \| .* \| 1 \(run-failed\) \|\n/,
    )
    expect(stdout).toMatch(/^Newly failing\n {2}answer_present {2}2 of 2 → 0 of 1 passed \(mean 1 → no score\)\n/)
    const [, message, text] = /<failure message="(.*?)">([^]*?)<\/failure>/.exec(readFileSync(junit, 'utf8')) ?? []
    const [question, change] = ['What is the weather in Tokyo right now?', '2 of 2 → 0 of 1 passed (mean 1 → no score)']
    expect(message).toBe(`newly failing: ${question} ${change}`)
    expect(text).toContain(`newly failing: ${change}\n${question}\n${line.message}\nrun ${line.runId}\n`)
  })

  it('says which scores a baseline lacks, when it is written and when it is compared', async () => {
    const runs = asked(['Oslo', 1], ['Rome', 1], ['Paris', 1])
    const judged = config(
      'incomplete',
      "prebuilt.createPromptAlignmentScorerLLM({ model: createFakeJudge('lenient', { truth: 'favourable' }) })",
    )
    const written = await run(['score', runs, '--config', judged, '--json', '--judge-limit', '2'])
    expect([written.code, written.stderr]).toEqual([
      0,
      expect.stringContaining(
        'prompt_alignment: scores are missing (refused 1), so as a baseline this report does not guard their questions: ' +
          'The number of judge scores that --judge-limit allows is used up',
      ),
    ])
    const gates = ['--fail-on', 'new-failures', '--fail-on', 'drop']
    const args = ['score', runs, '--config', judged, ...gates, '--baseline']
    const { code, stdout } = await run([...args, file('incomplete.json', written.stdout)])
    const lack = String.raw`; no score in the baseline guards 1 question: "What is the weather in \w+( right now)?\?"`
    expect([code, stdout.replaceAll(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`– prompt_alignment: of 2 questions, none is newly failing${lack} – .* not surely worse${lack}`),
      ),
    ])
  })

  it('reads a baseline that was formatted anew, and names a scorer that only the baseline has', async () => {
    const runs = asked(['Oslo', 1])
    const { stdout } = await run(['score', runs, '--config', standard, '--json'])
    const formatted = file('formatted.json', JSON.stringify(JSON.parse(stdout), undefined, 2))
    const fewer = config('fewer', toolErrors)
    const args = ['score', runs, '--config', fewer, '--baseline', formatted, '--fail-on', 'new-failures']
    const summary = join(directory, 'fewer.md')
    const gate = await run([...args, '--markdown', summary])
    expect([gate.code, gate.stdout]).toEqual([0, expect.stringContaining('✓ tool_errors: of 1 question, none')])
    const removed = 'tool_call_accuracy is in the baseline and not in the configuration: nothing compares its scores.'
    expect(gate.stdout.replaceAll(/\s+/g, ' ')).toContain(removed)
    expect(readFileSync(summary, 'utf8').replaceAll('\\', '')).toContain(`- ⚠️ ${removed}`)
  })

  it('fails on new failures and on a sure drop since the baseline, of all scorers or of one', async () => {
    /** Each run eight times, under trace ids of its own, as a release of the application would write them. */
    const release = (name: string, texts: readonly string[]) => {
      const copies = Array.from({ length: 8 }, (_, copy) =>
        texts.map((line) => line.replaceAll(/"traceId":"[0-9a-f]{8}/g, `"traceId":"${copy}${name}`)),
      )
      return file(`${name}.jsonl`, copies.flat().join('\n'))
    }
    const good = release('000900d', lines)
    const before = file('good.json', (await run(['score', '--json', good, '--config', standard])).stdout)
    const since = async (next: string, scorers: string, ...failOn: string[]) => {
      const gates = failOn.flatMap((what) => ['--fail-on', what])
      const { code, stdout } = await run(['score', next, '--config', scorers, '--baseline', before, ...gates])
      return [code, stdout.split('\n\n').at(-1)?.trimEnd().split('\n').slice(1).join('\n')] as const
    }
    const [same, said] = await since(good, standard, 'new-failures', 'drop=tool_errors')
    expect(same).toBe(0)
    expect(said).toContain('tool_call_accuracy: of ')
    expect(said).toMatch(/✓ tool_errors: the mean of \d+ pairs of runs changed by 0 .* not surely worse$/)

    const worse = lines.map((line) => line.replaceAll('weather-tool', 'other-tool'))
    const all = release('0000bad', worse)
    const [dropped, why] = await since(all, standard, 'drop=tool_call_accuracy')
    expect(dropped).toBe(1)
    expect(why).toMatch(
      /^✗ tool_call_accuracy: the mean of \d+ pairs .* \(95 %: -[\d.]+ to -[\d.]+\), which is surely worse$/,
    )

    // One try more fails, which may be chance.
    const one = file(
      'one.jsonl',
      readFileSync(good, 'utf8').replace(/.*weather-tool.*/, (line) => line.replaceAll('weather-tool', 'other-tool')),
    )
    expect((await since(one, standard, 'drop'))[0]).toBe(0)
    expect((await since(one, standard, 'new-failures'))[0]).toBe(0)
    expect(await since(all, standard, 'new-failures=tool_call_accuracy')).toEqual([
      1,
      '✗ tool_call_accuracy: of 3 questions, 2 are newly failing',
    ])

    const other = config('other', "prebuilt.createToolCallAccuracyScorerCode({ expectedTool: 'auth-tool' })")
    expect(await since(good, other, 'drop')).toEqual([
      1,
      '✗ tool_call_accuracy: the scorer is not the one of the baseline: write a new baseline',
    ])
    const unknown = config('unknown', 'prebuilt.createAnswerPresentScorer()')
    expect(await since(good, unknown, 'drop')).toEqual([1, '✗ no configured scorer is in the baseline'])
    const xml = join(directory, 'baseline.xml')
    await run(['score', all, '--config', standard, '--baseline', before, '--fail-on', 'drop', '--junit', xml])
    expect(readFileSync(xml, 'utf8')).toContain('name="tool_call_accuracy --fail-on drop"><failure message=')
  })

  it('writes a JUnit report with a case for each gate and for each agent and scorer', async () => {
    const junit = join(directory, 'junit.xml')
    const named = file(
      'named.jsonl',
      lines.join('\n').replaceAll('weather-agent', String.raw`<"we&ather">`.replaceAll('"', String.raw`\"`)),
    )
    const { code } = await run([
      'score',
      named,
      '--config',
      standard,
      '--junit',
      junit,
      '--fail-under',
      'tool_call_accuracy=1',
    ])
    expect(code).toBe(1)
    const xml = readFileSync(junit, 'utf8')
    expect(xml).toContain('<testsuites name="spanscore" tests="7" failures="1" skipped="0">')
    expect(xml).toContain(
      '<testcase classname="spanscore.gates" name="tool_call_accuracy --fail-under 1"><failure message=',
    )
    expect(xml).toContain('classname="spanscore.&lt;&quot;we&amp;ather&quot;&gt;"')
    expect(xml.match(/<testcase /g)).toHaveLength(7)

    await run(['score', traces, '--config', standard, '--junit', junit, '--junit-failures'])
    const failing = readFileSync(junit, 'utf8')
    expect(failing).toContain('<testsuite name="scores" tests="6" failures="1" skipped="0">')
    expect(failing).toMatch(
      /name="tool_call_accuracy"><failure message="2 of 2 runs did not pass">mean 0 [^]*Not as expected/,
    )
  })

  it('exits 2 with one line for wrong usage', async () => {
    const missing = join(directory, 'none.ts')
    const cases: readonly [readonly string[], string | RegExp][] = [
      [
        ['--config', missing],
        `--config: expected the path of a configuration file, got ${missing}, which does not exist`,
      ],
      [['--config', file('bad.config.ts', 'export default { scorer: [] }')], /options/],
      [
        ['--config', standard, '--fail-under', 'x=1'],
        '--fail-under: expected one of the configured scorers (tool_call_accuracy, tool_errors), got x',
      ],
      [
        ['--config', standard, '--fail-under', 'tool_errors'],
        '--fail-under: expected a scorer and a number, such as tool_call_accuracy=0.8, got tool_errors',
      ],
      [
        ['--config', standard, '--fail-under', 'tool_errors=0.5'],
        '--fail-under: for tool_errors, lower is better; use --fail-over tool_errors=0.5',
      ],
      [
        ['--config', standard, '--fail-under', 'tool_call_accuracy=7'],
        '--fail-under: expected a number from 0 to 1, the range of tool_call_accuracy, got 7',
      ],
      [['--config', standard, '--where', 'model=x'], '--where: expected agent=NAME or trace=ID, got model=x'],
      [
        ['--config', standard, '--baseline', traces],
        `--baseline: expected a report as spanscore score --json writes it, got no evaluation in ${traces}`,
      ],
      [['--config', standard, '--fail-on', 'drop'], '--fail-on: expected a --baseline to compare with, got none'],
      [
        ['--config', standard, '--fail-on', 'drops'],
        '--fail-on: expected new-failures or drop, for one scorer as drop=tool_call_accuracy, got drops',
      ],
      [
        ['--config', standard, '--fail-on', 'drop=x'],
        '--fail-on: expected one of the configured scorers (tool_call_accuracy, tool_errors), got x',
      ],
      [['--config', standard, '--out', traces], `--out: expected a file other than the inputs, got ${traces}`],
      [
        ['--config', standard, '--lower'],
        '--lower: expected a gate, --fail-under or --fail-over, whose number it changes; got none',
      ],
      [['--config', standard, '--judge-limit', 'many'], /judge-limit.*Expected a whole number, 0 or more/],
      [['--config', standard, '--out', join(traces, 'such.jsonl')], /^--out: cannot write .*(ENOTDIR|EEXIST)/],
      [['--config', standard, '--allow', '1'], '--allow: expected --fail-on new-failures, which it changes; got none'],
      [
        ['--config', standard, '--fail-on', 'unchecked-cases'],
        '--fail-on unchecked-cases: expected --cases with the file of cases, got none',
      ],
    ]
    for (const [argv, message] of cases) {
      const { code, stdout, stderr } = await run(['score', traces, ...argv])
      expect({ argv, code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({
        argv,
        code: 2,
        stdout: '',
        lines: 1,
      })
      const shown = stderr.replace('spanscore: ', '').trimEnd()
      const matches = typeof message === 'string' ? shown === message : message.test(shown)
      expect({ shown, matches }).toEqual({ shown, matches: true })
    }
    expect(await run(['score', file('empty.json', ''), '--config', standard])).toMatchObject({ code: 2 })
  })
})
