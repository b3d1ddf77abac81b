import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createScriptedOpenAIServer } from 'spanscore/testing'
import { describe, expect, test } from 'vitest'

const CLI = resolve('cli/dist/main.js')
const REGISTER = pathToFileURL(resolve('dist/entries/register.js')).href
const app = (name: string) => join(import.meta.dirname, 'app', `${name}.mjs`)

interface Examined {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

/** Runs `spanscore doctor`; `endsAt` ends it, as Ctrl-C does, when this is printed. */
async function doctor(
  words: readonly string[],
  { env = {}, cwd = process.cwd(), endsAt }: { env?: Record<string, string>; cwd?: string; endsAt?: string } = {},
): Promise<Examined> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [CLI, 'doctor', ...words], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, NO_COLOR: '1', ...env },
  })
  let [out, error] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
    if (endsAt !== undefined && out.includes(endsAt)) child.kill('SIGTERM')
  })
  child.stderr.on('data', (chunk) => (error += chunk))
  const [code] = await once(child, 'close')
  return { code, out, error }
}

const run = (name: string, ...flags: string[]) => ['--', process.execPath, ...flags, app(name)]

describe('spanscore doctor -- node app.mjs', { timeout: 90_000 }, () => {
  test('finds nothing wrong with NodeSDK and attachScoring, asks no judge, and lets the application run on', async () => {
    await using server = await createScriptedOpenAIServer([{ text: 'Yes.' }])
    const { code, out, error } = await doctor(run('node-sdk'), { env: { JUDGE_URL: new URL(server.url).origin } })
    expect(out + error).toMatch(/✓ Node\.js v/)
    expect(out).toMatch(/✓ OpenTelemetry: @opentelemetry\/api 1\.\d+\.\d+, .*@opentelemetry\/sdk-node \d/)
    expect(out).toMatch(
      /✓ Tracer provider: \w*TracerProvider with ScoringSpanProcessor, BatchSpanProcessor → OTLPTraceExporter/,
    )
    expect(out).toMatch(/✓ Meter provider: MeterProvider/)
    expect(out).toMatch(/✓ Logger provider: LoggerProvider/)
    expect(out).toContain('✓ Scorers: answered, rubric (0 %).')
    expect(out).toContain('✓ Judge local/judge (rubric): its package and key were found.')
    expect(out).toContain('✓ Instrumentation: gen-ai (agents), agent greeter, without a conversation id, content full.')
    expect(out).toContain('✓ Scores: 1 so far.')
    expect(out).toContain('All is well.')
    expect(code).toBe(0)
    expect(out.indexOf('the application runs')).toBeLessThan(out.indexOf('spanscore doctor'))
    expect(out + error).not.toMatch(/nobody-may-see/)
    expect(server.requests).toHaveLength(0)
  })

  test('asks each judge once if allowed, and prints no key', async () => {
    await using server = await createScriptedOpenAIServer([{ text: 'Yes.' }, { text: 'Yes.' }, { text: 'Yes.' }])
    const origin = new URL(server.url).origin
    const { out, error } = await doctor(['--ask', ...run('node-sdk')], { env: { JUDGE_URL: origin } })
    expect(out + error).toContain('Judge local/judge (rubric) was asked once')
    expect(server.requests).toHaveLength(1)
    expect(out + error).not.toMatch(/nobody-may-see/)
  })

  test('asks the judges of a script that ends at once, and says that it could not if the script exits', async () => {
    await using server = await createScriptedOpenAIServer([{ text: 'Yes.' }])
    const env = { JUDGE_URL: new URL(server.url).origin }
    expect((await doctor(['--ask', ...run('node-sdk'), 'end'], { env })).out).toMatch(
      /✓ Judge local\/judge \(rubric\) was asked once, and answered/,
    )
    const exited = await doctor(['--ask', ...run('node-sdk'), 'exit'], { env })
    expect(exited.out).toMatch(
      /✗ Judges: none was asked, because the application ended first\.\n {2}.*process\.exit\(\)/,
    )
    expect(server.requests).toHaveLength(1)
  })

  test.each<[name: string, flags: readonly string[], lines: readonly RegExp[]]>([
    [
      'tracer-provider',
      [],
      [
        /✓ Tracer provider: TracerProvider with SimpleSpanProcessor → InMemorySpanExporter\./,
        /✗ Meter provider: none is registered\.\n {2}\S/,
        /✗ Scoring: .*\n {2}Call attachScoring after the SDK has started/,
        /✗ Instrumentation: gen-ai \(agents\), agent .*, content none\.\n {2}docs\/reference\/libraries\.md names/,
      ],
    ],
    [
      'misspelt-agent',
      [],
      [
        /✗ No agent named wether-agent was among 1 run; seen: weather-agent\.\n {2}Scorer tool_call_accuracy scores none/,
        /✗ Instrumentation: .* content partial \(without .*toolCalls.*\)\.\n {2}There is no span of a model call/,
      ],
    ],
    [
      'other-agent',
      [],
      [
        /✗ No agent named billing was among 1 run; seen: weather-agent\.\n {2}.*run that agent, or correct its agent\./,
        /✗ Notice SPANSCORE_UNFINISHED: The process exited with 1 span not exported/,
      ],
    ],
    [
      'search-outside',
      [],
      [
        /✗ Retrieval: a search outside of the agent's span belongs to no run, .*\n {2}Search below the agent's span\. In LangChain/,
      ],
    ],
    ['late-attach', [], [/✗ Scoring: it was attached after the run had begun\.\n {2}Call attachScoring right after/]],
    [
      'unnamed-agent',
      [],
      [
        /✗ A run has an agent without a name, and scorer tool_call_accuracy is for weather-agent\.\n {2}Record a name \(functionId/,
      ],
    ],
    [
      'never-registered',
      [],
      [
        /✗ Tracer provider: none is registered\.\n {2}The SDK is loaded: start it with sdk\.start\(\)/,
        /✗ Notice SPANSCORE_TOO_EARLY: Nothing is scored/,
        /✗ Runs: no span was recorded before the process ended\.\n {2}Run an agent\./,
      ],
    ],
    [
      'tracer-provider',
      [`--import=${REGISTER}`],
      [/✗ Notice SPANSCORE_CONFIG: .*Expected one of spanscore\.config\.ts/, /✗ Scoring: /],
    ],
  ])('says of %s with %j what is wrong, and what to do', async (name, flags, lines) => {
    const { code, out, error } = await doctor(run(name, ...flags))
    expect({ code, error }).toMatchObject({ code: 1 })
    for (const line of lines) expect(out).toMatch(line)
    expect(out.match(/^✗ .*\n(?! {2}\S)/gm)).toBeNull()
  })

  test('names an application that crashes, and blames nothing else', async () => {
    const { code, out } = await doctor(['--', process.execPath, '--eval', "throw new Error('boom')"])
    expect(out).toMatch(/✗ Application: it ended with exit code 1 before its first agent run\.\n {2}\S/)
    expect(out).toContain('1 of 2 lines')
    expect(code).toBe(1)
  })

  test('says why a server that calls a model has no run, when the waiting time is over', async () => {
    await using server = await createScriptedOpenAIServer(['Hello.'])
    const { out } = await doctor(['--wait', '3', ...run('silent-model')], { env: { MODEL_URL: server.url } })
    expect(out).toMatch(
      /✗ Runs: no span was recorded within the waiting time\.\n {2}ai called a model .* registerTelemetry/,
    )
  })

  test('blames neither scoring nor instrumentations if an option is wrong', async () => {
    const { out, error } = await doctor(run('wrong-option'))
    expect(error).toContain('options.sampel: expected sample, got an unknown option')
    expect(out).toMatch(/✗ Application: it ended with exit code 1 before its first agent run\./)
    expect(out).not.toMatch(/✗ (?:Scoring|Runs)/)
  })

  test('names the variable that leaves the SDK without a tracer provider', async () => {
    const { out } = await doctor(['--wait', '1', ...run('node-sdk')], {
      env: { OTEL_TRACES_EXPORTER: 'none', OTEL_SDK_DISABLED: 'true', JUDGE_URL: 'http://127.0.0.1:1' },
    })
    expect(out).toMatch(/✗ Tracer provider: none is registered, because of OTEL_SDK_DISABLED=true\./)
  })

  test('says that scoring that was created too early saw no runs, and why others have no score', async () => {
    const { out } = await doctor(run('too-early'), { env: { OTEL_METRICS_EXPORTER: 'none' } })
    expect(out).toContain('✓ Meter provider: none, because of OTEL_METRICS_EXPORTER=none. There are no metrics.')
    expect(out).toMatch(
      /✗ Scoring: it is not attached to this tracer provider, and saw no run\.\n {2}Call attachScoring/,
    )
    const failed = await doctor(run('failed-score'))
    expect(failed.out).toMatch(
      /✗ Scores: 1 so far, and 1 failed\.\n {2}broken: scorer-threw\. docs\/reference\/reasons\.md/,
    )
    expect(failed.out).toMatch(/content none\.\n {2}Set .*recordInputs: true.*\. Set .*recordOutputs: true/)
    const thinned = await doctor(run('small-budget'))
    expect(thinned.out).toMatch(/✗ Scores: \d+ so far, and \d+ were left out to keep the budget\.\n {2}Raise budget/)
    const refused = await doctor(run('failing-judge'))
    expect(refused.out).toMatch(
      /✗ Scores: none so far\.\n {2}rubric: judge-auth\. .* spanscore doctor --ask shows what a judge says\./,
    )
    const skipped = await doctor(run('no-score'))
    expect(skipped.out).toMatch(/✗ Scores: none so far\.\n {2}loop: no-content\. docs\/reference\/reasons\.md/)
  })

  test('reports at the timeout if no agent runs, and forwards the signal that ends the application', async () => {
    const { code, out } = await doctor(['--wait', '2', ...run('no-agents')], { endsAt: 'Ctrl-C' })
    expect(out).toMatch(/need attention\.\nThe application still runs: Ctrl-C ends it\.\n/)
    expect(out).toMatch(/✗ Runs: 1 span and no agent run within the waiting time\.\n {2}Add an instrumentation/)
    expect(code).toBe(1)
  })

  test('names what failed before the first model call', async () => {
    const { out } = await doctor(run('fails-early'))
    expect(out).toMatch(/✗ Runs: 1 span and no agent run before the process ended\.\n/)
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      '1 is from gen-ai, and no agent or model call is among them; embeddings failed: connection refused; what fails',
    )
  })

  test('reports that no Node.js process reported, or that the command cannot be started', async () => {
    const silent = await doctor(['--', 'true'])
    expect(silent.out).toMatch(/✗ No Node\.js process of the command reported\.\n {2}\S/)
    expect(silent.code).toBe(1)
    const missing = await doctor(['--', 'no-such-program'])
    expect(missing.error).toMatch(/^spanscore: cannot start no-such-program: /)
    expect(missing.code).toBe(2)
    expect((await doctor(['--wait', 'long', '--', 'true'])).error).toMatch(/--wait: expected seconds/)
  })
})

/** Runs `spanscore doctor` in a folder with this configuration file. */
async function check(
  text: string | undefined,
  env: Record<string, string> = {},
  words: readonly string[] = [],
): Promise<Examined> {
  const cwd = mkdtempSync(join(tmpdir(), 'spanscore-doctor-test-'))
  if (text !== undefined) writeFileSync(join(cwd, 'spanscore.config.mjs'), text)
  const examined = await doctor(words, { cwd, env })
  rmSync(cwd, { recursive: true })
  return examined
}

describe('spanscore doctor without a command', { timeout: 60_000 }, () => {
  test('checks the files, and says what it cannot see', async () => {
    const entry = pathToFileURL(resolve('dist/entries/main.js')).href
    const config = `import { createRubricScorer } from '${entry}'
export default {
  scorers: [createRubricScorer({ model: 'openai/gpt-5-mini', criteria: [{ id: 'a', question: 'Is it?' }] })],
  budget: { callsPerMinute: 5 },
}`
    const { code, out } = await check(config, { SPANSCORE_SAMPEL: '1' })
    expect(code).toBe(1)
    expect(out).toContain('✓ Configuration file: it loads, and its options are valid.')
    expect(out).toMatch(/✗ rubric cannot ask its judge openai\/gpt-5-mini\.\n {2}.*OPENAI_API_KEY/)
    expect(out).toContain('✓ Budget of judges: 5 calls a minute, 10 USD a day.')
    expect(out).toContain('✗ Environment: SPANSCORE_SAMPEL: expected SPANSCORE_SAMPLE')
    expect(out).toMatch(/✗ Package @opentelemetry\/api is not installed\.\n {2}npm install @opentelemetry\/api/)
    expect(out).toContain('Only a running application shows the tracer provider')
  })

  test('says who scores conversations', async () => {
    const entry = pathToFileURL(resolve('dist/entries/main.js')).href
    const { out } = await check(
      `import { createAbandonedScorer, createToolErrorsScorer } from '${entry}'
export default { scorers: [createAbandonedScorer(), createToolErrorsScorer()] }`,
    )
    expect(out).toContain('✓ Scorers: abandoned (level conversation), tool_errors.')
    expect(out).toMatch(/✓ Conversations: abandoned work in the service .* spanscore\/register refuse them\./)
  })

  test('takes the configuration from --config', async () => {
    const { out } = await check('export default { scorers: [], sampel: 1 }', {}, ['--config', 'spanscore.config.mjs'])
    expect(out).toMatch(/✗ Configuration file: .*\n {2}.*Did you mean sample\?/)
    const missing = await check(undefined, {}, ['--config', 'missing.mjs'])
    expect(missing.error).toMatch(/--config: expected the path of a configuration file, got missing\.mjs/)
    expect(missing.code).toBe(2)
  })

  test('names the reason why a judge cannot answer', async () => {
    await using server = await createScriptedOpenAIServer([{ status: 401 }])
    const entry = pathToFileURL(resolve('dist/entries/main.js')).href
    const { out } = await check(
      `import { createRubricScorer } from '${entry}'
const model = { id: 'local/judge', url: '${server.url}', apiKey: 'nobody-may-see' }
export default { scorers: [createRubricScorer({ model, criteria: [{ id: 'a', question: 'Is it?' }] })] }`,
      {},
      ['--ask'],
    )
    expect(out).toMatch(/✗ Judge local\/judge \(rubric\) was asked once, and gave no answer\.\n {2}.*answered 401/)
    expect(out).not.toContain('nobody-may-see')
  })

  test.each([
    [
      undefined,
      /✓ Configuration file: none here\. Only spanscore\/register and the commands score and canary need one\./,
    ],
    ['export default {\n  scorers: [}\n', /✗ Configuration file: .*\n {2}.*SyntaxError: .* \(line 2\)/],
    ['export default { scorers: [], sampel: 1 }', /✗ Configuration file: .*\n {2}.*Did you mean sample\?/],
  ])('says what is wrong with %j', async (text, line) => {
    const { code, out } = await check(text)
    expect(out).toMatch(line)
    expect(code).toBe(1)
  })
})
