// The scorers of every cell: one by code, one by judge, and two of the application's own: an asynchronous one, and one of calls.
module.exports = function scorers(get) {
  const { createScorer, createToolCallAccuracyScorerCode } = get('spanscore/scorers/prebuilt')
  const { createOpenAI } = get('@ai-sdk/openai')
  const { trace } = get('@opentelemetry/api')
  const { z } = get('zod')
  const openai = createOpenAI({ baseURL: process.env.COMPAT_MODEL_URL, apiKey: 'scripted' })
  const polite = createScorer({
    id: 'polite',
    description: 'Whether the answer is polite.',
    judge: { model: openai('gpt-5-mini'), instructions: 'You judge whether an answer is polite.' },
    needs: ['output'],
  })
    .analyze({
      description: 'Asks about the answer.',
      outputSchema: z.object({ polite: z.boolean() }),
      createPrompt: ({ run }) => `JUDGE this answer: ${JSON.stringify(run.output)}`,
    })
    .generateScore(({ results }) => (results.analyzeStepResult.polite ? 1 : 0))
  const slow = createScorer({ id: 'slow', description: 'A scorer that waits.', version: '1' }).generateScore(
    async ({ run }) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      // What a scorer does is nobody's trace: this span must not arrive.
      trace.getTracer('scorer').startSpan('work of a scorer').end()
      return run.toolCalls.length === 1 ? 1 : 0
    },
  )
  const each = createScorer({
    id: 'each',
    description: 'A scorer of calls.',
    version: '1',
    level: 'tool-call',
  }).generateScore(({ call }) => Number(call.name === 'weather'))
  return [createToolCallAccuracyScorerCode({ expectedTool: 'weather' }), polite, slow, each]
}
