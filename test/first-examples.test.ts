import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Scorer } from 'spanscore'
import { createAgentTestRun, createTestMessage } from 'spanscore/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

const folder = '.cache/first-examples'

/** Custom scorers, as the first examples of the pages create them: the export, answers, and the score of each answer. */
const examples = [
  {
    page: 'README.md',
    name: 'citesSource',
    answers: [
      ['See https://a.b.', 1],
      ['No link at all.', 0],
    ],
  },
  {
    page: 'docs/custom-scorers.md',
    name: 'citesSources',
    answers: [
      ['Rayleigh scattering [1]. Blue is short.', 0.5],
      ['It is. As said.', 0],
    ],
  },
] as const

/** The forms in which an answer may be passed to `.run()`. */
const forms: Readonly<Record<string, (answer: string) => { readonly input: unknown; readonly output: unknown }>> = {
  'a text': (answer) => ({ input: 'Why?', output: answer }),
  'an object with a text': (answer) => ({ input: { text: 'Why?' }, output: { text: answer } }),
  'a message': (answer) => ({ input: 'Why?', output: { role: 'assistant', content: answer } }),
  messages: (answer) => ({
    input: [{ role: 'user', content: 'Why?' }],
    output: [{ role: 'assistant', content: [{ type: 'text', text: answer }] }],
  }),
  'messages of the GenAI conventions': (answer) => ({
    input: [{ role: 'user', parts: [{ type: 'text', content: 'Why?' }] }],
    output: [{ role: 'assistant', parts: [{ type: 'text', content: answer }] }],
  }),
  'a test run': (answer) => {
    const { input, output } = createAgentTestRun({
      inputMessages: [createTestMessage({ content: 'Why?', role: 'user' })],
      output: [createTestMessage({ content: answer, role: 'assistant' })],
    })
    return { input, output }
  },
}

const scorers = new Map<string, Scorer>()

beforeAll(async () => {
  mkdirSync(folder, { recursive: true })
  for (const { page, name } of examples) {
    const blocks = readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)
    const block = [...blocks].map(([, code = '']) => code).find((code) => code.includes(`const ${name} =`))
    const file = resolve(folder, `${name}.ts`)
    // The code after the scorer, which prints its score.
    writeFileSync(file, (block ?? '').split(/^const \{/m)[0] ?? '')
    const module: Record<string, Scorer> = await import(pathToFileURL(file).href)
    const scorer = module[name]
    if (scorer !== undefined) scorers.set(name, scorer)
  }
})

afterAll(() => rmSync(folder, { recursive: true }))

it.each(
  examples.flatMap(({ page, name, answers }) =>
    answers.flatMap(([answer, score]) => Object.keys(forms).map((form) => ({ page, name, form, answer, score }))),
  ),
)("the first scorer of one's own in $page gives $score for $form ($answer)", async ({ name, form, answer, score }) => {
  const given = forms[form]?.(answer) ?? { input: '', output: '' }
  await expect(scorers.get(name)?.run(given)).resolves.toMatchObject({ score })
})

/** One call of the tool `weather`, in the forms in which the docs allow an output with tool calls. */
const calls: Readonly<Record<string, unknown>> = {
  'the AI SDK': [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'weather', input: { city: 'Oslo' } }],
    },
    { role: 'assistant', content: 'Cold.' },
  ],
  "an AI SDK agent's result": {
    text: 'Cold.',
    steps: [{ toolCalls: [{ type: 'tool-call', toolCallId: '1', toolName: 'weather', input: { city: 'Oslo' } }] }],
  },
  Mastra: [
    {
      role: 'assistant',
      content: {
        format: 2,
        parts: [{ type: 'text', text: 'Cold.' }],
        toolInvocations: [{ state: 'result', toolCallId: '1', toolName: 'weather', args: { city: 'Oslo' }, result: 4 }],
      },
    },
  ],
  OpenAI: [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    },
    { role: 'assistant', content: 'Cold.' },
  ],
  Anthropic: [
    { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'weather', input: { city: 'Oslo' } }] },
    { role: 'assistant', content: 'Cold.' },
  ],
  'the GenAI conventions': [
    { role: 'assistant', parts: [{ type: 'tool_call', id: '1', name: 'weather', arguments: { city: 'Oslo' } }] },
    { role: 'assistant', parts: [{ type: 'text', content: 'Cold.' }] },
  ],
}

it.each(Object.keys(calls))('the first scorer of docs/scorers.md finds the call in messages of %s', async (form) => {
  const [, code = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync('docs/scorers.md', 'utf8')) ?? []
  const file = resolve(folder, 'scorers.ts')
  writeFileSync(file, `${code}\nexport { scorer }\n`)
  const { scorer }: { readonly scorer: Scorer } = await import(pathToFileURL(file).href)
  await expect(scorer.run({ input: 'Is it cold?', output: calls[form] })).resolves.toMatchObject({ score: 1 })
  await expect(scorer.run({ input: 'Is it cold?', output: 'Cold.' })).resolves.toMatchObject({ score: 0 })
})
