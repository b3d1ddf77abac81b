import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const APP = join(import.meta.dirname, 'app.ts')
const REGISTER = pathToFileURL(join(import.meta.dirname, '../../dist/entries/register.js')).href

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-notices-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

interface Printed {
  readonly code: number | string | undefined
  readonly out: string
  readonly error: string
  /** The codes of the warnings of the process, in their order. */
  readonly codes: readonly string[]
}

/** Runs the application in a process of its own. */
async function play(name: string, environment: Record<string, string> = {}, ...flags: string[]): Promise<Printed> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [...flags, APP, name], { env, cwd: folder, timeout: 60_000 }, (failure, out, error) => {
      const codes = [...error.matchAll(/\[(SPANSCORE_\w+)\] spanscore: /g)].map(([, code = '']) => code)
      resolve({ code: failure?.code ?? undefined, out, error, codes })
    })
  })
}

const preload = [`--import=${REGISTER}`]

describe('Without any configuration, a process is warned', { timeout: 60_000 }, () => {
  test.each<[name: string, code: string, words: RegExp]>([
    ['attached before the SDK is started', 'SPANSCORE_TOO_EARLY', /Call attachScoring after the SDK has started/],
    ['an SDK that is never registered', 'SPANSCORE_NO_PROVIDER', /no tracer provider is registered: start the SDK/],
    [
      'attached where Sentry 11 is loaded',
      'SPANSCORE_TOO_EARLY',
      /Sentry's own tracer has no span processors: with version 11, start an OpenTelemetry SDK such as NodeSDK beside it/,
    ],
    [
      'a provider of Sentry 10',
      'SPANSCORE_NOT_ATTACHED',
      /SentryTracerProvider does not show its span processors\. .*set openTelemetryBasicTracerProvider: true/,
    ],
    [
      'a provider of Datadog',
      'SPANSCORE_NOT_ATTACHED',
      /Datadog's own tracer has no spans .* without DD_TRACE_OTEL_ENABLED, or build a provider .* new OpenTelemetry\(\{ tracer \}\)/,
    ],
    [
      'spans that cannot be read',
      'SPANSCORE_NOT_ATTACHED',
      /Nothing is scored: spans of the tracer provider cannot be read \(no name, attributes, events, status, startTime\)/,
    ],
    [
      'a processor that can neither be flushed nor shut down, with stripContent',
      'SPANSCORE_NOT_ATTACHED',
      /has a span processor without forceFlush or shutdown, from which stripContent cannot take content/,
    ],
    [
      'a sampler of the application that keeps nothing',
      'SPANSCORE_NO_RUNS',
      /A model was called \(127\.0\.0\.1:\d+\) in a trace that the sampler TraceIdRatioBased\{0\} left out.* Raise its rate/,
    ],
    ['a judge of a misspelt provider', 'SPANSCORE_JUDGE', /rubric cannot ask .*"opnai".*mean openai\/gpt-5-mini\?/],
    [
      'a judge whose key is refused',
      'SPANSCORE_JUDGE',
      /rubric gave no score \(judge-auth\)\. The judge .* answered 401 .*Check the API key/,
    ],
    [
      'a judge that answers prose',
      'SPANSCORE_JUDGE',
      /rubric gave no score 5 times in a row \(judge-invalid-reply\): .*cannot be read\. Use a model with structured output/,
    ],
    ['runs without content', 'SPANSCORE_NO_CONTENT', /weather-agent \(gen-ai\) holds no messages.* which answer needs/],
    [
      'runs whose question is switched off',
      'SPANSCORE_NO_CONTENT',
      /holds no input, which answer, asked need\. Set telemetry: \{ recordInputs: true \}/,
    ],
    [
      'a misspelt agent',
      'SPANSCORE_NO_SUCH_AGENT',
      /99 runs\n[^]*No agent named wether-agent was among 100 runs; seen: weather-agent/,
    ],
    [
      'a misspelt agent of a script',
      'SPANSCORE_NO_SUCH_AGENT',
      /No agent named wether-agent was among 1 run; seen: weather-agent/,
    ],
    [
      'a filter where no agent has a name',
      'SPANSCORE_NO_SUCH_AGENT',
      /A run has an agent without a name, and scorer answer is for weather-agent\. Record a name/,
    ],
    [
      'a misspelt attribute of spans written by hand',
      'SPANSCORE_NO_RUNS',
      /expected gen_ai\.operation\.name to be invoke_agent, chat or execute_tool, got gen_ai\.operation_name\. Write/,
    ],
    [
      'a misspelt operation of spans written by hand',
      'SPANSCORE_NO_RUNS',
      /to be invoke_agent, chat or execute_tool, got invoke-agent\. Did you mean invoke_agent\?/,
    ],
    [
      'spans written by hand without an operation',
      'SPANSCORE_NO_RUNS',
      /to be invoke_agent, chat or execute_tool, got gen_ai\.agent\.name without it/,
    ],
    ['model calls without runs', 'SPANSCORE_NO_RUNS', /HTTP calls to api\.openai\.com are among the spans/],
    [
      'a forgotten registerTelemetry',
      'SPANSCORE_NO_RUNS',
      /ai called a model \(127\.0\.0\.1:\d+\), and there is no span of any kind\. The AI SDK writes spans after registerTelemetry/,
    ],
    [
      'a provider of an older API',
      'SPANSCORE_NO_RUNS',
      /registered through @opentelemetry\/api 1\.4\.0, which newer copies ignore, .* `npm ls @opentelemetry\/api` shows them/,
    ],
    [
      'a run after the shutdown',
      'SPANSCORE_SHUT_DOWN',
      /after the SDK had been shut down, so the run is neither scored/,
    ],
    [
      'a registerTelemetry too many',
      'SPANSCORE_TRACED_TWICE',
      /traces each run twice.* registerTelemetry was called twice/,
    ],
    ['attached too early, and then a model is called', 'SPANSCORE_TOO_EARLY', /Call attachScoring after the SDK/],
    [
      'a provider that is not registered',
      'SPANSCORE_NO_RUNS',
      /No tracer provider is registered, so instrumentations find none: .* trace\.setGlobalTracerProvider/,
    ],
    [
      'a sampler that keeps nothing',
      'SPANSCORE_NO_RUNS',
      /no span of any kind\. OTEL_TRACES_SAMPLER=always_off leaves all of them out\. Remove it\./,
    ],
    [
      'model calls with spans of other kinds',
      'SPANSCORE_NO_RUNS',
      /ai called a model .* among the spans is no agent run or model call\. The AI SDK writes spans after registerTelemetry/,
    ],
    ['a scorer that throws', 'SPANSCORE_SCORER', /throwing threw RangeError at .*app\.ts.*\.run\(\) rejects/],
    ['a filter that is async', 'SPANSCORE_SCORER', /expected when to give true or false, got a promise/],
    ['an onScore that throws', 'SPANSCORE_CALLBACK', /onScore threw Error at .*app\.ts/],
    [
      'an exit before a judge has answered',
      'SPANSCORE_UNFINISHED',
      /exited with 1 score pending and 1 span held, which/,
    ],
    [
      'an end without a flush',
      'SPANSCORE_UNFINISHED',
      /exited with 1 span not exported, which are lost\. Call await scoring/,
    ],
    ['more judging than the default budget', 'SPANSCORE_BUDGET', /more than the default budget.*Set budget/],
    [
      'an endpoint that nobody listens at',
      'SPANSCORE_EXPORT_FAILED',
      /could not deliver to its endpoint \(ECONNREFUSED at 127\.0\.0\.1:\d+\)/,
    ],
    ['an endpoint that refuses', 'SPANSCORE_EXPORT_FAILED', /could not deliver to its endpoint \(HTTP 4\d\d\)/],
    ['no exporter', 'SPANSCORE_NO_EXPORT', /No span is exported: .* Set next, or put a processor/],
    [
      'alerts without metrics',
      'SPANSCORE_NO_METRICS',
      /Alerts are set for answer, but no meter provider.* set metricReaders/,
    ],
    [
      'attached twice',
      'SPANSCORE_ATTACHED_TWICE',
      /the same\n[^]*attachScoring was called again .* with other options/,
    ],
  ])('once of %s', async (name, code, words) => {
    const { error, codes, out } = await play(name)
    expect({ codes, error }).toMatchObject({ codes: [code] })
    expect(error).toMatch(words)
    expect(error + out).not.toContain('content-that-nobody-may-see')
  })

  test('of the variable that leaves alerts without metrics', async () => {
    const { error } = await play('alerts without metrics', { OTEL_METRICS_EXPORTER: 'none' })
    expect(error).toContain('Register a meter provider: OTEL_METRICS_EXPORTER=none leaves none.')
  })

  test.each([
    [
      'a model, and no SDK',
      {},
      /spanscore\/register: a model was called \(127\.0\.0\.1:\d+\), and no .*: start the SDK/,
    ],
    ['a model, and no SDK', { OTEL_TRACES_EXPORTER: 'none' }, /registered: OTEL_TRACES_EXPORTER=none leaves none\./],
    ['a model in a process that goes on, and no SDK', {}, /a model was called/],
  ])('of %s, and of the configuration file (%j)', async (name, environment, words) => {
    writeFileSync(join(folder, 'spanscore.config.mjs'), 'export default { scorers: [], agnet: 1 }')
    const { error, codes } = await play(name, environment, ...(name.includes('goes on') ? [] : preload))
    expect(codes).toEqual(['SPANSCORE_NO_PROVIDER', 'SPANSCORE_CONFIG'])
    expect(error).toMatch(words)
    expect(error).toContain('options.agnet')
  })

  test.each(['.mjs', '.ts'])('of the wrong line in its configuration file (%s)', async (extension) => {
    writeFileSync(join(folder, `spanscore.config${extension}`), 'export default {\n  scorers: [}\n')
    const { error, codes, code } = await play('nothing but the SDK', {}, ...preload)
    expect(code).toBeUndefined()
    expect({ codes, error }).toMatchObject({ codes: ['SPANSCORE_CONFIG'] })
    expect(error).toMatch(/got SyntaxError: .* \(line 2\)\. The application runs unscored\./)
  })

  test('of a misspelt option in its configuration file', async () => {
    writeFileSync(join(folder, 'spanscore.config.mjs'), 'export default { scorers: [], sampel: 0.1 }')
    const { error, codes } = await play('nothing but the SDK', {}, ...preload)
    expect({ codes, error }).toMatchObject({ codes: ['SPANSCORE_CONFIG'] })
    expect(error).toMatch(/options\.sampel: .*Did you mean sample\?/)
  })

  test('of ten misspelt variables at most, each with the name that was probably meant', async () => {
    const names = [
      'SAMPEL',
      'SAMPLESALT',
      'MEMORYBYTES',
      'STRIP_CONTENTS',
      'BUDGET_SHARES',
      'BUDGET_USD_PERDAY',
      'UPSTREAM_PROBABILTY',
      'LOGG',
      'CONFG',
      'DISABLE',
    ]
    const variables = Object.fromEntries([...names, 'CONFIGG', 'DISABLEDD'].map((name) => [`SPANSCORE_${name}`, '1']))
    const { error, codes } = await play('nothing but the SDK', variables, ...preload)
    expect({ codes, error }).toMatchObject({ codes: Array.from({ length: 10 }, () => 'SPANSCORE_ENVIRONMENT') })
    expect(error).toContain('SPANSCORE_SAMPEL: expected SPANSCORE_SAMPLE, got an unknown variable; it is ignored.')
  })
})

test('Variables that only register reads are reported by an application that attaches in its code', async () => {
  const { error, codes } = await play('attached', { SPANSCORE_SAMPLE: '0.1', SPANSCORE_SAMPLESALT: 'a' })
  expect(codes).toEqual(['SPANSCORE_ENVIRONMENT', 'SPANSCORE_ENVIRONMENT'])
  expect(error).toContain('SPANSCORE_SAMPLE: only spanscore/register reads it')
  expect(error).toContain('SPANSCORE_SAMPLESALT: expected SPANSCORE_SAMPLE_SALT')
}, 60_000)

describe('A process is not warned', { timeout: 60_000 }, () => {
  test.each<[name: string, environment: Record<string, string>, flags: readonly string[]]>([
    ['spans of embeddings alone', {}, []],
    ['attached', {}, []],
    ['an SDK that is not registered before the process ends', {}, []],
    ['a model, and no SDK', {}, []],
    ['runs without content that nobody needs', {}, []],
    ['a judge that answers prose now and then', {}, []],
    ['model calls with runs', {}, []],
    ['untraced model calls beside a run', {}, []],
    ['an exit after a flush', {}, []],
    ['an end without a flush or a run', {}, []],
    ['one registerTelemetry', {}, []],
    ['an exit before a judge has answered', {}, ['--disable-warning=SPANSCORE_UNFINISHED']],
    ['an exit before a judge has answered', { SPANSCORE_LOG: 'off' }, []],
    ['attached before the SDK is started', { SPANSCORE_LOG: 'off' }, []],
    ['attached before the SDK is started', {}, ['--disable-warning=SPANSCORE_TOO_EARLY']],
  ])('of %s with %j and %j', async (name, environment, flags) => {
    const { code, error } = await play(name, environment, ...flags)
    expect({ code, error }).toEqual({ code: undefined, error: '' })
  })

  test('if it has set a diag logger, which gets everything', async () => {
    writeFileSync(join(folder, 'spanscore.config.mjs'), 'export default { scorers: [], sampel: 0.1 }')
    const { error, out, codes } = await play('nothing but the SDK', { OTEL_LOG_LEVEL: 'error' }, ...preload)
    expect(codes).toEqual([])
    expect(error + out).toMatch(/spanscore .*options\.sampel: .*Did you mean sample\?/)
  })
})

test('A process that exits with an error is not warned of pending scores', { timeout: 60_000 }, async () => {
  expect(await play('a failure with a score pending')).toMatchObject({ code: 1, error: '' })
})

test('SPANSCORE_LOG=info says what scoring was attached to', { timeout: 60_000 }, async () => {
  const { error, codes } = await play('attached', { SPANSCORE_LOG: 'info' })
  expect({ codes, error }).toMatchObject({ codes: ['SPANSCORE_ATTACHED'] })
  expect(error).toMatch(/Attached to TracerProvider, in front of 1 of its processors\. Scorers: .*answer/)
})
