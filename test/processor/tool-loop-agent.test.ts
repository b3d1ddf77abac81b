import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createToolCallAccuracyScorerCode } from '../../src/scorers/code/tool-call-accuracy.ts'
import { createPipeline, expectBalanced, judgeScorer } from './harness.ts'
import { askWeatherAgent } from './weather-agent.ts'

const scorers = () => [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }), judgeScorer('fitting')]

test('a real agent with a wrong tool arrives with score 0 on its own span, beside a batch processor', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: scorers() })
  const { receiver, flush } = await createPipeline({ processors: (batch) => [scoring, batch] })

  await askWeatherAgent('search-tool')
  await flush()

  const agent = receiver.spans.find(({ name }) => name.startsWith('invoke_agent'))
  expect(agent?.attributes).toMatchObject({
    'gen_ai.agent.name': 'weather-agent',
    'spanscore.tool_call_accuracy.score': 0,
    'spanscore.tool_call_accuracy.label': 'fail',
    'spanscore.complete': true,
  })
  expect(receiver.spans.find(({ name }) => name === 'evaluate fitting')?.parentSpanId).toBe(agent?.spanId)
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1 },
    scorers: { tool_call_accuracy: { scored: 1 }, fitting: { scored: 1 } },
  })
  expectBalanced(scoring.ledger())
})
