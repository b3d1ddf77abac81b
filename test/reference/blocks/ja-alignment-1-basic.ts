// As it stands in the document:
import { openai } from '@ai-sdk/openai';
import { createPromptAlignmentScorerLLM } from 'spanscore';

const scorer = createPromptAlignmentScorerLLM({
  model: openai('gpt-4o'),
});

// コード生成タスクを評価
const result = await scorer.run({
  input: [
    {
      role: 'user',
      content: 'エラー処理付きで階乗を計算する Python 関数を書いてください',
    },
  ],
  output: {
    role: 'assistant',
    text: `def factorial(n):
    if n < 0:
        raise ValueError("負の数の階乗は定義されていません")
    if n == 0:
        return 1
    return n * factorial(n-1)`,
  },
});
// 結果: { score: 0.95, reason: "整合性が非常に高い - 関数は意図に沿っており、エラー処理も含まれています..." }

export { result }
