/** The scorers of the service under test; its judge is a scripted server. */
import { createOpenAI } from '@ai-sdk/openai'
import {
  createAnswerPresentScorer,
  createFaithfulnessScorer,
  createHallucinatedToolScorer,
  createToolArgumentsScorer,
  createToolErrorsScorer,
} from 'spanscore/scorers/prebuilt'

const model = createOpenAI({ baseURL: process.env.TEST_JUDGE_URL, apiKey: 'scripted' })('gpt-5-mini')

export default {
  scorers: [
    createAnswerPresentScorer(),
    createToolErrorsScorer(),
    createToolArgumentsScorer(),
    createHallucinatedToolScorer(),
    createFaithfulnessScorer({ model }),
  ],
  scope: 'every-agent',
  budget: { callsPerMinute: 100_000, tokensPerHour: 1e12, usdPerDay: Infinity },
}
