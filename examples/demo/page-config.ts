/** The scorers of the service that shows the demo's runs on a page. It uses the demo's judge, scripted or real. */
import { createOpenAI } from '@ai-sdk/openai'
import type { ScoringOptions } from 'spanscore'
import {
  createAbandonedScorer,
  createAnswerPresentScorer,
  createPromptAlignmentScorerLLM,
  createRepeatedQuestionScorer,
  createSummarizationScorer,
  createToolCallAccuracyScorerCode,
  createToolCallAccuracyScorerLLM,
  createToolErrorsScorer,
  createUserFrictionScorer,
} from 'spanscore/scorers/prebuilt'

const scripted = process.env['DEMO_JUDGE_URL']
const openai = scripted === undefined ? createOpenAI() : createOpenAI({ baseURL: scripted, apiKey: 'scripted' })
const model = openai('gpt-5-mini')

const options: ScoringOptions = {
  scorers: [
    createAnswerPresentScorer(),
    createToolErrorsScorer(),
    { scorer: createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }), agent: 'weather-agent' },
    { scorer: createToolCallAccuracyScorerLLM({ model }), agent: ['weather-agent', 'support-agent'] },
    { scorer: createPromptAlignmentScorerLLM({ model }), agent: ['weather-agent', 'support-agent', 'trip-agent'] },
    { scorer: createSummarizationScorer({ model }), agent: 'summary-agent' },
    // These score whole conversations.
    createAbandonedScorer(),
    createRepeatedQuestionScorer(),
    createUserFrictionScorer({ model }),
  ],
  scope: 'every-agent',
  budget: { callsPerMinute: 600 },
}

// oxlint-disable-next-line import/no-default-export -- a configuration is the default export of its module
export default options
