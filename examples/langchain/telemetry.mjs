import { NodeSDK } from '@opentelemetry/sdk-node'
import { attachScoring, createToolCallAccuracyScorerCode } from 'spanscore'

export const sdk = new NodeSDK({ serviceName: 'my-agents' })
sdk.start()
export const scoring = attachScoring({
  scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'get_weather' })],
  onScore: ({ scorer, score }, run) => {
    console.log(
      `${run.agent.name ?? 'an agent'}:`,
      score.status === 'scored' ? `${scorer.id} is ${score.value}` : score.message,
    )
  },
})
