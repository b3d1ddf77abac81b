import { NodeSDK } from '@opentelemetry/sdk-node'
import { attachScoring, createToolCallAccuracyScorerCode } from 'spanscore'

export const sdk = new NodeSDK({ serviceName: 'my-agents' })
sdk.start()
export const scoring = attachScoring({
  scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'get_weather' })],
  onScore: ({ scorer, score }, run) => {
    console.log(`${run.agent.name}: ${scorer.id} is ${score.status === 'scored' ? score.value : score.message}`)
  },
})
