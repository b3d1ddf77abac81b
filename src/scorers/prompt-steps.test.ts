import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

import type { Scorer } from '../scoring/scorer.ts'
import { createScriptedOpenAIServer } from '../testing/scripted-openai-server.ts'
import type { ScriptedOpenAIServer } from '../testing/scripted-openai-server.ts'
import type { Script } from '../testing/scripted-reply.ts'
import { createScorer } from './create-scorer.ts'

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
      createPrompt: ({ run, quote }) => `List the rivers in this answer.\n${quote(run.output ?? '')}`,
    })
    .generateScore(({ results }) => {
      expectTypeOf(results.analyzeStepResult).toEqualTypeOf<{ rivers: string[] }>()
      return Math.min(1, results.analyzeStepResult.rivers.length / 4)
    })
    .generateReason({ description: 'Says why.', createPrompt: ({ score }) => `Why is the score ${score}?` })
}

describe('a scorer with prompt steps', () => {
  it('asks the judge for each prompt, takes the replies by their schema, and reports what they took', async () => {
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
    expect(first?.userText).toMatch(/(data-[0-9a-f]{32}) begin\nRhine, Elbe\n\1 end/)
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

  it('gives a score out of a prompt alone', async () => {
    server = await createScriptedOpenAIServer(['{"score":4.5}'])
    const scorer = createScorer({
      id: 'tone',
      description: '',
      range: [0, 5],
      judge: { model: { id: 'm', url: server.url } },
    }).generateScore({
      description: 'Rates the tone.',
      createPrompt: ({ run, quote }) => `Rate the tone.\n${quote(String(run.output))}`,
    })
    await expect(scorer.run(given)).resolves.toMatchObject({ score: 4.5 })
    expect(server.requests[0]?.userText).toContain('from 0 to 5')
  })

  it('takes JSON Schema as the shape of a reply', async () => {
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

  it('is refused without a judge, and where it is to run inline', () => {
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
