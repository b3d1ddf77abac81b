import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

import type { Scorer } from '../../scoring/scorer.ts'
import { createScriptedOpenAIServer } from '../../testing/scripted-openai-server.ts'
import type { ScriptedOpenAIServer } from '../../testing/scripted-openai-server.ts'
import { createScriptedJudge } from '../../testing/scripted-judge.ts'
import type { Script } from '../../testing/scripted-reply.ts'
import type { TextModel } from '../../testing/text-model.ts'
import { createScorer } from './create-scorer.ts'
import type { StepJudge } from './scorer-steps.ts'

let server: ScriptedOpenAIServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const given = { input: 'Name three rivers.', output: 'Rhine, Elbe' }

async function riversBy(script: Script): Promise<Scorer> {
  server = await createScriptedOpenAIServer(script)
  return createScorer({
    id: 'rivers',
    description: 'Share of three rivers that are named.',
    version: 1,
    judge: { model: { id: 'test/judge', url: server.url, apiKey: 'none' }, instructions: 'You know every river.' },
  })
    .analyze({
      description: 'Lists the rivers.',
      outputSchema: z.object({ rivers: z.array(z.string()) }),
      createPrompt: ({ agentRun, quote }) => `List the rivers in this answer.\n${quote(agentRun.output ?? '')}`,
    })
    .generateScore(({ results }) => {
      expectTypeOf(results.analyzeStepResult).toEqualTypeOf<{ rivers: string[] }>()
      return Math.min(1, results.analyzeStepResult.rivers.length / 4)
    })
    .generateReason({ description: 'Says why.', createPrompt: ({ score }) => `Why is the score ${score}?` })
}

const verdictBy = (model: TextModel, settings: Partial<StepJudge> = {}) =>
  createScorer({ id: 'verdict', description: 'Good or bad.', version: 1, judge: { model, ...settings } })
    .analyze({
      description: 'Good or bad.',
      outputSchema: z.strictObject({ verdict: z.enum(['good', 'bad']) }),
      createPrompt: ({ agentRun, quote }) => `Is it good?\n${quote(agentRun.output ?? '')}`,
    })
    .generateScore(({ results }) => (results.analyzeStepResult.verdict === 'good' ? 1 : 0))

describe('a scorer with prompt steps', () => {
  it('asks the judge for each prompt, reads the replies by their schema, and reports the usage', async () => {
    const scorer = await riversBy(['{"rivers":["Rhine","Elbe"]}', '```json\n{"reason":"Two of four."}\n```'])
    expect(scorer.kind).toBe('judge')
    expect(scorer.passAt).toBe(0.7)
    const result = await scorer.run(given)
    expect(result).toMatchObject({
      score: 0.5,
      reason: 'Two of four.',
      analyzeStepResult: { rivers: ['Rhine', 'Elbe'] },
      evaluation: { judge: { calls: 2 }, score: { label: 'fail' } },
    })
    const [first] = server?.requests ?? []
    expect(first?.system).toContain('You know every river.')
    expect(first?.system).not.toContain('Elbe')
    expect(first?.userText).toMatch(/^([0-9a-f]{12}) begin: data\nRhine, Elbe\n\1 end$/m)
    expect(first?.userText).toContain('"rivers"')
  })

  it('repairs a reply of the wrong shape once, without the prompt', async () => {
    const scorer = await riversBy(['{"rivers":"Rhine"}', '{"rivers":["Rhine"]}', '{"reason":"One."}'])
    await expect(scorer.run(given)).resolves.toMatchObject({ score: 0.25, evaluation: { judge: { calls: 3 } } })
    expect(server?.requests[1]?.userText).toContain('rivers: ')
    expect(server?.requests[1]?.userText).not.toContain('Elbe')
  })

  it.each([
    ['nonsense, twice', ['no idea', 'none at all'], /could not be read/],
    ['a refused key', [{ status: 401, error: { message: 'bad key' } }], /401/],
  ])('fails on %s', async (_, script: Script, message) => {
    await expect((await riversBy(script)).run(given)).rejects.toThrow(message)
  })

  it('scores with a single prompt', async () => {
    server = await createScriptedOpenAIServer(['{"score":4.5}'])
    const scorer = createScorer({
      id: 'tone',
      description: '',
      range: [0, 5],
      judge: { model: { id: 'm', url: server.url } },
    }).generateScore({
      description: 'Rates the tone.',
      createPrompt: ({ agentRun, quote }) => `Rate the tone.\n${quote(String(agentRun.output))}`,
    })
    await expect(scorer.run(given)).resolves.toMatchObject({ score: 4.5 })
    expect(server.requests[0]?.userText).toContain('from 0 to 5')
  })

  it('accepts JSON Schema as the shape of a reply', async () => {
    server = await createScriptedOpenAIServer(['{"polite":true}'])
    const scorer = createScorer({ id: 'polite', description: '', judge: { model: { id: 'm', url: server.url } } })
      .analyze({
        description: 'Is it polite?',
        outputSchema: { type: 'object', properties: { polite: { type: 'boolean' } }, required: ['polite'] },
        createPrompt: () => 'Is it polite?',
      })
      .generateScore(({ results }) => (JSON.stringify(results.analyzeStepResult) === '{"polite":true}' ? 1 : 0))
    await expect(scorer.run(given)).resolves.toMatchObject({ score: 1 })
  })

  it('shows an example of a reply, and sends the schema of the step', async () => {
    const model = createScriptedJudge({ json: { verdict: 'good' } })
    await verdictBy(model).run(given)
    const [call] = model.calls
    expect(call?.prompt).toContain('For example, to show the shape alone: {"verdict":"bad"}')
    expect(call?.schema).toMatchObject({ properties: { verdict: { enum: ['good', 'bad'] } }, required: ['verdict'] })
  })

  it('asks once more if the reply is empty', async () => {
    const model = createScriptedJudge(({ index }) => (index === 0 ? '' : { json: { verdict: 'good' } }))
    expect(await verdictBy(model).run(given)).toMatchObject({ score: 1, evaluation: { judge: { calls: 2 } } })
    await expect(verdictBy(createScriptedJudge('')).run(given)).rejects.toMatchObject({
      evaluation: { score: { code: 'judge-invalid-reply' }, judge: { calls: 2 } },
    })
  })

  it('cuts quoted text to the limit of the prompt', async () => {
    const model = createScriptedJudge({ json: { verdict: 'good' } })
    await verdictBy(model, { maxPromptTokens: 2048 }).run({ input: 'Hi', output: 'x'.repeat(100_000) })
    expect(Buffer.byteLength(model.calls[0]?.prompt ?? '')).toBeLessThan(10_000)
    expect(model.calls[0]?.prompt).toMatch(/x\[[0-9a-f]{12}: \d+ bytes cut\]x/)
  })

  it('has a version that changes with the settings of its judge', () => {
    const model = createScriptedJudge({})
    expect(verdictBy(model, { instructions: 'Be strict.' }).version).not.toBe(verdictBy(model).version)
  })

  it('is refused without a judge, and with inline', () => {
    const prompt = { description: 'Rates.', createPrompt: () => '' }
    expect(() => createScorer({ id: 'x', description: '' }).generateScore(prompt)).toThrow(
      /expected judge: \{ model \}/,
    )
    expect(() =>
      createScorer({ id: 'x', description: '', inline: true, judge: { model: 'openai/gpt-5-mini' } }).generateScore(
        prompt,
      ),
    ).toThrow(/expected inline to be false/)
  })
})
