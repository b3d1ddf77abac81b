import { globSync, readFileSync } from 'node:fs'
import { inspect } from 'node:util'

import { createPromptAlignmentScorerLLM, createToolCallAccuracyScorerCode } from 'spanscore'
import { createScriptedJudge } from 'spanscore/testing'
import { describe, expect, it } from 'vitest'

import { pagesWithExamples, withExamples } from '../scripts/docs-examples.ts'

const pages = pagesWithExamples().map((page) => ({ page, text: readFileSync(page, 'utf8') }))

describe('the code of examples in the documentation', () => {
  it.each(pages.filter(({ text }) => text.includes('<!-- examples/')))('of $page is as it is run', ({ text }) => {
    expect(text).toBe(withExamples(text))
  })

  it('prints the version that the quickstart shows', () => {
    const { version } = createToolCallAccuracyScorerCode({ expectedTool: 'get_weather' })
    expect(readFileSync('docs/quickstart.md', 'utf8')).toContain(`tool_call_accuracy.version': '${version}'`)
  })

  it('prints the explanation that README shows', async () => {
    const model = createScriptedJudge({
      verdicts: { 'user.intent': '0.25', 'user.completeness': '0.25', 'user.appropriateness': '1' },
      lists: { userRequirements: [{ text: 'the weather in Lima', verdict: 'no' }] },
    })
    const { score, reason } = await createPromptAlignmentScorerLLM({ model }).run({
      input: 'What is the weather in Lima?',
      output: 'It is 4 degrees in Oslo.',
    })
    const readme = readFileSync('README.md', 'utf8')
    expect(readme).toContain(`'spanscore.prompt_alignment.score': ${score},`)
    expect(readme).toContain(`'spanscore.prompt_alignment.explanation': ${inspect(reason)},`)
  })

  it('is on the page of every framework', () => {
    const frameworks = globSync('docs/frameworks/*.md')
    expect(frameworks.length).toBeGreaterThan(7)
    for (const page of frameworks) expect(readFileSync(page, 'utf8')).toContain('<!-- examples/')
  })

  it('starts telemetry in the same way everywhere', () => {
    expect(new Set(globSync('examples/*/telemetry.mjs').map((file) => readFileSync(file, 'utf8'))).size).toBe(1)
  })

  it('shows every example but the demo', () => {
    const shown = pages.flatMap(({ text }) => [...text.matchAll(/<!-- examples\/([\w-]+)\//g)].map(([, name]) => name))
    const folders = globSync('examples/*/').map((folder) => folder.split('/')[1])
    expect([...new Set(shown), 'demo'].toSorted()).toEqual(folders.toSorted())
  })
})
