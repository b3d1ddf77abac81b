/** Scorers of conversations and of calls; their judge is a scripted server. */
import { createOpenAI } from '@ai-sdk/openai'
import { createScorer } from 'spanscore'
import {
  createAbandonedScorer,
  createAnswerPresentScorer,
  createResolutionScorer,
  createKnowledgeRetentionScorer,
  createRepeatedQuestionScorer,
  createToolErrorsScorer,
  createUserFrictionScorer,
} from 'spanscore/scorers/prebuilt'

const model = createOpenAI({ baseURL: process.env.TEST_JUDGE_URL, apiKey: 'scripted' })('gpt-5-mini')

const isDone = createScorer({ id: 'call_succeeds', description: 'The tool returned.', level: 'tool-call', version: 1 })
  .generateScore(({ call }) =>
    call.status === 'waiting'
      ? { status: 'skipped', reason: 'not-finished', message: 'It waits.' }
      : Number(call.status === 'ok'),
  )
  .generateReason(({ call }) => `${call.name} ${call.status === 'ok' ? 'returned' : 'did not return'}`)

const foundMuch = createScorer({ id: 'found_two', description: 'Two documents.', level: 'retrieval', version: 1 })
  .generateScore(({ call }) => Number((call.documents ?? []).length >= 2))
  .generateReason(({ call }) => `${(call.documents ?? []).length} documents`)

export default {
  scorers: [
    createAnswerPresentScorer(),
    createToolErrorsScorer(),
    isDone,
    foundMuch,
    createAbandonedScorer(),
    createRepeatedQuestionScorer(),
    createResolutionScorer({ model }),
    createUserFrictionScorer({ model }),
    createKnowledgeRetentionScorer({ model }),
  ],
  budget: { callsPerMinute: 100_000, tokensPerHour: 1e12, usdPerDay: Infinity },
}
