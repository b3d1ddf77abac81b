import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { createToolCallAccuracyScorerCode } from '../../src/scorers/code/tool-call-accuracy.ts'
import { createPipeline, expectBalanced, judgeScorer } from './harness.ts'
import { askWeatherAgent } from './weather-agent.ts'

const scorers = () => [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }), judgeScorer('fitting')]

test('attached to its provider, the same agent has both scores on its own span, and nothing else changes', async () => {
  const { receiver, flush } = await createPipeline({ processors: (batch) => [batch] })
  await askWeatherAgent('weather-tool')
  await flush()
  const shapeOf = (from: number) =>
    receiver.spans.slice(from).map(({ name, attributes, kind, status }) => ({
      name,
      kind,
      status,
      keys: Object.keys(attributes).filter((key) => !key.startsWith('spanscore.')),
    }))
  const without = shapeOf(0)

  const scoring = attachScoring({ scorers: scorers() })
  await askWeatherAgent('weather-tool')
  await flush()

  expect(shapeOf(without.length)).toEqual(without)
  expect(receiver.spans.at(-1)?.attributes).toMatchObject({
    'spanscore.tool_call_accuracy.score': 1,
    'spanscore.fitting.score': 0.75,
  })
  expect(receiver.logs).toHaveLength(2)
  expectBalanced(scoring.ledger())
})
