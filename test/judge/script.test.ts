import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import { expect, it } from 'vitest'

const script = `
import { createRubricScorer, SummarizationMetric } from 'spanscore/scorers/prebuilt'
const model = { id: 'local/m', url: process.argv[1] }
const hanging = { specificationVersion: 'v3', provider: 'x', modelId: 'm', supportedUrls: {}, doGenerate: () => new Promise(() => {}) }
const run = { input: 'a', output: 'b' }
const criteria = [{ id: 'a', question: 'Is it good?' }]
console.log((await createRubricScorer({ model, criteria }).run(run)).score)
console.log(await createRubricScorer({ model: hanging, criteria }).run(run, { timeoutMs: 200 }).catch((error) => error.evaluation.score.code))
console.log(await new SummarizationMetric(hanging, { timeoutMs: 200 }).measure('a', 'b').catch((error) => error.message))
`

it('keeps a script alive until its score exists, through waits between tries and through hangs', async () => {
  const server = await createScriptedOpenAIServer(({ index }) =>
    index === 0
      ? { status: 429, headers: { 'retry-after-ms': '300', connection: 'close' } }
      : judgeReply({ verdicts: { a: 'pass' } }),
  )
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, server.url])
  await server.close()
  expect(stdout.split('\n')).toEqual([
    '1',
    'judge-timeout',
    expect.stringContaining('gave no answer within 200 ms'),
    '',
  ])
})
