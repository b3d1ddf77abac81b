import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createScriptedOpenAIServer, judgeReply, readJudgePrompt } from 'spanscore/testing'
import type { ScriptedOpenAIServer, ScriptedVerdicts } from 'spanscore/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const folder = '.cache/examples'

/** The path below `src/`, as one word. */
const nameOf = (file: string) =>
  file
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .replaceAll('/', '-')

/** Every `@example` of what the package exports for scoring and testing. */
const examples = globSync(['src/scorers/**/*.ts', 'src/testing/*.ts'])
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/@example\n((?: \*.*\n)*?) \* ```\n/g)].map((match, index) => ({
      name: `${nameOf(file)}-${index + 1}`,
      code: (match[1] ?? '')
        .split('\n')
        .map((line) => line.replace(/^ \* ?/, ''))
        .filter((line) => !line.startsWith('```'))
        .join('\n'),
    })),
  )

const packages: Record<string, RegExp> = {
  'spanscore/scorers/prebuilt': /\b(create\w*Scorer\w*|SummarizationMetric)\b/g,
  'spanscore/testing':
    /\b(createScriptedJudge|createFakeJudge|createScriptedOpenAIServer|judgeReply|create\w*Test\w*|createToolInvocation)\b/g,
}

/** The example as a module, with imports for all names that it does not import itself, and with a run named `run`. */
function toModule(code: string): string {
  const imports = Object.entries(packages).flatMap(([specifier, names]) => {
    const used = new Set(code.match(names))
    const free = [...used].filter((name) => !new RegExp(`import [^\\n]*\\b${name}\\b`).test(code))
    return free.length === 0 ? [] : [`import { ${free.join(', ')} } from '${specifier}'`]
  })
  const run = /\brun\(run\)/.test(code) ? ["const run = { input: 'Is it raining in Oslo?', output: 'No.' }"] : []
  return [...imports, ...run, code, 'export {}'].join('\n')
}

/** The replies of a judge that likes everything: the first verdict for each question, and one item in each list. */
function pleased(message: string): ScriptedVerdicts {
  const { questions, lists } = readJudgePrompt(message)
  return {
    verdicts: Object.fromEntries(questions.map(({ id, verdicts }) => [id, verdicts[0] ?? ''])),
    lists: Object.fromEntries(
      lists.map(({ name, verdicts }) => [name, [{ text: 'It is so.', verdict: verdicts[0] ?? '' }]]),
    ),
  }
}

let server: ScriptedOpenAIServer
beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { name, code } of examples) writeFileSync(`${folder}/${name}.ts`, toModule(code))
  server = await createScriptedOpenAIServer(({ userText }) => judgeReply(pleased(userText)))
  vi.stubEnv('SPANSCORE_OPENAI_BASE_URL', server.url)
  vi.stubEnv('SPANSCORE_OPENAI_API_KEY', 'scripted')
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
})
afterAll(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await server.close()
})

describe('the examples in the source', () => {
  it('are there, for every scorer', () => {
    const scorers = globSync('src/scorers/**/*.ts').filter((file) =>
      /export (?:function create\w*Scorer|class \w+Metric)/.test(readFileSync(file, 'utf8')),
    )
    const without = scorers.map(nameOf).filter((name) => !examples.some((example) => example.name === `${name}-1`))
    expect(without.filter((name) => !/-(?:item-scorer|judge-scorer)$/.test(name))).toEqual([])
  })

  // `testCases` registers tests of its own: test/recipes.test.ts runs it.
  it.each(examples.filter(({ name }) => !name.startsWith('testing-test-cases-')))('$name runs', async ({ name }) => {
    const outcome = await import(resolve(folder, `${name}.ts`)).then(
      () => 'ran',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    // Only one example shows a rejection, and it must reject.
    expect(outcome).toMatch(name.includes('fake-judge') ? /was cut off/ : /^ran$/)
  })
})
