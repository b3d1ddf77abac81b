import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

import { createOtlpReceiver, createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { OtlpReceiver, ScriptedOpenAIServer, ScriptedReply, ScriptedRequest } from 'spanscore/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** The blocks of these pages are run as they are, with a scripted server in place of the models, and a receiver in place of the backend. */
const pages = (
  'README docs/attach docs/cases docs/ci docs/coming-from docs/coming-from-mastra docs/custom-scorers docs/feedback docs/judges docs/onscore docs/privacy ' +
  'docs/production docs/quickstart docs/retrieval docs/sampling docs/scorers docs/testing'
).split(' ')
const folder = '.cache/recipes'
const run = promisify(execFile)

const recipes = pages.flatMap((page) => {
  const text = readFileSync(`${page}.md`, 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => {
    const code = match[1]!
    const title = [...text.slice(0, match.index).matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? page
    const name = `${page.replace('/', '-')}-${text.slice(0, match.index).split('\n').length}`
    return { title, code, isTest: code.includes("from 'vitest'"), name }
  })
})

/** A case as `spanscore cases` writes it, filled in. */
const CASE = JSON.stringify({
  id: '0123456789abcdef',
  input: 'How cold is it in Oslo?',
  history: [{ role: 'user', content: 'Hello' }],
  expected: { answer: '4 °C', trajectory: null },
  wrong: [],
  called: [],
  runId: `${'1'.repeat(32)}:${'2'.repeat(16)}`,
})

let server: ScriptedOpenAIServer
let backend: OtlpReceiver

beforeAll(async () => {
  server = await createScriptedOpenAIServer(answer)
  backend = await createOtlpReceiver()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(`${folder}/evals`, { recursive: true })
  for (const { name, isTest, code } of recipes) writeFileSync(`${folder}/${name}${isTest ? '.test' : ''}.ts`, code)
  writeFileSync(`${folder}/evals/cases.jsonl`, CASE)
  writeFileSync(`${folder}/vitest.config.ts`, "export default { test: { include: ['*.test.ts'] } }\n")
})
afterAll(() => Promise.all([server.close(), backend.close()]))

/** An agent that chooses the right tool and then answers, and a judge that likes everything. */
function answer(request: ScriptedRequest): string | ScriptedReply {
  if (request.toolNames.length > 0 && request.toolResults.length === 0) {
    const name = request.toolNames.includes('forecast') && request.userText.includes('week') ? 'forecast' : 'weather'
    return { toolCalls: [{ name, arguments: { city: /Oslo|Bergen/.exec(request.userText)?.[0] ?? 'Oslo' } }] }
  }
  if (request.userText.includes('"remarks"')) return '{"remarks":[{"text":"So sorry!","kind":true}]}'
  const { questions, lists } = readJudgePrompt(request.userText)
  if (questions.length === 0 && lists.length === 0) return 'It is 4 °C.'
  return judgeReply({
    verdicts: Object.fromEntries(questions.map(({ id, verdicts }) => [id, verdicts[0] ?? ''])),
    lists: Object.fromEntries(
      lists.map(({ name, verdicts }) => [name, [{ text: 'One.', verdict: verdicts[0] ?? '' }]]),
    ),
  })
}

/** Recipes that are tests are run together, because starting vitest takes longer than they do. */
const programs = [
  ...recipes
    .filter(({ isTest }) => !isTest)
    .map(({ title, name, code }) => ({ title: `${title} (${name})`, command: 'node', args: [`${name}.ts`], code })),
  {
    title: 'those that are tests',
    command: 'vitest',
    args: ['run'],
    code: recipes
      .filter(({ isTest }) => isTest)
      .map(({ code }) => code)
      .join(''),
  },
]

describe('the recipes', () => {
  it.each(programs)('runs: $title', async ({ command, args, code }) => {
    const env = {
      ...process.env,
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: server.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: backend.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      FORCE_COLOR: '0',
    }
    const received = () => backend.spans.length + backend.logs.length + backend.metrics.length
    const before = received()
    const { stdout, stderr } = await run(resolve('node_modules/.bin', command), args, { cwd: folder, env })
    // A recipe must print what its comments announce.
    for (const [, promised = ''] of code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)) expect(stdout).toContain(promised)
    // A program that writes its traces into a file waits for no backend, which may not be there.
    const exported = code.startsWith('// evals/run.ts') ? received() - before : 0
    expect(exported).toBe(0)
    expect(`${stdout}${stderr}`).not.toMatch(/NaN|undefined|Error/)
  })

  it('write the runs of an agent that fails at once', async () => {
    const { name } = recipes.find(({ code }) => code.startsWith('// evals/run.ts'))!
    const env = { ...process.env, OPENAI_API_KEY: undefined }
    await run(resolve('node_modules/.bin/node'), [`${name}.ts`], { cwd: folder, env })
    expect(readFileSync(`${folder}/traces.jsonl`, 'utf8').match(/"name":"invoke_agent /g)).toHaveLength(2)
  })
})
