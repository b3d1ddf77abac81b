import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'

import { build } from 'esbuild'
import type { BuildOptions } from 'esbuild'
import { createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'spanscore-bundles-'))
const withoutPeers = join(folder, 'without')
const withPeers = join(folder, 'with')
const elsewhere = join(folder, 'elsewhere')

/** One score is computed by code, and one comes from a judge that is named only by its id. */
const application = `
  import { createAnswerPresentScorer, createRubricScorer } from 'spanscore'
  const run = { input: 'How warm is it?', output: 'It is 4 °C.' }
  const judge = createRubricScorer({ model: 'openai/gpt-5-mini', criteria: [{ id: 'warm', question: 'Does it name a temperature?' }] })
  createAnswerPresentScorer().run(run)
    .then(({ score }) => console.log('code', score))
    .then(() => judge.run(run))
    .then(({ score }) => console.log('judge', score), (error) => console.log(error.message))
`

/** The built package, in an application that also has these packages. */
function install(at: string, packages: readonly string[]): void {
  const modules = join(at, 'node_modules')
  mkdirSync(join(modules, 'spanscore'), { recursive: true })
  cpSync('package.json', join(modules, 'spanscore/package.json'))
  cpSync('dist', join(modules, 'spanscore/dist'), { recursive: true, filter: (path) => !/\.(?:ts|map)$/.test(path) })
  for (const name of packages) {
    const link = join(modules, name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve('node_modules', name), link)
  }
}

/** The bundler's plain options: no banner, no external package. */
const formats = [
  { format: 'cjs', extension: 'cjs' },
  { format: 'esm', extension: 'mjs' },
  { format: 'esm', extension: 'min.mjs', minify: true },
] as const

/** Bundles an application into one file, without any warning, in a folder that has no packages. */
async function bundle(
  at: string,
  { extension, ...options }: BuildOptions & { readonly extension: string },
  code: string,
): Promise<string> {
  const outfile = join(elsewhere, `${basename(at)}.${extension}`)
  await bundled(at, code, { platform: 'node', target: 'node22', outfile, ...options })
  return outfile
}

async function bundled(at: string, code: string, options: BuildOptions): Promise<string> {
  writeFileSync(join(at, 'app.mjs'), code)
  const { warnings, outputFiles } = await build({
    absWorkingDir: at,
    entryPoints: ['app.mjs'],
    bundle: true,
    logLevel: 'silent',
    ...options,
  })
  expect(warnings).toEqual([])
  return outputFiles?.[0]?.text ?? ''
}

beforeAll(() => {
  install(withoutPeers, ['@opentelemetry/api'])
  install(withPeers, ['@opentelemetry/api', '@opentelemetry/sdk-trace', '@ai-sdk/openai'])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('an application in one file', () => {
  it.each(formats)('is made as $extension without the packages of judges, and says what they need', async (how) => {
    const file = await bundle(withoutPeers, how, application)
    const { stdout } = await run('node_modules/.bin/node', [file], { env: { OPENAI_API_KEY: 'none' } })
    expect(stdout).toMatch(/^code 1\n.*npm install @ai-sdk\/openai.*pass an instance/)
  })

  it('is told which imports to leave to the runtime', () => {
    const imports = globSync(join(withPeers, 'node_modules/spanscore/dist/**/*.js'))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bimport\(\s*(?!["'\s])([^)]*)\)/g)])
      .map(([, argument]) => argument)
    expect(imports.length).toBeGreaterThan(0)
    for (const argument of imports) {
      for (const comment of ['webpackIgnore: true', 'turbopackIgnore: true', '@vite-ignore']) {
        expect(argument).toContain(comment)
      }
    }
  })

  it('says what to install if a prompt with a schema of a library has no package to convert it', async () => {
    const file = join(withoutPeers, 'prompt.mjs')
    writeFileSync(
      file,
      `import { createScorer } from 'spanscore'
       const outputSchema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }
       const scorer = createScorer({ id: 'kind', description: 'Kind.', judge: { model: 'openai/gpt-5-mini' } })
         .analyze({ description: 'Lists remarks.', outputSchema, createPrompt: () => 'List them.' })
         .generateScore(() => 1)
       await scorer.run({ input: 'Hello', output: 'Hi' }).catch(({ message }) => console.log(message))`,
    )
    const { stdout } = await run('node_modules/.bin/node', [file], { env: {} })
    expect(stdout).toBe(
      'The judge openai/gpt-5-mini needs the package @ai-sdk/openai, which is not installed: npm install @ai-sdk/openai\n',
    )
  })

  it.each(formats)('asks a judge by its id, with all packages in the file, as $extension', async (how) => {
    await using server = await createScriptedOpenAIServer(({ userText }) => {
      const { questions } = readJudgePrompt(userText)
      return judgeReply({ verdicts: Object.fromEntries(questions.map(({ id, verdicts }) => [id, verdicts[0] ?? ''])) })
    })
    const file = await bundle(withPeers, how, application)
    const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: server.url }
    const { stdout } = await run('node_modules/.bin/node', [file], { env })
    expect(stdout).toMatch(/^code 1\njudge [\d.]+\n$/)
    expect(server.requests).toHaveLength(1)
  })

  it('scores a run of the OpenTelemetry SDK in an ES module, with the banner that the docs show for the SDK', async () => {
    const code = `
      import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
      import { attachScoring, createAnswerPresentScorer } from 'spanscore'
      const exporter = new InMemorySpanExporter()
      const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
      attachScoring({ scorers: [createAnswerPresentScorer()], tracerProvider: provider })
      const output = [{ role: 'assistant', parts: [{ type: 'text', content: 'It is 4 °C.' }] }]
      const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.output.messages': JSON.stringify(output) }
      provider.getTracer('app').startSpan('invoke_agent weather', { attributes }).end()
      console.log(exporter.getFinishedSpans()[0].attributes['spanscore.answer_present.score'])
    `
    const js = /--banner:js="([^"]*)"/.exec(readFileSync('docs/production.md', 'utf8'))?.[1] ?? ''
    const file = await bundle(withPeers, { format: 'esm', extension: 'sdk.mjs', banner: { js } }, code)
    const { stdout, stderr } = await run('node_modules/.bin/node', [file], { env: {} })
    expect([stdout, stderr]).toEqual(['1\n', ''])
  })

  it.each(['browser', 'edge-light'])('holds the no-op and nothing of Node.js for %s', async (runtime) => {
    const code = `
      import { diag } from '@opentelemetry/api'
      import { attachScoring } from 'spanscore'
      import { createRubricScorer } from 'spanscore/scorers/prebuilt'
      const said = []
      const say = (...words) => said.push(words.join(' '))
      diag.setLogger({ error: say, warn: say, info: say, debug: () => {}, verbose: () => {} })
      const scorers = [createRubricScorer({ model: 'openai/gpt-5-mini', criteria: [{ id: 'kind', question: 'Is it kind?' }] })]
      attachScoring({ scorers })
      globalThis.report = { said, seen: attachScoring({ scorers }).ledger().runs.seen }
    `
    const text = await bundled(withoutPeers, code, {
      platform: 'neutral',
      mainFields: ['module'],
      format: 'iife',
      conditions: [runtime],
      write: false,
    })
    expect(text).not.toContain('node:')
    const world: { report?: { said: string[]; seen: number } } = {}
    runInContext(text, createContext(world))
    expect(world.report).toEqual({ said: [expect.stringContaining('Nothing is scored in this runtime')], seen: 0 })
  })
})
