import { openai } from '@ai-sdk/openai'
import { createPromptAlignmentScorerLLM } from 'spanscore'
import { testRun } from '../fixtures.ts'

// As it stands in the document:
// スケールと評価モードを設定
const scorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o'),
  options: {
    scale: 10, // スコアを 0–1 ではなく 0–10 で評価
    evaluationMode: 'both', // 'user'、'system'、または 'both'（デフォルト）
  },
});

// ユーザー評価のみ - ユーザー満足度を重視
const userScorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o'),
  options: { evaluationMode: 'user' },
});

// システム評価のみ - ルール順守を重視
const systemScorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o'),
  options: { evaluationMode: 'system' },
});

const result = await scorer.run(testRun);
// 結果: { score: 8.5, reason: "10 点満点中 8.5 点 - ユーザーの意図とシステムのガイドラインの双方に良好に整合しています..." }

export { result, systemScorer, userScorer }
