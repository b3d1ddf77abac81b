import { createPromptAlignmentScorerLLM } from 'spanscore'
import { response, userMessage } from '../fixtures.ts'

const scorer = createPromptAlignmentScorerLLM({ model: 'openai/gpt-5.1' })

// As it stands in the document:
// ユーザーのプロンプトが不足しています
try {
  await scorer.run({ input: [], output: response });
} catch (error) {
  // エラー: 「プロンプト整合性のスコアリングには、ユーザーのプロンプトとエージェントの応答の両方が必要です」
}

// 空の応答
const result = await scorer.run({
  input: [userMessage],
  output: { role: 'assistant', text: '' },
});
// 不完全である旨の詳細な理由付きで低スコアを返します

export { result }
