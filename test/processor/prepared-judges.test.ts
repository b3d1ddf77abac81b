import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** The packages of judges that a process of its own has loaded soon after it created a processor with these scorers. */
function loadedFor(scorers: string, env: Record<string, string> = {}): string[] {
  const script = `
    const { registerHooks } = await import('node:module')
    const loaded = new Set()
    registerHooks({ load: (url, context, next) => (loaded.add(/node_modules\\/((?:@ai-sdk\\/)?[\\w-]+)/.exec(url)?.[1]), next(url, context)) })
    const { ScoringSpanProcessor } = await import('./src/processor/scoring-span-processor.ts')
    const { createAnswerPresentScorer } = await import('./src/scorers/code/answer-present.ts')
    const { createRubricScorer } = await import('./src/scorers/judge/rubric.ts')
    const rubric = (model) => createRubricScorer({ model, criteria: [{ id: 'a', question: 'Is it polite?' }] })
    new ScoringSpanProcessor({ scorers: [${scorers}] })
    for (let wait = 0; wait < 50 && !loaded.has('@ai-sdk/openai'); wait++) await new Promise((resolve) => setTimeout(resolve, 10))
    console.log(JSON.stringify(['zod', '@ai-sdk/openai'].filter((name) => loaded.has(name))))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('a processor with a judge loads its packages when it is created, so that no request waits for them', () => {
  expect(loadedFor("rubric('openai/gpt-5-mini')", { OPENAI_API_KEY: 'x' })).toEqual(['zod', '@ai-sdk/openai'])
})

test('a processor loads no package for code scorers, nor for a judge that cannot be asked', () => {
  expect(loadedFor('createAnswerPresentScorer()')).toEqual([])
  expect(loadedFor("rubric('openai/gpt-5-mini')")).toEqual([])
})
