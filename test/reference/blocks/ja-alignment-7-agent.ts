import { openai } from '@ai-sdk/openai'
import { createPromptAlignmentScorerLLM } from 'spanscore'
import { Agent, agentRun } from '../fixtures.ts'

// As it stands in the document:
const agent = new Agent({
  name: 'CodingAssistant',
  instructions: 'あなたは頼りになるコーディングアシスタントです。必ず動作するコード例を提示してください。',
  model: openai('gpt-4o'),
});

// 包括的な整合性を評価（デフォルト）
const scorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o-mini'),
  options: { evaluationMode: 'both' }, // ユーザーの意図とシステム指針の両方を評価
});

// ユーザー満足のみを評価
const userScorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o-mini'),
  options: { evaluationMode: 'user' }, // ユーザーの要望の達成にのみ注力
});

// システムへの準拠を評価
const systemScorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o-mini'),
  options: { evaluationMode: 'system' }, // システム指示への準拠を確認
});

const result = await scorer.run(agentRun);

export { agent, result, systemScorer, userScorer }
