// Scorers for the traces beside this file. They need no key.
import {
  createAnswerPresentScorer,
  createToolCallAccuracyScorerCode,
  createToolErrorsScorer,
  defineConfig,
} from 'spanscore'

export default defineConfig({
  scorers: [
    { scorer: createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }), agent: 'weather-agent' },
    { scorer: createToolErrorsScorer(), agent: 'support-agent' },
    createAnswerPresentScorer(),
  ],
})
